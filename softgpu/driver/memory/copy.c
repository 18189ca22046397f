/* Memset, memcpy (linear, 2-D, 3-D) and arrays. Ranges are checked before a byte is touched. */
#include <stdlib.h>
#include <string.h>

#include "internal.h"
#include "texture.h"

typedef struct {
    Context *owner;
    CUDA_ARRAY3D_DESCRIPTOR shape;
    size_t pitch, height, depth; /* bytes a row, rows a slice, slices; at least 1 */
    uint64_t data;
} Array;

#define NO_SUCH_RANGE CUDA_ERROR_INVALID_VALUE

static CUresult outside(uint64_t address, size_t bytes)
{
    char where[400];
    const Allocation *found = memory_find(address);
    if (found)
        return fail(NO_SUCH_RANGE,
                    "%zu bytes from 0x%llx on; the %zu-byte allocation there has "
                    "only %zu left",
                    bytes, (unsigned long long)address, (size_t)(found->end - found->begin),
                    (size_t)(found->end - address));
    memory_describe(address, where, sizeof where);
    return fail(NO_SUCH_RANGE, "%zu bytes at 0x%llx, %s", bytes, (unsigned long long)address,
                where);
}

static CUresult check_device(uint64_t address, size_t bytes)
{ return memory_covers(address, bytes) ? CUDA_SUCCESS : outside(address, bytes); }

/* Host memory is the caller's word, unless it points to where our allocations live. */
static CUresult check_host(const void *pointer, size_t bytes)
{
    uint64_t address = (uint64_t)pointer;
    if (!pointer) return fail(CUDA_ERROR_INVALID_VALUE, "a host pointer is NULL");
    return zones_have(address) ? check_device(address, bytes) : CUDA_SUCCESS;
}

/* ---- linear ---- */

typedef enum { ON_HOST, ON_DEVICE } Place;

static void copy_row(uint64_t to, uint64_t from, size_t bytes)
{
    const Allocation *target = memory_find(to), *source = memory_find(from);
    memmove((void *)to, (void *)from, bytes);
    written_by_copy(target, to, source, from, bytes);
    if (target && source && target->device != source->device && target->device != ANYWHERE &&
        source->device != ANYWHERE)
        peer_count(source->device, target->device, bytes);
}

static CUresult copy(uint64_t to, Place to_place, uint64_t from, Place from_place, size_t bytes)
{
    NEED_CONTEXT(context);
    if (!bytes) return CUDA_SUCCESS;
    driver_lock();
    CUresult result = to_place == ON_HOST ? check_host((void *)to, bytes) : check_device(to, bytes);
    if (!result)
        result =
            from_place == ON_HOST ? check_host((void *)from, bytes) : check_device(from, bytes);
    if (!result) copy_row(to, from, bytes);
    driver_unlock();
    return result;
}

typedef struct {
    uint64_t to, from;
    Place to_place, from_place;
    size_t bytes;
} Copy;

static CUresult do_copy(void *data)
{
    const Copy *c = data;
    return copy(c->to, c->to_place, c->from, c->from_place, c->bytes);
}

/* Of the caller's memory that is not page-locked a copy takes place before its call returns. */
static void settle_pageable(CUstream stream, uint64_t address)
{
    if (device_count() == 1) return;
    driver_lock();
    bool known = memory_find(address);
    driver_unlock();
    if (!known) stream_settle(stream);
}

static CUresult capture_copy(CUstream stream, const CUDA_MEMCPY3D *copy)
{
    NodeParams params = {.type = NODE_MEMCPY};
    params.memcpy.context = current_handle();
    params.memcpy.copy = *copy;
    return capture_node(stream, &params, NULL, NULL);
}

