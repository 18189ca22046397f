/* Texture and surface objects: what they may be made of, and what is asked of them. */
#include "texture.h"

#include <stdlib.h>

#define REFUSE(...) return fail(CUDA_ERROR_INVALID_VALUE, __VA_ARGS__)

enum { MOST_LINEAR = 1 << 28, SURFACE_LDST = 2 };
enum { TEXTURE_ALIGN = 512, PITCH_ALIGN = 32 }; /* as the attributes of the device say */

/* Memory that the user has allocated, as one row or as rows with a pitch. */
static CUresult plain_texels(const CUDA_RESOURCE_DESC *resource, Texels *texels)
{
    const bool linear = resource->type == RESOURCE_LINEAR;
    const uint64_t data = linear ? resource->linear.address : resource->pitch2D.address;
    const int format = linear ? resource->linear.format : resource->pitch2D.format;
    const unsigned channels = linear ? resource->linear.channels : resource->pitch2D.channels;
    const size_t element = (size_t)format_bytes(format) * channels;
    if (!element || channels == 3 || channels > 4)
        REFUSE("no texture has %u channels of format %d", channels, format);
    const size_t width = linear ? resource->linear.bytes / element : resource->pitch2D.width;
    const size_t height = linear ? 1 : resource->pitch2D.height;
    const size_t pitch = linear ? width * element : resource->pitch2D.pitch;
    if (!width || !height || width > MOST_LINEAR || height > MOST_LINEAR)
        REFUSE("a texture of %zu x %zu elements; each is 1 to %d", width, height, MOST_LINEAR);
    if (data % TEXTURE_ALIGN)
        REFUSE("a texture's memory begins at a multiple of %d bytes, not at 0x%llx", TEXTURE_ALIGN,
               (unsigned long long)data);
    if (!linear && (pitch % PITCH_ALIGN || pitch < width * element))
        REFUSE("a pitch of %zu bytes; multiples of %d of at least %zu are possible", pitch,
               PITCH_ALIGN, width * element);
    *texels = (Texels){.data = data,
                       .pitch = pitch,
                       .dimensions = linear ? 1 : 2,
                       .size = {(uint32_t)width, (uint32_t)height, 1},
                       .element = (uint32_t)element,
                       .channels = channels,
                       .format = format};
    driver_lock();
    const bool there = memory_covers(data, (height - 1) * pitch + width * element);
    driver_unlock();
    if (!there) REFUSE("a texture of memory that is not allocated, or not as large");
    return CUDA_SUCCESS;
}

static CUresult create(ObjectKind kind, uint64_t *out, TexelObject *object)
{
    TexelObject *made = malloc(sizeof *made);
    if (!made) return fail(CUDA_ERROR_OUT_OF_MEMORY, NULL);
    *made = *object;
    *out = (uint64_t)handle_new(kind, made);
    return CUDA_SUCCESS;
}

/* How a texture is read: what the manual leaves out for a resource does not apply to it. */
static CUresult decide(TexelObject *t)
{
    const CUDA_TEXTURE_DESC *asked = &t->sampling;
    const bool small = t->texels.format != FORMAT_U32 && t->texels.format != FORMAT_S32;
    const bool is_float = t->texels.format >= FORMAT_HALF;
    const bool linear = t->resource.type == RESOURCE_LINEAR;
    t->gives_floats = is_float || (small && !(asked->flags & READ_AS_INTEGER));
    t->normalized = asked->flags & NORMALIZED_COORDINATES && !linear;
    t->filters = asked->filter && !linear;
    if (asked->filter > 1u) REFUSE("no filter mode is %u", asked->filter);
    if (t->filters && !t->gives_floats)
        REFUSE("a texture that is read as integers cannot be filtered: take the mode point");
    if (asked->flags & SRGB)
        return fail(CUDA_ERROR_NOT_SUPPORTED, "the software GPU does not support sRGB textures");
    for (int n = 0; n < 3; n++) {
        const int mode = asked->modes[n];
        if ((unsigned)mode > ADDRESS_BORDER) REFUSE("no address mode is %d", mode);
        const bool repeats = mode == ADDRESS_WRAP || mode == ADDRESS_MIRROR;
        t->modes[n] = repeats && !t->normalized ? ADDRESS_CLAMP : mode;
        if (linear) t->modes[n] = ADDRESS_BORDER; /* zero outside */
    }
    return CUDA_SUCCESS;
}

