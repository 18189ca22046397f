/* What is known of a pointer, and hints about where memory is used. */
#include "internal.h"

typedef union {
    void *pointer;
    uint64_t number;
    int32_t integer;
    uint32_t word;
} Value;

enum PointerAttribute {
    OF_CONTEXT = 1,
    OF_MEMORY_TYPE,
    OF_DEVICE_POINTER,
    OF_HOST_POINTER,
    OF_SYNC_MEMOPS = 6,
    OF_BUFFER_ID,
    OF_IS_MANAGED,
    OF_DEVICE_ORDINAL,
    OF_IS_IPC_CAPABLE,
    OF_RANGE_START,
    OF_RANGE_SIZE,
    OF_MAPPED,
    OF_HANDLE_TYPES,
    OF_IS_RDMA_CAPABLE,
    OF_ACCESS_FLAGS,
    OF_MEMPOOL,
    OF_MAPPING_SIZE,
    OF_MAPPING_START,
    OF_BLOCK_ID,
    OF_IS_DECOMPRESS_CAPABLE
};

enum { NO_DEVICE = -2, READ_WRITE = 3 };

/* How many bytes an attribute has; 0: there is none of that number here. */
static size_t attribute_bytes(int attribute)
{
    switch (attribute) {
    case OF_CONTEXT:
    case OF_DEVICE_POINTER:
    case OF_HOST_POINTER:
    case OF_BUFFER_ID:
    case OF_RANGE_START:
    case OF_RANGE_SIZE:
    case OF_HANDLE_TYPES:
    case OF_MEMPOOL:
    case OF_MAPPING_SIZE:
    case OF_MAPPING_START:
    case OF_BLOCK_ID: return 8;
    case OF_MEMORY_TYPE:
    case OF_SYNC_MEMOPS:
    case OF_IS_MANAGED:
    case OF_DEVICE_ORDINAL:
    case OF_IS_IPC_CAPABLE:
    case OF_MAPPED:
    case OF_IS_RDMA_CAPABLE:
    case OF_ACCESS_FLAGS:
    case OF_IS_DECOMPRESS_CAPABLE: return 4;
    default: return 0;
    }
}

static bool on_host(const Allocation *a)
{ return a->kind == HOST_MEMORY || a->kind == REGISTERED_MEMORY; }

/* False: the memory has no such thing. */
static bool look_up(const Allocation *a, int attribute, uint64_t address, Value *value)
{
    value->number = 0;
    switch (attribute) {
    case OF_CONTEXT: value->pointer = a->owner ? a->owner->handle : NULL; break;
    case OF_MEMORY_TYPE: value->word = on_host(a) ? MEMORY_HOST : MEMORY_DEVICE; break;
    case OF_HOST_POINTER:
        if (!on_host(a) && a->kind != MANAGED_MEMORY) return false; /* fall through */
    case OF_DEVICE_POINTER: value->number = address; break;
    case OF_BUFFER_ID:
    case OF_BLOCK_ID: value->number = a->id; break;
    case OF_IS_MANAGED: value->word = a->kind == MANAGED_MEMORY; break;
    case OF_RANGE_START:
    case OF_MAPPING_START: value->number = a->begin; break;
    case OF_RANGE_SIZE:
    case OF_MAPPING_SIZE: value->number = a->end - a->begin; break;
    case OF_MAPPED: value->word = 1; break;
    case OF_DEVICE_ORDINAL:
        value->integer = a->device != ANYWHERE ? a->device : a->owner ? a->owner->device : 0;
        break;
    case OF_IS_IPC_CAPABLE: value->word = memory_is_shareable(a); break;
    case OF_ACCESS_FLAGS: value->word = READ_WRITE; break;
    case OF_MEMPOOL: value->pointer = a->pool ? a->pool->handle : NULL; break;
    default: break;
    }
    return true;
}

static void put(void *to, Value value, size_t bytes)
{
    if (bytes == 8) *(uint64_t *)to = value.number;
    else *(uint32_t *)to = value.word;
}