/* What the calls that wait do, too: on the default stream. */
static CUresult copy_on(CUstream stream, uint64_t to, Place to_place, uint64_t from,
                        Place from_place, size_t bytes)
{
    bool captured;
    CUresult result = stream_begin(stream, &captured);
    if (result) return result;
    if (!captured) {
        if (to_place == ON_HOST) settle_pageable(stream, to);
        if (from_place == ON_HOST) settle_pageable(stream, from);
        return stream_do(stream, do_copy, &(Copy){to, from, to_place, from_place, bytes},
                         sizeof(Copy));
    }
    return capture_copy(
        stream,
        &(CUDA_MEMCPY3D){.srcMemoryType = from_place == ON_HOST ? MEMORY_HOST : MEMORY_DEVICE,
                         .srcHost = (void *)from,
                         .srcDevice = from,
                         .dstMemoryType = to_place == ON_HOST ? MEMORY_HOST : MEMORY_DEVICE,
                         .dstHost = (void *)to,
                         .dstDevice = to,
                         .WidthInBytes = bytes,
                         .Height = 1,
                         .Depth = 1});
}

CUAPI cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes, CUstream stream)
{ return copy_on(stream, to, ON_DEVICE, (uint64_t)from, ON_HOST, bytes); }

CUAPI cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes, CUstream stream)
{ return copy_on(stream, (uint64_t)to, ON_HOST, from, ON_DEVICE, bytes); }

CUAPI cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
{ return copy_on(stream, to, ON_DEVICE, from, ON_DEVICE, bytes); }

CUAPI cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t bytes)
{ return stream_settled(NULL, cuMemcpyHtoDAsync_v2(to, from, bytes, NULL)); }

CUAPI cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t bytes)
{ return stream_settled(NULL, cuMemcpyDtoHAsync_v2(to, from, bytes, NULL)); }

CUAPI cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes)
{ return stream_settled(NULL, cuMemcpyDtoDAsync_v2(to, from, bytes, NULL)); }

/* An address says by itself what device it is of; PyCUDA tells the current context of both ends. */
static CUresult check_contexts(CUcontext to, CUcontext from)
{
    if (handle_object(CONTEXT, to) && handle_object(CONTEXT, from)) return CUDA_SUCCESS;
    return fail(CUDA_ERROR_INVALID_CONTEXT, "no such context");
}

CUAPI cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                        CUcontext from_context, size_t bytes, CUstream stream)
{
    CUresult result = check_contexts(to_context, from_context);
    return result ? result : cuMemcpyDtoDAsync_v2(to, from, bytes, stream);
}

CUAPI cuMemcpyPeer(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context,
                   size_t bytes)
{ return stream_settled(NULL, cuMemcpyPeerAsync(to, to_context, from, from_context, bytes, NULL)); }

/* ---- linear, wherever the memory is ---- */

static Place place_of(uint64_t address)
{
    driver_lock();
    Place place = memory_find(address) || zones_have(address) ? ON_DEVICE : ON_HOST;
    driver_unlock();
    return place;
}

CUAPI cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
{ return copy_on(stream, to, place_of(to), from, place_of(from), bytes); }

CUAPI cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes)
{ return stream_settled(NULL, cuMemcpyAsync(to, from, bytes, NULL)); }

/* The attributes are hints about when the sources are read. */
CUAPI cuMemcpyBatchAsync_v2(const CUdeviceptr *to, const CUdeviceptr *from, const size_t *bytes,
                            size_t count, const void *attributes, const size_t *indices,
                            size_t attribute_count, CUstream stream)
{
    (void)attributes, (void)indices, (void)attribute_count;
    CUresult result =
        stream ? CUDA_SUCCESS : fail(CUDA_ERROR_INVALID_VALUE, "not on the default stream");
    for (size_t i = 0; !result && i < count; i++)
        result = cuMemcpyAsync(to[i], from[i], bytes[i], stream);
    return result;
}

/* ---- memset ---- */

