/* What calls were before their names got a number. Clients ask for them by the version of CUDA that
   brought them, or look for the name as it is in the library. CUDA 2's names whose addresses have 32
   bits are not here. */
#include "run/run.h"

#define OLD(name, parameters, arguments)                                                           \
    CUAPI name##_v2 parameters;                                                                    \
    CUAPI name parameters { return name##_v2 arguments; }

OLD(cuCtxCreate, (CUcontext * out, unsigned flags, CUdevice device), (out, flags, device))
OLD(cuCtxDestroy, (CUcontext context), (context))
OLD(cuCtxPopCurrent, (CUcontext * out), (out))
OLD(cuCtxPushCurrent, (CUcontext context), (context))
OLD(cuDeviceGetUuid, (char uuid[16], CUdevice device), (uuid, device))
OLD(cuDevicePrimaryCtxRelease, (CUdevice device), (device))
OLD(cuDevicePrimaryCtxReset, (CUdevice device), (device))
OLD(cuDevicePrimaryCtxSetFlags, (CUdevice device, unsigned flags), (device, flags))
OLD(cuEventDestroy, (CUevent event), (event))
OLD(cuIpcOpenMemHandle, (CUdeviceptr * out, IpcHandle handle, unsigned flags), (out, handle, flags))
OLD(cuLinkAddData,
    (void *handle, int type, const void *data, size_t bytes, const char *name, unsigned count,
     const int *options, void **values),
    (handle, type, data, bytes, name, count, options, values))
OLD(cuLinkAddFile,
    (void *handle, int type, const char *path, unsigned count, const int *options, void **values),
    (handle, type, path, count, options, values))
OLD(cuLinkCreate, (unsigned count, const int *options, void **values, void **out),
    (count, options, values, out))
OLD(cuMemHostRegister, (void *pointer, size_t bytes, unsigned flags), (pointer, bytes, flags))
OLD(cuStreamDestroy, (CUstream stream), (stream))

/* Before CUDA 12.2 a place was the number of a device, or -1 for the host's memory. */
static MemoryLocation place(CUdevice device)
{
    enum { DEVICE = 1, HOST };
    return device == -1 ? (MemoryLocation){HOST, 0} : (MemoryLocation){DEVICE, device};
}

CUAPI cuMemAdvise_v2(CUdeviceptr, size_t, int, MemoryLocation);
CUAPI cuMemPrefetchAsync_v2(CUdeviceptr, size_t, MemoryLocation, unsigned, CUstream);
CUAPI cuMemcpyBatchAsync_v2(const CUdeviceptr *, const CUdeviceptr *, const size_t *, size_t,
                            const void *, const size_t *, size_t, CUstream);

CUAPI cuMemAdvise(CUdeviceptr address, size_t bytes, int advice, CUdevice device)
{ return cuMemAdvise_v2(address, bytes, advice, place(device)); }

CUAPI cuMemPrefetchAsync(CUdeviceptr address, size_t bytes, CUdevice device, CUstream stream)
{ return cuMemPrefetchAsync_v2(address, bytes, place(device), 0, stream); }

/* Until CUDA 13 it said which copy failed: SIZE_MAX where that is not known. */
CUAPI cuMemcpyBatchAsync(const CUdeviceptr *to, const CUdeviceptr *from, const size_t *bytes,
                         size_t count, const void *attributes, const size_t *indices,
                         size_t attribute_count, size_t *failed, CUstream stream)
{
    if (failed) *failed = SIZE_MAX;
    return cuMemcpyBatchAsync_v2(to, from, bytes, count, attributes, indices, attribute_count,
                                 stream);
}
