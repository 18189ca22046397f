/* Arrays: what textures and surfaces are made of, and copies to and from them. */
#include "cudart.h"

#define ARRAY(array) ((CUarray)(array))

/* ---- what elements are ---- */

EXPORT struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
                                                          enum cudaChannelFormatKind kind)
{ return (struct cudaChannelFormatDesc){x, y, z, w, kind}; }

/* 0: there is none. */
static CUarray_format format_of(const struct cudaChannelFormatDesc *channels)
{
    switch (channels->f) {
    case cudaChannelFormatKindUnsigned:
        return channels->x == 8    ? CU_AD_FORMAT_UNSIGNED_INT8
               : channels->x == 16 ? CU_AD_FORMAT_UNSIGNED_INT16
               : channels->x == 32 ? CU_AD_FORMAT_UNSIGNED_INT32
                                   : 0;
    case cudaChannelFormatKindSigned:
        return channels->x == 8    ? CU_AD_FORMAT_SIGNED_INT8
               : channels->x == 16 ? CU_AD_FORMAT_SIGNED_INT16
               : channels->x == 32 ? CU_AD_FORMAT_SIGNED_INT32
                                   : 0;
    case cudaChannelFormatKindFloat:
        return channels->x == 16 ? CU_AD_FORMAT_HALF : channels->x == 32 ? CU_AD_FORMAT_FLOAT : 0;
    default: return 0;
    }
}

/* Channels come in order and are of one size. */
CUresult elements_of(const struct cudaChannelFormatDesc *channels, CUarray_format *format,
                     unsigned *count)
{
    const int bits[] = {channels->x, channels->y, channels->z, channels->w};
    *format = format_of(channels);
    *count = 0;
    while (*count < 4 && bits[*count]) ++*count;
    for (unsigned n = 0; n < 4; n++)
        if (bits[n] != (n < *count ? channels->x : 0)) *format = 0;
    return *format ? CUDA_SUCCESS : (CUresult)cudaErrorInvalidChannelDescriptor;
}

static unsigned bits_of(CUarray_format format)
{
    switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT8: return 8;
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_HALF: return 16;
    default: return 32;
    }
}

struct cudaChannelFormatDesc channels_of(CUarray_format format, unsigned count)
{
    const int bits = (int)bits_of(format);
    return (struct cudaChannelFormatDesc){
        bits, count > 1 ? bits : 0, count > 2 ? bits : 0, count > 3 ? bits : 0,
        format >= CU_AD_FORMAT_HALF          ? cudaChannelFormatKindFloat
        : format >= CU_AD_FORMAT_SIGNED_INT8 ? cudaChannelFormatKindSigned
                                             : cudaChannelFormatKindUnsigned};
}

/* ---- arrays ---- */

CUDART cudaMalloc3DArray(cudaArray_t *out, const struct cudaChannelFormatDesc *channels,
                         struct cudaExtent extent, unsigned flags)
{
    CUDA_ARRAY3D_DESCRIPTOR shape = {
        .Width = extent.width, .Height = extent.height, .Depth = extent.depth, .Flags = flags};
    return CALL(elements_of(channels, &shape.Format, &shape.NumChannels)
                    ?: cuArray3DCreate((CUarray *)out, &shape));
}

CUDART cudaMallocArray(cudaArray_t *out, const struct cudaChannelFormatDesc *channels, size_t width,
                       size_t height, unsigned flags)
{ return cudaMalloc3DArray(out, channels, (struct cudaExtent){width, height, 0}, flags); }

CUDART cudaFreeArray(cudaArray_t array)
{ return array ? CALL(cuArrayDestroy(ARRAY(array))) : cudaSuccess; }

CUDART cudaArrayGetInfo(struct cudaChannelFormatDesc *channels, struct cudaExtent *extent,
                        unsigned *flags, cudaArray_t array)
{
    CUDA_ARRAY3D_DESCRIPTOR shape;
    CUresult result = ready() ?: cuArray3DGetDescriptor(&shape, ARRAY(array));
    if (result) return told(result);
    if (channels) *channels = channels_of(shape.Format, shape.NumChannels);
    if (extent) *extent = (struct cudaExtent){shape.Width, shape.Height, shape.Depth};
    if (flags) *flags = shape.Flags;
    return cudaSuccess;
}

