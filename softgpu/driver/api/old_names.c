/* What calls were before their names got a number. Clients ask for them by the version of CUDA that
   brought them, or look for the name as it is in the library. CUDA 2's names whose addresses have 32
   bits are not here. */
#include "run/run.h"

CUAPI cuCtxCreate_v2(CUcontext *, unsigned, CUdevice);
CUAPI cuCtxDestroy_v2(CUcontext);
CUAPI cuCtxPopCurrent_v2(CUcontext *);
CUAPI cuCtxPushCurrent_v2(CUcontext);
CUAPI cuDeviceGetUuid_v2(char[16], CUdevice);
CUAPI cuDevicePrimaryCtxRelease_v2(CUdevice);
CUAPI cuDevicePrimaryCtxReset_v2(CUdevice);
CUAPI cuDevicePrimaryCtxSetFlags_v2(CUdevice, unsigned);
CUAPI cuEventDestroy_v2(CUevent);
CUAPI cuIpcOpenMemHandle_v2(CUdeviceptr *, IpcHandle, unsigned);
CUAPI cuLinkAddData_v2(void *, int, const void *, size_t, const char *, unsigned, const int *,
                       void **);
CUAPI cuLinkAddFile_v2(void *, int, const char *, unsigned, const int *, void **);
CUAPI cuLinkCreate_v2(unsigned, const int *, void **, void **);
CUAPI cuMemAdvise_v2(CUdeviceptr, size_t, int, MemoryLocation);
CUAPI cuMemHostRegister_v2(void *, size_t, unsigned);
CUAPI cuMemPrefetchAsync_v2(CUdeviceptr, size_t, MemoryLocation, unsigned, CUstream);
CUAPI cuMemcpyBatchAsync_v2(const CUdeviceptr *, const CUdeviceptr *, const size_t *, size_t,
                            const void *, const size_t *, size_t, CUstream);
CUAPI cuStreamDestroy_v2(CUstream);

CUAPI cuCtxCreate(CUcontext *out, unsigned flags, CUdevice device)
{ return cuCtxCreate_v2(out, flags, device); }

CUAPI cuCtxDestroy(CUcontext context) { return cuCtxDestroy_v2(context); }

CUAPI cuCtxPopCurrent(CUcontext *out) { return cuCtxPopCurrent_v2(out); }

CUAPI cuCtxPushCurrent(CUcontext context) { return cuCtxPushCurrent_v2(context); }

CUAPI cuDeviceGetUuid(char uuid[16], CUdevice device) { return cuDeviceGetUuid_v2(uuid, device); }

CUAPI cuDevicePrimaryCtxRelease(CUdevice device) { return cuDevicePrimaryCtxRelease_v2(device); }

CUAPI cuDevicePrimaryCtxReset(CUdevice device) { return cuDevicePrimaryCtxReset_v2(device); }

CUAPI cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned flags)
{ return cuDevicePrimaryCtxSetFlags_v2(device, flags); }

CUAPI cuEventDestroy(CUevent event) { return cuEventDestroy_v2(event); }

CUAPI cuIpcOpenMemHandle(CUdeviceptr *out, IpcHandle handle, unsigned flags)
{ return cuIpcOpenMemHandle_v2(out, handle, flags); }

CUAPI cuLinkAddData(void *handle, int type, const void *data, size_t bytes, const char *name,
                    unsigned count, const int *options, void **values)
{ return cuLinkAddData_v2(handle, type, data, bytes, name, count, options, values); }

CUAPI cuLinkAddFile(void *handle, int type, const char *path, unsigned count, const int *options,
                    void **values)
{ return cuLinkAddFile_v2(handle, type, path, count, options, values); }

CUAPI cuLinkCreate(unsigned count, const int *options, void **values, void **out)
{ return cuLinkCreate_v2(count, options, values, out); }

CUAPI cuMemHostRegister(void *pointer, size_t bytes, unsigned flags)
{ return cuMemHostRegister_v2(pointer, bytes, flags); }

CUAPI cuStreamDestroy(CUstream stream) { return cuStreamDestroy_v2(stream); }

/* Before CUDA 12.2 a place was the number of a device, or -1 for the host's memory. */
static MemoryLocation place(CUdevice device)
{
    enum { DEVICE = 1, HOST };
    return device == -1 ? (MemoryLocation){HOST, 0} : (MemoryLocation){DEVICE, device};
}

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
