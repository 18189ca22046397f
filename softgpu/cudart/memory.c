/* Memory: allocations, copies, memsets, and the variables of kernels. */
#include <stdint.h>
#include <string.h>

#include "cudart.h"

static bool on_device(const void *pointer)
{ return !cuMemGetAddressRange(NULL, NULL, DEVICE(pointer)); }

/* ---- allocations ---- */

CUDART cudaMalloc(void **out, size_t bytes)
{
    *out = NULL;
    return bytes ? CALL(cuMemAlloc((CUdeviceptr *)out, bytes)) : cudaSuccess;
}

CUDART cudaFree(void *pointer)
{ return pointer ? CALL(cuMemFree(DEVICE(pointer))) : CALL(CUDA_SUCCESS); }

FORWARD(cudaMallocManaged, cuMemAllocManaged)

CUDART cudaMallocPitch(void **out, size_t *pitch, size_t width, size_t height)
{ return CALL(cuMemAllocPitch((CUdeviceptr *)out, pitch, width, height, 4)); }

CUDART cudaMalloc3D(struct cudaPitchedPtr *out, struct cudaExtent extent)
{
    *out = (struct cudaPitchedPtr){.xsize = extent.width, .ysize = extent.height};
    return cudaMallocPitch(&out->ptr, &out->pitch, extent.width, extent.height * extent.depth);
}

FORWARD(cudaMallocAsync, cuMemAllocAsync)
FORWARD(cudaFreeAsync, cuMemFreeAsync)
FORWARD(cudaHostAlloc, cuMemHostAlloc)

CUDART cudaMallocHost(void **out, size_t bytes) { return cudaHostAlloc(out, bytes, 0); }

CUDART cudaFreeHost(void *pointer) { return pointer ? CALL(cuMemFreeHost(pointer)) : cudaSuccess; }

FORWARD(cudaHostRegister, cuMemHostRegister)
FORWARD(cudaHostUnregister, cuMemHostUnregister)
FORWARD(cudaHostGetDevicePointer, cuMemHostGetDevicePointer)
FORWARD(cudaHostGetFlags, cuMemHostGetFlags)
FORWARD(cudaMemGetInfo, cuMemGetInfo)

CUDART cudaPointerGetAttributes(struct cudaPointerAttributes *out, const void *pointer)
{
    unsigned type = 0, managed = 0;
    memset(out, 0, sizeof *out);
    CUresult result = ready();
    if (result) return told(result);
    if (cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, DEVICE(pointer))) {
        out->hostPointer = (void *)pointer; /* memory that CUDA does not know */
        return cudaSuccess;
    }
    cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, DEVICE(pointer));
    cuPointerGetAttribute(&out->device, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, DEVICE(pointer));
    bool device = type == CU_MEMORYTYPE_DEVICE;
    out->type = managed  ? cudaMemoryTypeManaged
                : device ? cudaMemoryTypeDevice
                         : cudaMemoryTypeHost;
    out->devicePointer = (void *)pointer;
    out->hostPointer = managed || !device ? (void *)pointer : NULL;
    return cudaSuccess;
}

/* ---- of other processes ---- */

FORWARD(cudaIpcGetMemHandle, cuIpcGetMemHandle)
FORWARD(cudaIpcOpenMemHandle, cuIpcOpenMemHandle)
FORWARD(cudaIpcCloseMemHandle, cuIpcCloseMemHandle)

/* ---- pools ---- */

FORWARD(cudaDeviceGetDefaultMemPool, cuDeviceGetDefaultMemPool)
FORWARD(cudaDeviceGetMemPool, cuDeviceGetMemPool)
FORWARD(cudaDeviceSetMemPool, cuDeviceSetMemPool)
FORWARD(cudaMemPoolCreate, cuMemPoolCreate)
FORWARD(cudaMemPoolDestroy, cuMemPoolDestroy)
FORWARD(cudaMemPoolTrimTo, cuMemPoolTrimTo)
FORWARD(cudaMemPoolGetAttribute, cuMemPoolGetAttribute)
FORWARD(cudaMemPoolSetAttribute, cuMemPoolSetAttribute)
FORWARD(cudaMallocFromPoolAsync, cuMemAllocFromPoolAsync)

