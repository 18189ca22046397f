/* Texture and surface objects. */
#include <string.h>

#include "cudart.h"

static CUresult resource_of(const struct cudaResourceDesc *asked, CUDA_RESOURCE_DESC *out)
{
    memset(out, 0, sizeof *out);
    out->resType = (CUresourcetype)asked->resType;
    switch (asked->resType) {
    case cudaResourceTypeArray:
        out->res.array.hArray = (CUarray)asked->res.array.array;
        return CUDA_SUCCESS;
    case cudaResourceTypeLinear:
        out->res.linear.devPtr = DEVICE(asked->res.linear.devPtr);
        out->res.linear.sizeInBytes = asked->res.linear.sizeInBytes;
        return elements_of(&asked->res.linear.desc, &out->res.linear.format,
                           &out->res.linear.numChannels);
    case cudaResourceTypePitch2D:
        out->res.pitch2D.devPtr = DEVICE(asked->res.pitch2D.devPtr);
        out->res.pitch2D.width = asked->res.pitch2D.width;
        out->res.pitch2D.height = asked->res.pitch2D.height;
        out->res.pitch2D.pitchInBytes = asked->res.pitch2D.pitchInBytes;
        return elements_of(&asked->res.pitch2D.desc, &out->res.pitch2D.format,
                           &out->res.pitch2D.numChannels);
    default: return CUDA_SUCCESS; /* the driver says what there is not */
    }
}

static CUDA_TEXTURE_DESC sampling_of(const struct cudaTextureDesc *asked)
{
    CUDA_TEXTURE_DESC out = {
        .filterMode = (CUfilter_mode)asked->filterMode,
        .flags = (asked->readMode == cudaReadModeElementType ? CU_TRSF_READ_AS_INTEGER : 0) |
                 (asked->normalizedCoords ? CU_TRSF_NORMALIZED_COORDINATES : 0) |
                 (asked->sRGB ? CU_TRSF_SRGB : 0),
        .maxAnisotropy = asked->maxAnisotropy,
    };
    for (int n = 0; n < 3; n++) out.addressMode[n] = (CUaddress_mode)asked->addressMode[n];
    memcpy(out.borderColor, asked->borderColor, sizeof out.borderColor);
    return out;
}

CUDART cudaCreateTextureObject(cudaTextureObject_t *out, const struct cudaResourceDesc *resource,
                               const struct cudaTextureDesc *sampling,
                               const struct cudaResourceViewDesc *view)
{
    if (!out || !resource || !sampling) return told(CUDA_ERROR_INVALID_VALUE);
    CUDA_RESOURCE_DESC of;
    CUDA_TEXTURE_DESC how = sampling_of(sampling);
    return CALL(resource_of(resource, &of)
                    ?: cuTexObjectCreate((CUtexObject *)out, &of, &how,
                                         (const CUDA_RESOURCE_VIEW_DESC *)view));
}

CUDART cudaDestroyTextureObject(cudaTextureObject_t texture)
{ return texture ? CALL(cuTexObjectDestroy(texture)) : cudaSuccess; }

CUDART cudaCreateSurfaceObject(cudaSurfaceObject_t *out, const struct cudaResourceDesc *resource)
{
    if (!out || !resource) return told(CUDA_ERROR_INVALID_VALUE);
    CUDA_RESOURCE_DESC of;
    return CALL(resource_of(resource, &of) ?: cuSurfObjectCreate((CUsurfObject *)out, &of));
}

CUDART cudaDestroySurfaceObject(cudaSurfaceObject_t surface)
{ return surface ? CALL(cuSurfObjectDestroy(surface)) : cudaSuccess; }