CUDART cudaGetChannelDesc(struct cudaChannelFormatDesc *channels, cudaArray_const_t array)
{ return cudaArrayGetInfo(channels, NULL, NULL, (cudaArray_t)array); }

CUresult element_bytes(cudaArray_const_t array, size_t *bytes)
{
    CUDA_ARRAY3D_DESCRIPTOR shape;
    CUresult result = cuArray3DGetDescriptor(&shape, ARRAY(array));
    if (!result) *bytes = bits_of(shape.Format) / 8 * shape.NumChannels;
    return result;
}

/* ---- copies; addresses say themselves where they lead ---- */

CUDART cudaMemcpy2DToArrayAsync(cudaArray_t to, size_t x, size_t y, const void *from, size_t pitch,
                                size_t width, size_t height, enum cudaMemcpyKind kind,
                                cudaStream_t stream)
{
    (void)kind;
    return CALL(cuMemcpy2DAsync(&(CUDA_MEMCPY2D){.srcMemoryType = CU_MEMORYTYPE_UNIFIED,
                                                 .srcDevice = DEVICE(from),
                                                 .srcPitch = pitch,
                                                 .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                                                 .dstArray = ARRAY(to),
                                                 .dstXInBytes = x,
                                                 .dstY = y,
                                                 .WidthInBytes = width,
                                                 .Height = height},
                                stream));
}

CUDART cudaMemcpy2DFromArrayAsync(void *to, size_t pitch, cudaArray_const_t from, size_t x,
                                  size_t y, size_t width, size_t height, enum cudaMemcpyKind kind,
                                  cudaStream_t stream)
{
    (void)kind;
    return CALL(cuMemcpy2DAsync(&(CUDA_MEMCPY2D){.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                                                 .srcArray = ARRAY(from),
                                                 .srcXInBytes = x,
                                                 .srcY = y,
                                                 .dstMemoryType = CU_MEMORYTYPE_UNIFIED,
                                                 .dstDevice = DEVICE(to),
                                                 .dstPitch = pitch,
                                                 .WidthInBytes = width,
                                                 .Height = height},
                                stream));
}

CUDART cudaMemcpy2DArrayToArray(cudaArray_t to, size_t to_x, size_t to_y, cudaArray_const_t from,
                                size_t from_x, size_t from_y, size_t width, size_t height,
                                enum cudaMemcpyKind kind)
{
    (void)kind;
    return CALL(cuMemcpy2DUnaligned(&(CUDA_MEMCPY2D){.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                                                     .srcArray = ARRAY(from),
                                                     .srcXInBytes = from_x,
                                                     .srcY = from_y,
                                                     .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                                                     .dstArray = ARRAY(to),
                                                     .dstXInBytes = to_x,
                                                     .dstY = to_y,
                                                     .WidthInBytes = width,
                                                     .Height = height}));
}

/* ---- copies of bytes that go on in the next row ---- */

static CUresult offset_of(cudaArray_const_t array, size_t x, size_t y, size_t *offset)
{
    CUDA_ARRAY3D_DESCRIPTOR shape;
    size_t element;
    CUresult result =
        element_bytes(array, &element) ?: cuArray3DGetDescriptor(&shape, ARRAY(array));
    if (!result) *offset = y * shape.Width * element + x;
    return result;
}

CUDART cudaMemcpyToArrayAsync(cudaArray_t to, size_t x, size_t y, const void *from, size_t bytes,
                              enum cudaMemcpyKind kind, cudaStream_t stream)
{
    (void)kind;
    size_t offset;
    return CALL(offset_of(to, x, y, &offset)
                    ?: cuMemcpyHtoAAsync(ARRAY(to), offset, from, bytes, stream));
}

CUDART cudaMemcpyFromArrayAsync(void *to, cudaArray_const_t from, size_t x, size_t y, size_t bytes,
                                enum cudaMemcpyKind kind, cudaStream_t stream)
{
    (void)kind;
    size_t offset;
    return CALL(offset_of(from, x, y, &offset)
                    ?: cuMemcpyAtoHAsync(to, ARRAY(from), offset, bytes, stream));
}