CUAPI cuTexObjectCreate(uint64_t *out, const CUDA_RESOURCE_DESC *resource,
                        const CUDA_TEXTURE_DESC *sampling, const void *view)
{
    NEED_CONTEXT(context);
    if (!out || !resource || !sampling) REFUSE("an argument is NULL");
    if (view)
        return fail(CUDA_ERROR_NOT_SUPPORTED, "the software GPU does not support resource views");
    if (resource->type == RESOURCE_MIPMAPPED)
        return fail(CUDA_ERROR_NOT_SUPPORTED, "the software GPU does not support mipmaps");
    if ((unsigned)resource->type > RESOURCE_PITCH2D) REFUSE("no resource is %d", resource->type);
    TexelObject object = {.owner = context, .resource = *resource, .sampling = *sampling};
    unsigned flags;
    CUresult result = resource->type == RESOURCE_ARRAY
                          ? array_texels(resource->array, &object.texels, &flags)
                          : plain_texels(resource, &object.texels);
    if (!result) result = decide(&object);
    return result ? result : create(TEXTURE, out, &object);
}

CUAPI cuSurfObjectCreate(uint64_t *out, const CUDA_RESOURCE_DESC *resource)
{
    NEED_CONTEXT(context);
    if (!out || !resource) REFUSE("an argument is NULL");
    if (resource->type != RESOURCE_ARRAY) REFUSE("a surface is made of an array");
    TexelObject object = {.owner = context, .resource = *resource};
    unsigned flags;
    CUresult result = array_texels(resource->array, &object.texels, &flags);
    if (result) return result;
    if (!(flags & SURFACE_LDST))
        REFUSE("the array was made without CUDA_ARRAY3D_SURFACE_LDST (cudaArraySurfaceLoadStore)");
    driver_lock();
    written_as_a_whole(memory_find(object.texels.data)); /* it may be, from now on */
    driver_unlock();
    return create(SURFACE, out, &object);
}

static CUresult destroy(ObjectKind kind, uint64_t handle, const char *what)
{
    NEED_CONTEXT(context);
    void *object = handle_object(kind, (void *)handle);
    if (!object) REFUSE("no such %s", what);
    tasks_wait_all(((TexelObject *)object)->owner->handle);
    handle_drop((void *)handle);
    free(object);
    return CUDA_SUCCESS;
}

CUAPI cuTexObjectDestroy(uint64_t handle) { return destroy(TEXTURE, handle, "texture object"); }

CUAPI cuSurfObjectDestroy(uint64_t handle) { return destroy(SURFACE, handle, "surface object"); }

static void free_if_owned(void *handle, void *object, void *owner)
{
    if (((TexelObject *)object)->owner != owner) return;
    handle_drop(handle);
    free(object);
}

void texel_objects_free_all(Context *owner)
{
    handle_each(TEXTURE, free_if_owned, owner);
    handle_each(SURFACE, free_if_owned, owner);
}

#define ANSWER(name, kind, what, type, field)                                                      \
    CUAPI name(type *out, uint64_t handle)                                                         \
    {                                                                                              \
        NEED_CONTEXT(context);                                                                     \
        const TexelObject *object = handle_object(kind, (void *)handle);                           \
        if (!object) REFUSE("no such " what " object");                                            \
        *out = object->field;                                                                      \
        return CUDA_SUCCESS;                                                                       \
    }

ANSWER(cuTexObjectGetResourceDesc, TEXTURE, "texture", CUDA_RESOURCE_DESC, resource)
ANSWER(cuTexObjectGetTextureDesc, TEXTURE, "texture", CUDA_TEXTURE_DESC, sampling)
ANSWER(cuSurfObjectGetResourceDesc, SURFACE, "surface", CUDA_RESOURCE_DESC, resource)