CUresult memory_set(uint64_t to, size_t pitch, uint32_t value, size_t size, size_t width,
                    size_t height)
{
    NEED_CONTEXT(context);
    if (!width || !height) return CUDA_SUCCESS;
    if (to % size || pitch % size)
        return fail(CUDA_ERROR_INVALID_VALUE, "address and pitch must be multiples of %zu", size);
    if (width > SIZE_MAX / size || (height > 1 && pitch < width * size) ||
        (height > 1 && height - 1 > (SIZE_MAX - width * size) / pitch))
        return fail(CUDA_ERROR_INVALID_VALUE, "a row of %zu elements, a pitch of %zu bytes", width,
                    pitch);
    driver_lock();
    CUresult result = check_device(to, (height - 1) * pitch + width * size);
    for (size_t row = 0; !result && row < height; row++) {
        void *p = (void *)(to + row * pitch);
        if (!value) memory_zero((uint64_t)p, width * size);
        else if (size == 1) memset(p, (int)value, width);
        else if (size == 2)
            for (size_t i = 0; i < width; i++) ((uint16_t *)p)[i] = (uint16_t)value;
        else
            for (size_t i = 0; i < width; i++) ((uint32_t *)p)[i] = value;
        written_by_host(memory_find((uint64_t)p), (uint64_t)p, width * size);
    }
    driver_unlock();
    return result;
}

static CUresult do_set(void *data)
{
    const MemsetNode *s = data;
    return memory_set(s->to, s->pitch, s->value, s->size, s->width, s->height);
}

static CUresult set_on(CUstream stream, uint64_t to, size_t pitch, uint32_t value, size_t size,
                       size_t width, size_t height)
{
    bool captured;
    CUresult result = stream_begin(stream, &captured);
    if (result) return result;
    NodeParams params = {.type = NODE_MEMSET,
                         .memset = {to, pitch, value, size, width, height, current_handle()}};
    return captured ? capture_node(stream, &params, NULL, NULL)
                    : stream_do(stream, do_set, &params.memset, sizeof params.memset);
}

#define MEMSET(bits, type)                                                                         \
    CUAPI cuMemsetD2D##bits##Async(CUdeviceptr to, size_t pitch, type value, size_t width,         \
                                   size_t height, CUstream stream)                                 \
    { return set_on(stream, to, pitch, value, bits / 8, width, height); }                          \
    CUAPI cuMemsetD2D##bits##_v2(CUdeviceptr to, size_t pitch, type value, size_t width,           \
                                 size_t height)                                                    \
    { return set_on(NULL, to, pitch, value, bits / 8, width, height); }                            \
    CUAPI cuMemsetD##bits##Async(CUdeviceptr to, type value, size_t count, CUstream stream)        \
    { return set_on(stream, to, 0, value, bits / 8, count, 1); }                                   \
    CUAPI cuMemsetD##bits##_v2(CUdeviceptr to, type value, size_t count)                           \
    { return set_on(NULL, to, 0, value, bits / 8, count, 1); }

MEMSET(8, unsigned char)
MEMSET(16, unsigned short)
MEMSET(32, unsigned)

/* ---- 2-D and 3-D ---- */

/* One end of a copy of boxes. */
typedef struct {
    int type; /* MEMORY_... */
    uint64_t address;
    CUarray array;
    size_t pitch, height; /* bytes a row, rows a slice */
    size_t x, y, z;       /* where the box starts; x in bytes */
} End;

/* Turns an end into the address of the box's first byte, after checking all of the box. */
static CUresult resolve(End *end, size_t width, size_t height, size_t depth)
{
    bool checked = end->type != MEMORY_HOST;
    if (end->type == MEMORY_ARRAY) {
        Array *array = handle_object(ARRAY, end->array);
        if (!array) return fail(CUDA_ERROR_INVALID_HANDLE, "no such array");
        if (end->x + width > array->pitch || end->y + height > array->height ||
            end->z + depth > array->depth)
            return fail(CUDA_ERROR_INVALID_VALUE, "the copy reaches past the end of the array");
        end->address = array->data;
        end->pitch = array->pitch;
        end->height = array->height;
    } else if (end->type == MEMORY_UNIFIED) {
        checked = memory_find(end->address);
    } else if (end->type != MEMORY_HOST && end->type != MEMORY_DEVICE) {
        return fail(CUDA_ERROR_INVALID_VALUE, "unknown memory type %d", end->type);
    }
    if (height > 1 || depth > 1) {
        if (end->pitch < end->x + width)
            return fail(CUDA_ERROR_INVALID_VALUE,
                        "a pitch of %zu bytes is less than the row's "
                        "%zu",
                        end->pitch, end->x + width);
        if (depth > 1 && end->height < end->y + height)
            return fail(CUDA_ERROR_INVALID_VALUE,
                        "a height of %zu rows is less than the "
                        "slice's %zu",
                        end->height, end->y + height);
    }
    unsigned __int128 offset =
        ((unsigned __int128)end->z * end->height + end->y) * end->pitch + end->x;
    unsigned __int128 span =
        ((unsigned __int128)(depth - 1) * end->height + height - 1) * end->pitch + width;
    if (offset + span > SIZE_MAX / 2) return fail(CUDA_ERROR_INVALID_VALUE, "the copy is too big");
    end->address += (uint64_t)offset;
    return checked ? check_device(end->address, (size_t)span)
                   : check_host((void *)end->address, (size_t)span);
}

