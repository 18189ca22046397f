/* Where memory lies, as calls name it. */
#include "internal.h"

enum { LOCATION_NONE, LOCATION_DEVICE, LOCATION_HOST, LOCATION_NUMA, LOCATION_NUMA_CURRENT };
enum { ALLOCATION_PINNED = 1, ALLOCATION_MANAGED = 2 };
CUresult location_kind(MemoryLocation location, int type, int *device, MemoryKind *kind)
{
    if (type != ALLOCATION_PINNED && type != ALLOCATION_MANAGED)
        return fail(CUDA_ERROR_INVALID_VALUE, "there is no allocation type %d", type);
    if (location.type == LOCATION_DEVICE && !is_device(location.id)) return no_such_device();
    if (location.type > LOCATION_NUMA_CURRENT || (!location.type && type == ALLOCATION_PINNED))
        return fail(CUDA_ERROR_INVALID_VALUE, "there is no location type %d", location.type);
    *kind = type == ALLOCATION_MANAGED         ? MANAGED_MEMORY
            : location.type == LOCATION_DEVICE ? DEVICE_MEMORY
                                               : HOST_MEMORY;
    *device = *kind == DEVICE_MEMORY ? location.id : 0;
    return CUDA_SUCCESS;
}

PoolProperties location_of(int device, MemoryKind kind)
{
    const bool managed = kind == MANAGED_MEMORY, on_host = kind == HOST_MEMORY;
    return (PoolProperties){.allocation = managed ? ALLOCATION_MANAGED : ALLOCATION_PINNED,
                            .location = {on_host ? LOCATION_HOST : LOCATION_DEVICE, device}};
}

bool location_is_device(const MemoryLocation *location)
{ return location->type == LOCATION_DEVICE; }

PoolAccess location_read_write(int device)
{ return (PoolAccess){{LOCATION_DEVICE, device}, ACCESS_READ_WRITE}; }

CUresult location_access(const PoolAccess *wanted, size_t count, int own, uint32_t *readers)
{
    for (size_t i = 0; i < count; i++) {
        int device = wanted[i].location.id;
        if (!location_is_device(&wanted[i].location) || !is_device(device)) return no_such_device();
        if (wanted[i].access != ACCESS_READ_WRITE && (wanted[i].access || device == own))
            return fail(CUDA_ERROR_INVALID_VALUE, "device %d has access or none%s", device,
                        device == own ? ", and the memory's own always has" : "");
    }
    for (size_t i = 0; i < count; i++) {
        uint32_t bit = 1u << wanted[i].location.id;
        if (wanted[i].access) *readers |= bit;
        else *readers &= ~bit;
    }
    return CUDA_SUCCESS;
}

Pool *pool_begin(Pool *pool, int device, MemoryKind kind, size_t most)
{
    *pool = (Pool){.device = device,
                   .readers = 1u << device,
                   .kind = kind,
                   .most = most ? most : SIZE_MAX,
                   .reuse = {1, 1, 1}};
    pool->handle = handle_new(POOL, pool);
    return pool;
}