/* Hints: the memory of the software GPU is the host's. */
#if CUDART_VERSION >= 13000
CUDART cudaMemPrefetchAsync(const void *pointer, size_t bytes, struct cudaMemLocation to,
                            unsigned flags, cudaStream_t stream)
{
    (void)pointer, (void)bytes, (void)to, (void)flags;
    return CALL(cuStreamQuery(stream));
}

CUDART cudaMemAdvise(const void *pointer, size_t bytes, enum cudaMemoryAdvise advice,
                     struct cudaMemLocation to)
{
    (void)pointer, (void)bytes, (void)advice, (void)to;
    return cudaSuccess;
}
#else
CUDART cudaMemPrefetchAsync(const void *pointer, size_t bytes, int to, cudaStream_t stream)
{
    (void)pointer, (void)bytes, (void)to;
    return CALL(cuStreamQuery(stream));
}

CUDART cudaMemAdvise(const void *pointer, size_t bytes, enum cudaMemoryAdvise advice, int to)
{
    (void)pointer, (void)bytes, (void)advice, (void)to;
    return cudaSuccess;
}
#endif

/* ---- copies ---- */

static CUmemorytype memory_of(const void *pointer, bool said_device, enum cudaMemcpyKind kind)
{
    bool device = kind == cudaMemcpyDefault ? on_device(pointer) : said_device;
    return device ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
}

static CUmemorytype memory_to(const void *to, enum cudaMemcpyKind kind)
{ return memory_of(to, kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice, kind); }

static CUmemorytype memory_from(const void *from, enum cudaMemcpyKind kind)
{
    return memory_of(from, kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice,
                     kind);
}

static CUresult copy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                     cudaStream_t stream)
{
    CUresult result = ready();
    if (result || !bytes) return result;
    if ((unsigned)kind > cudaMemcpyDefault) return (CUresult)cudaErrorInvalidMemcpyDirection;
    bool to_device = memory_to(to, kind) == CU_MEMORYTYPE_DEVICE;
    bool from_device = memory_from(from, kind) == CU_MEMORYTYPE_DEVICE;
    if (to_device && from_device) return cuMemcpyDtoDAsync(DEVICE(to), DEVICE(from), bytes, stream);
    if (to_device) return cuMemcpyHtoDAsync(DEVICE(to), from, bytes, stream);
    if (from_device) return cuMemcpyDtoHAsync(to, DEVICE(from), bytes, stream);
    return cuMemcpyAsync(DEVICE(to), DEVICE(from), bytes, stream);
}

CUDART cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                       cudaStream_t stream)
{ return told(copy(to, from, bytes, kind, stream)); }

CUDART cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device, size_t bytes,
                           cudaStream_t stream)
{
    (void)to_device, (void)from_device;
    return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream);
}

CUDART cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                         size_t width, size_t height, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    if (width > to_pitch || width > from_pitch) return told((CUresult)cudaErrorInvalidPitchValue);
    CUDA_MEMCPY2D copy = {
        .srcMemoryType = memory_from(from, kind),
        .srcHost = from,
        .srcDevice = DEVICE(from),
        .srcPitch = from_pitch,
        .dstMemoryType = memory_to(to, kind),
        .dstHost = to,
        .dstDevice = DEVICE(to),
        .dstPitch = to_pitch,
        .WidthInBytes = width,
        .Height = height,
    };
    return CALL(cuMemcpy2DAsync(&copy, stream));
}