static CUresult copy_box(End to, End from, size_t width, size_t height, size_t depth)
{
    NEED_CONTEXT(context);
    if (!width || !height || !depth) return CUDA_SUCCESS;
    driver_lock();
    CUresult result = resolve(&to, width, height, depth);
    if (!result) result = resolve(&from, width, height, depth);
    for (size_t z = 0; !result && z < depth; z++)
        for (size_t y = 0; y < height; y++)
            copy_row(to.address + (z * to.height + y) * to.pitch,
                     from.address + (z * from.height + y) * from.pitch, width);
    driver_unlock();
    return result;
}

/* PyCUDA leaves a unified address in the host field. */
static uint64_t end_address(int type, const void *host, CUdeviceptr device)
{ return type == MEMORY_HOST || (type == MEMORY_UNIFIED && !device) ? (uint64_t)host : device; }

CUresult memory_copy(const CUDA_MEMCPY3D *c)
{
    End to = {c->dstMemoryType, end_address(c->dstMemoryType, c->dstHost, c->dstDevice),
              c->dstArray,      c->dstPitch,
              c->dstHeight,     c->dstXInBytes,
              c->dstY,          c->dstZ};
    End from = {c->srcMemoryType, end_address(c->srcMemoryType, c->srcHost, c->srcDevice),
                c->srcArray,      c->srcPitch,
                c->srcHeight,     c->srcXInBytes,
                c->srcY,          c->srcZ};
    return copy_box(to, from, c->WidthInBytes, c->Height, c->Depth);
}

static CUresult do_copy_box(void *data) { return memory_copy(data); }

static void settle_end(CUstream stream, int type, const void *host, CUdeviceptr device)
{
    if (type == MEMORY_HOST || type == MEMORY_UNIFIED)
        settle_pageable(stream, end_address(type, host, device));
}

CUAPI cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D *c, CUstream stream)
{
    bool captured;
    CUresult result = stream_begin(stream, &captured);
    if (result) return result;
    if (captured) return capture_copy(stream, c);
    settle_end(stream, c->dstMemoryType, c->dstHost, c->dstDevice);
    settle_end(stream, c->srcMemoryType, c->srcHost, c->srcDevice);
    CUDA_MEMCPY3D copy = *c;
    return stream_do(stream, do_copy_box, &copy, sizeof copy);
}

CUAPI cuMemcpy3D_v2(const CUDA_MEMCPY3D *c)
{ return stream_settled(NULL, cuMemcpy3DAsync_v2(c, NULL)); }

CUAPI cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D *c, CUstream stream)
{
    CUresult result = check_contexts(c->dstContext, c->srcContext);
    return result ? result : cuMemcpy3DAsync_v2(c, stream);
}

CUAPI cuMemcpy3DPeer(const CUDA_MEMCPY3D *c)
{ return stream_settled(NULL, cuMemcpy3DPeerAsync(c, NULL)); }

