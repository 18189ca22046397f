/* Texture and surface objects: how a kernel sees elements that lie in rows. */
#ifndef SOFTGPU_TEXTURE_H
#define SOFTGPU_TEXTURE_H

#include "memory/memory.h"

/* CU_TR_ADDRESS_MODE_... */
enum { ADDRESS_WRAP, ADDRESS_CLAMP, ADDRESS_MIRROR, ADDRESS_BORDER };
/* CU_TRSF_...; those with a meaning where there are neither mipmaps nor cubemaps */
enum { READ_AS_INTEGER = 1, NORMALIZED_COORDINATES = 2, SRGB = 0x10 };
/* CU_AD_FORMAT_... */
enum {
    FORMAT_U8 = 1,
    FORMAT_U16 = 2,
    FORMAT_U32 = 3,
    FORMAT_S8 = 8,
    FORMAT_S16 = 9,
    FORMAT_S32 = 0xa,
    FORMAT_HALF = 0x10,
    FORMAT_FLOAT = 0x20
};

typedef struct {
    CUarray array; /* NULL: memory of the user's */
    uint64_t data;
    size_t pitch;        /* bytes from row to row */
    uint32_t dimensions; /* of a layer */
    uint32_t size[3];    /* elements, rows, slices; at least 1 */
    uint32_t layers;     /* 0: it is not layered */
    uint32_t element;    /* bytes */
    uint32_t channels;
    int format;
} Texels;

typedef struct {
    Context *owner;
    Texels texels;
    CUDA_RESOURCE_DESC resource; /* as given */
    CUDA_TEXTURE_DESC sampling;  /* of a texture, as given */
    int modes[3];                /* ADDRESS_..., as they apply */
    bool filters, normalized, gives_floats;
} TexelObject;

/* Fails where there is no such array; what it is then. */
CUresult array_texels(CUarray array, Texels *texels, unsigned *flags);
uint32_t format_bytes(int format); /* 0: no such format */

#endif