/* Positions and widths are in an array's elements; without an array, in bytes. */
CUresult copy_of(const struct cudaMemcpy3DParms *asked, CUDA_MEMCPY3D *out)
{
    size_t source = 1, target = 1; /* bytes an element */
    CUresult result = ready();
    if (!result && asked->srcArray) result = element_bytes(asked->srcArray, &source);
    if (!result && asked->dstArray) result = element_bytes(asked->dstArray, &target);
    if (!result && asked->srcArray && asked->dstArray && source != target)
        result = CUDA_ERROR_INVALID_VALUE;
    if (result) return result;
    *out = (CUDA_MEMCPY3D){
        .srcXInBytes = asked->srcPos.x * source,
        .srcY = asked->srcPos.y,
        .srcZ = asked->srcPos.z,
        .srcMemoryType =
            asked->srcArray ? CU_MEMORYTYPE_ARRAY : memory_from(asked->srcPtr.ptr, asked->kind),
        .srcHost = asked->srcPtr.ptr,
        .srcDevice = DEVICE(asked->srcPtr.ptr),
        .srcArray = (CUarray)asked->srcArray,
        .srcPitch = asked->srcPtr.pitch,
        .srcHeight = asked->srcPtr.ysize,
        .dstXInBytes = asked->dstPos.x * target,
        .dstY = asked->dstPos.y,
        .dstZ = asked->dstPos.z,
        .dstMemoryType =
            asked->dstArray ? CU_MEMORYTYPE_ARRAY : memory_to(asked->dstPtr.ptr, asked->kind),
        .dstHost = asked->dstPtr.ptr,
        .dstDevice = DEVICE(asked->dstPtr.ptr),
        .dstArray = (CUarray)asked->dstArray,
        .dstPitch = asked->dstPtr.pitch,
        .dstHeight = asked->dstPtr.ysize,
        .WidthInBytes = asked->extent.width * (asked->srcArray ? source : target),
        .Height = asked->extent.height,
        .Depth = asked->extent.depth,
    };
    return CUDA_SUCCESS;
}

CUDART cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *asked, cudaStream_t stream)
{
    CUDA_MEMCPY3D copy;
    return told(copy_of(asked, &copy) ?: cuMemcpy3DAsync(&copy, stream));
}

CUDART cudaMemcpy3DPeerAsync(const struct cudaMemcpy3DPeerParms *asked, cudaStream_t stream)
{
    return cudaMemcpy3DAsync(&(struct cudaMemcpy3DParms){.srcArray = asked->srcArray,
                                                         .srcPos = asked->srcPos,
                                                         .srcPtr = asked->srcPtr,
                                                         .dstArray = asked->dstArray,
                                                         .dstPos = asked->dstPos,
                                                         .dstPtr = asked->dstPtr,
                                                         .extent = asked->extent,
                                                         .kind = cudaMemcpyDeviceToDevice},
                             stream);
}

/* ---- memsets ---- */

CUDART cudaMemsetAsync(void *pointer, int value, size_t bytes, cudaStream_t stream)
{ return bytes ? CALL(cuMemsetD8Async(DEVICE(pointer), value, bytes, stream)) : cudaSuccess; }

FORWARD(cudaMemset2DAsync, cuMemsetD2D8Async)

CUDART cudaMemset3D(struct cudaPitchedPtr to, int value, struct cudaExtent extent)
{
    for (size_t z = 0; z < extent.depth; z++) {
        char *slice = (char *)to.ptr + z * to.pitch * to.ysize;
        cudaError_t error = cudaMemset2D(slice, to.pitch, value, extent.width, extent.height);
        if (error) return error;
    }
    return cudaSuccess;
}

/* ---- variables of kernels ---- */

CUDART cudaGetSymbolAddress(void **out, const void *symbol)
{ return CALL(variable_of(symbol, (CUdeviceptr *)out, NULL)); }

CUDART cudaGetSymbolSize(size_t *bytes, const void *symbol)
{ return CALL(variable_of(symbol, NULL, bytes)); }

CUDART cudaMemcpyToSymbolAsync(const void *symbol, const void *from, size_t bytes, size_t offset,
                               enum cudaMemcpyKind kind, cudaStream_t stream)
{
    CUdeviceptr variable;
    CUresult result = ready() ?: variable_of(symbol, &variable, NULL);
    return told(result ?: copy((char *)(uintptr_t)variable + offset, from, bytes, kind, stream));
}

CUDART cudaMemcpyFromSymbolAsync(void *to, const void *symbol, size_t bytes, size_t offset,
                                 enum cudaMemcpyKind kind, cudaStream_t stream)
{
    CUdeviceptr variable;
    CUresult result = ready() ?: variable_of(symbol, &variable, NULL);
    return told(result ?: copy(to, (char *)(uintptr_t)variable + offset, bytes, kind, stream));
}

/* ---- calls that wait: each that has an Async here is the same on the default stream ---- */

#define WAITS(name)                                                                                \
    CUDART name(DECLARED_##name) { return name##Async(NAMED_##name, NULL); }
#include "waiting.inc"