CUAPI cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D *c, CUstream stream)
{
    return cuMemcpy3DAsync_v2(&(CUDA_MEMCPY3D){.srcXInBytes = c->srcXInBytes,
                                               .srcY = c->srcY,
                                               .srcMemoryType = c->srcMemoryType,
                                               .srcHost = c->srcHost,
                                               .srcDevice = c->srcDevice,
                                               .srcArray = c->srcArray,
                                               .srcPitch = c->srcPitch,
                                               .dstXInBytes = c->dstXInBytes,
                                               .dstY = c->dstY,
                                               .dstMemoryType = c->dstMemoryType,
                                               .dstHost = c->dstHost,
                                               .dstDevice = c->dstDevice,
                                               .dstArray = c->dstArray,
                                               .dstPitch = c->dstPitch,
                                               .WidthInBytes = c->WidthInBytes,
                                               .Height = c->Height,
                                               .Depth = 1},
                              stream);
}

CUAPI cuMemcpy2D_v2(const CUDA_MEMCPY2D *c)
{ return stream_settled(NULL, cuMemcpy2DAsync_v2(c, NULL)); }

CUAPI cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D *c) { return cuMemcpy2D_v2(c); }

/* ---- what the libraries (libraries/) read and write in place ---- */

/* Rows of device memory, pitches apart: they are checked, and count as written where they will be. */
CUAPI sg_use_rows(CUdeviceptr address, size_t pitch, size_t width, size_t height, int writes)
{
    NEED_CONTEXT(context);
    if (!width || !height) return CUDA_SUCCESS;
    End end = {.type = MEMORY_DEVICE, .address = address, .pitch = pitch};
    driver_lock();
    CUresult result = resolve(&end, width, height, 1);
    const Allocation *in = result ? NULL : memory_find(address);
    for (size_t row = 0; in && writes && row < height; row++)
        written_by_host(in, address + row * pitch, width);
    driver_unlock();
    return result;
}

/* ---- arrays ---- */

uint32_t format_bytes(int format)
{
    switch (format) {
    case FORMAT_U8:
    case FORMAT_S8: return 1;
    case FORMAT_U16:
    case FORMAT_S16:
    case FORMAT_HALF: return 2;
    case FORMAT_U32:
    case FORMAT_S32:
    case FORMAT_FLOAT: return 4;
    default: return 0;
    }
}

static void array_free(Array *array)
{
    driver_lock();
    memory_free(array->data);
    driver_unlock();
    free(array);
}

static void free_if_owned(void *handle, void *object, void *owner)
{
    Array *array = object;
    if (array->owner != owner) return;
    handle_drop(handle);
    array_free(array);
}

void arrays_free_all(Context *owner) { handle_each(ARRAY, free_if_owned, owner); }

CUAPI cuArray3DCreate_v2(CUarray *out, const CUDA_ARRAY3D_DESCRIPTOR *shape)
{
    NEED_CONTEXT(context);
    const size_t most = 131072;
    size_t element = format_bytes(shape->Format) * shape->NumChannels;
    if (!element || shape->NumChannels == 3 || shape->NumChannels > 4 || !shape->Width ||
        shape->Width > most || shape->Height > most || shape->Depth > most)
        return fail(CUDA_ERROR_INVALID_VALUE, "an array of this format or size");
    Array *array = calloc(1, sizeof *array);
    if (!array) return fail(CUDA_ERROR_OUT_OF_MEMORY, NULL);
    array->owner = context;
    array->shape = *shape;
    array->pitch = shape->Width * element;
    array->height = shape->Height ? shape->Height : 1;
    array->depth = shape->Depth ? shape->Depth : 1;
    driver_lock();
    CUresult result =
        memory_allocate(context, context->device, array->pitch * array->height * array->depth,
                        DEVICE_MEMORY, 0, &array->data);
    driver_unlock();
    if (result) {
        free(array);
        return result;
    }
    *out = handle_new(ARRAY, array);
    return CUDA_SUCCESS;
}

CUAPI cuArrayCreate_v2(CUarray *out, const CUDA_ARRAY_DESCRIPTOR *shape)
{
    CUDA_ARRAY3D_DESCRIPTOR deep = {shape->Width,  shape->Height,      0,
                                    shape->Format, shape->NumChannels, 0};
    return cuArray3DCreate_v2(out, &deep);
}