static CUresult no_attribute(int attribute)
{ return fail(CUDA_ERROR_INVALID_VALUE, "there is no pointer attribute %d", attribute); }

CUAPI cuPointerGetAttribute(void *out, int attribute, CUdeviceptr address)
{
    NEED_CONTEXT(context);
    Value value;
    size_t bytes = attribute_bytes(attribute);
    if (!bytes) return no_attribute(attribute);
    driver_lock();
    const Allocation *found = memory_find(address);
    bool known = found && look_up(found, attribute, address, &value);
    driver_unlock();
    if (!known)
        return fail(CUDA_ERROR_INVALID_VALUE, "0x%llx: %s", (unsigned long long)address,
                    found ? "the host cannot reach it" : "not memory that the driver knows");
    put(out, value, bytes);
    return CUDA_SUCCESS;
}

/* Of a pointer that is not known, all is zero, and there is no device. No context is needed for it. */
CUAPI cuPointerGetAttributes(unsigned count, const int *attributes, void **out, CUdeviceptr address)
{
    if (need_init()) return CUDA_ERROR_NOT_INITIALIZED;
    for (unsigned i = 0; i < count; i++)
        if (!attribute_bytes(attributes[i])) return no_attribute(attributes[i]);
    driver_lock();
    const Allocation *found = memory_find(address);
    for (unsigned i = 0; i < count; i++) {
        Value value = {.number = 0};
        if (!found && attributes[i] == OF_DEVICE_ORDINAL) value.integer = NO_DEVICE;
        if (found && !look_up(found, attributes[i], address, &value)) value.number = 0;
        put(out[i], value, attribute_bytes(attributes[i]));
    }
    driver_unlock();
    return CUDA_SUCCESS;
}

CUAPI cuPointerSetAttribute(const void *value, int attribute, CUdeviceptr address)
{
    NEED_CONTEXT(context);
    (void)value;
    if (attribute != OF_SYNC_MEMOPS)
        return fail(CUDA_ERROR_INVALID_VALUE, "pointer attribute %d cannot be set", attribute);
    driver_lock();
    const Allocation *found = memory_find(address);
    driver_unlock();
    return found ? CUDA_SUCCESS : fail(CUDA_ERROR_INVALID_VALUE, "not memory of the driver");
}

/* ---- hints: checked, and without effect, as all memory is in one place ---- */

static CUresult check_managed(CUdeviceptr address, size_t bytes)
{
    NEED_CONTEXT(context);
    driver_lock();
    const Allocation *found = memory_find(address);
    bool right = bytes && found && found->kind == MANAGED_MEMORY && bytes <= found->end - address;
    driver_unlock();
    return right ? CUDA_SUCCESS
                 : fail(CUDA_ERROR_INVALID_VALUE, "%zu bytes at 0x%llx are not managed memory",
                        bytes, (unsigned long long)address);
}

static CUresult check_location(MemoryLocation location)
{
    enum { LOCATION_DEVICE = 1 };
    bool right = location.type != LOCATION_DEVICE || is_device(location.id);
    return right ? CUDA_SUCCESS : no_such_device();
}

CUAPI cuMemAdvise_v2(CUdeviceptr address, size_t bytes, int advice, MemoryLocation location)
{
    enum { FIRST_ADVICE = 1, LAST_ADVICE = 6 };
    if (check_location(location)) return CUDA_ERROR_INVALID_DEVICE;
    if (advice < FIRST_ADVICE || advice > LAST_ADVICE)
        return fail(CUDA_ERROR_INVALID_VALUE, "there is no advice %d", advice);
    return check_managed(address, bytes);
}

CUAPI cuMemPrefetchAsync_v2(CUdeviceptr address, size_t bytes, MemoryLocation location,
                            unsigned flags, CUstream stream)
{
    if (check_location(location)) return CUDA_ERROR_INVALID_DEVICE;
    if (flags) return fail(CUDA_ERROR_INVALID_VALUE, "flags must be 0");
    if (!stream_valid(stream)) return fail(CUDA_ERROR_INVALID_HANDLE, "no such stream");
    return check_managed(address, bytes);
}