CUresult array_texels(CUarray handle, Texels *texels, unsigned *flags)
{
    enum { LAYERED = 1, CUBEMAP = 4 };
    const Array *array = handle_object(ARRAY, handle);
    if (!array) return fail(CUDA_ERROR_INVALID_HANDLE, "no such array");
    const CUDA_ARRAY3D_DESCRIPTOR *s = &array->shape;
    const bool layered = s->Flags & (LAYERED | CUBEMAP);
    *flags = s->Flags;
    *texels = (Texels){.array = handle,
                       .data = array->data,
                       .pitch = array->pitch,
                       .dimensions = 1 + (s->Height > 0) + (s->Depth > 0 && !layered),
                       .size = {s->Width, array->height, layered ? 1 : array->depth},
                       .layers = layered ? array->depth : 0,
                       .element = array->pitch / s->Width,
                       .channels = s->NumChannels,
                       .format = s->Format};
    return CUDA_SUCCESS;
}

#define NEED_ARRAY(array, handle)                                                                  \
    NEED_CONTEXT(context_);                                                                        \
    Array *array = handle_object(ARRAY, handle);                                                   \
    if (!array) return fail(CUDA_ERROR_INVALID_HANDLE, "no such array")

CUAPI cuArrayDestroy(CUarray handle)
{
    NEED_ARRAY(array, handle);
    tasks_wait_all(array->owner->handle);
    handle_drop(handle);
    array_free(array);
    return CUDA_SUCCESS;
}

ANSWERS(cuArray3DGetDescriptor_v2, (CUDA_ARRAY3D_DESCRIPTOR * shape, CUarray handle),
        NEED_ARRAY(array, handle), *shape = array->shape)

CUAPI cuArrayGetDescriptor_v2(CUDA_ARRAY_DESCRIPTOR *shape, CUarray handle)
{
    NEED_ARRAY(array, handle);
    const CUDA_ARRAY3D_DESCRIPTOR *s = &array->shape;
    *shape = (CUDA_ARRAY_DESCRIPTOR){s->Width, s->Height, s->Format, s->NumChannels};
    return CUDA_SUCCESS;
}

CUAPI cuMemcpyDtoA_v2(CUarray to, size_t offset, CUdeviceptr from, size_t bytes)
{
    NEED_ARRAY(array, to);
    return cuMemcpyDtoD_v2(array->data + offset, from, bytes);
}

CUAPI cuMemcpyAtoD_v2(CUdeviceptr to, CUarray from, size_t offset, size_t bytes)
{
    NEED_ARRAY(array, from);
    return cuMemcpyDtoD_v2(to, array->data + offset, bytes);
}

CUAPI cuMemcpyHtoAAsync_v2(CUarray to, size_t offset, const void *from, size_t bytes,
                           CUstream stream)
{
    NEED_ARRAY(array, to);
    return cuMemcpyHtoDAsync_v2(array->data + offset, from, bytes, stream);
}

CUAPI cuMemcpyAtoHAsync_v2(void *to, CUarray from, size_t offset, size_t bytes, CUstream stream)
{
    NEED_ARRAY(array, from);
    return cuMemcpyDtoHAsync_v2(to, array->data + offset, bytes, stream);
}

CUAPI cuMemcpyHtoA_v2(CUarray to, size_t offset, const void *from, size_t bytes)
{ return cuMemcpyHtoAAsync_v2(to, offset, from, bytes, NULL); }

CUAPI cuMemcpyAtoH_v2(void *to, CUarray from, size_t offset, size_t bytes)
{ return cuMemcpyAtoHAsync_v2(to, from, offset, bytes, NULL); }

CUAPI cuMemcpyAtoA_v2(CUarray to, size_t to_offset, CUarray from, size_t from_offset, size_t bytes)
{
    NEED_ARRAY(target, to);
    Array *source = handle_object(ARRAY, from);
    if (!source) return fail(CUDA_ERROR_INVALID_HANDLE, "no such array");
    return cuMemcpyDtoD_v2(target->data + to_offset, source->data + from_offset, bytes);
}
