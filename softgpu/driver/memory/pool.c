/* Memory pools. What is allocated in the order of a stream is there when the call returns, and what
   is freed has gone; so a pool holds back nothing. It counts as reserved what a GPU's would hold. */
#include <stdlib.h>

#include "driver.h"

enum { LOCATION_NONE, LOCATION_DEVICE, LOCATION_HOST, LOCATION_NUMA, LOCATION_NUMA_CURRENT };
enum { ALLOCATION_PINNED = 1, ALLOCATION_MANAGED = 2 };
enum { ACCESS_READ_WRITE = 3 };

/* For each kind of memory: the pool that is always there, and the one that stands for it. */
typedef struct {
    Pool always, *chosen;
} Pools;
static Pools pools[MOST_DEVICES][MANAGED_MEMORY + 1]; /* of device 0, where they are of none */

static Pool *pool_begin(Pool *pool, int device, MemoryKind kind, size_t most)
{
    *pool = (Pool){.device = device,
                   .readers = 1u << device,
                   .kind = kind,
                   .most = most ? most : SIZE_MAX,
                   .reuse = {1, 1, 1}};
    pool->handle = handle_new(POOL, pool);
    return pool;
}

static Pools *pools_of(int device, MemoryKind kind)
{
    static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER;
    Pools *of = &pools[device][kind];
    pthread_mutex_lock(&first);
    if (!of->chosen) of->chosen = pool_begin(&of->always, device, kind, 0);
    pthread_mutex_unlock(&first);
    return of;
}

static CUresult kind_of(MemoryLocation location, int type, int *device, MemoryKind *kind)
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

#define NEED_POOL(pool, handle)                                                                    \
    Pool *pool = handle_object(POOL, handle);                                                      \
    if (!pool) return fail(CUDA_ERROR_INVALID_VALUE, "no such memory pool")

/* ---- allocating ---- */

/* Whether a stream can be given work on a pool's memory, of which graphs have none. */
static CUresult check_stream(CUstream stream)
{
    bool captured;
    CUresult result = stream_begin(stream, &captured);
    if (result || !captured) return result;
    return capture_refuse(stream, CUDA_ERROR_NOT_SUPPORTED,
                          "the software GPU does not support allocations in graphs; allocate "
                          "before the capture begins, and free after it has ended");
}

static CUresult take(CUdeviceptr *out, size_t bytes, Pool *pool, CUstream stream)
{
    NEED_CONTEXT(context);
    CUresult result = check_stream(stream);
    if (result) return result;
    if (!bytes) return *out = 0, CUDA_SUCCESS;
    driver_lock();
    result =
        bytes > pool->most - pool->used
            ? fail(CUDA_ERROR_OUT_OF_MEMORY, "%zu bytes asked for; the pool has %zu, %zu in use",
                   bytes, pool->most, pool->used)
            : memory_allocate(context, pool->device, bytes, pool->kind, 0, out);
    if (!result) memory_set_pool(*out, pool);
    driver_unlock();
    return result;
}

CUAPI cuMemAllocAsync(CUdeviceptr *out, size_t bytes, CUstream stream)
{
    NEED_CONTEXT(context);
    return take(out, bytes, pools_of(context->device, DEVICE_MEMORY)->chosen, stream);
}

CUAPI cuMemAllocFromPoolAsync(CUdeviceptr *out, size_t bytes, void *handle, CUstream stream)
{
    NEED_POOL(pool, handle);
    return take(out, bytes, pool, stream);
}

static CUresult give_back(void *address) { return memory_release(*(CUdeviceptr *)address); }

CUAPI cuMemFreeAsync(CUdeviceptr address, CUstream stream)
{
    CUresult result = check_stream(stream);
    if (result || !address) return result; /* no bytes, as taken from a pool */
    return stream_do(stream, give_back, &address, sizeof address);
}

/* ---- pools ---- */

CUAPI cuMemPoolCreate(void **out, const PoolProperties *wanted)
{
    MemoryKind kind;
    int device;
    if (need_init()) return CUDA_ERROR_NOT_INITIALIZED;
    CUresult result = kind_of(wanted->location, wanted->allocation, &device, &kind);
    if (result) return result;
    if (wanted->handles)
        return fail(CUDA_ERROR_NOT_SUPPORTED,
                    "the software GPU does not support memory shared between processes");
    Pool *pool = malloc(sizeof *pool);
    if (!pool) return fail(CUDA_ERROR_OUT_OF_MEMORY, NULL);
    *out = pool_begin(pool, device, kind, wanted->most)->handle;
    return CUDA_SUCCESS;
}

CUAPI cuMemPoolDestroy(void *handle)
{
    NEED_POOL(pool, handle);
    Pools *of = pools_of(pool->device, pool->kind);
    if (pool == &of->always)
        return fail(CUDA_ERROR_INVALID_VALUE, "the default pool cannot be destroyed");
    if (of->chosen == pool) of->chosen = &of->always;
    driver_lock();
    handle_drop(handle);
    pool->handle = NULL;
    memory_leave_pool(pool, 0);
    driver_unlock();
    return CUDA_SUCCESS;
}

static CUresult choose(int device, MemoryKind kind, void *handle)
{
    NEED_POOL(pool, handle);
    if (pool->kind != kind || pool->device != device)
        return fail(CUDA_ERROR_INVALID_VALUE, "the pool is of memory in another place");
    pools_of(device, kind)->chosen = pool;
    return CUDA_SUCCESS;
}

CUAPI cuDeviceGetDefaultMemPool(void **out, CUdevice device)
{
    NEED_DEVICE(device);
    *out = pools_of(device, DEVICE_MEMORY)->always.handle;
    return CUDA_SUCCESS;
}

CUAPI cuDeviceGetMemPool(void **out, CUdevice device)
{
    NEED_DEVICE(device);
    *out = pools_of(device, DEVICE_MEMORY)->chosen->handle;
    return CUDA_SUCCESS;
}

CUAPI cuDeviceSetMemPool(CUdevice device, void *pool)
{
    NEED_DEVICE(device);
    return choose(device, DEVICE_MEMORY, pool);
}

CUAPI cuMemGetDefaultMemPool(void **out, const MemoryLocation *location, int type)
{
    MemoryKind kind;
    int device;
    CUresult result = kind_of(*location, type, &device, &kind);
    if (!result) *out = pools_of(device, kind)->always.handle;
    return result;
}

CUAPI cuMemGetMemPool(void **out, const MemoryLocation *location, int type)
{
    MemoryKind kind;
    int device;
    CUresult result = kind_of(*location, type, &device, &kind);
    if (!result) *out = pools_of(device, kind)->chosen->handle;
    return result;
}

CUAPI cuMemSetMemPool(const MemoryLocation *location, int type, void *pool)
{
    MemoryKind kind;
    int device;
    CUresult result = kind_of(*location, type, &device, &kind);
    return result ? result : choose(device, kind, pool);
}

CUAPI cuMemPoolTrimTo(void *handle, size_t bytes)
{
    NEED_POOL(pool, handle);
    driver_lock();
    memory_trim_pool(pool, bytes);
    driver_unlock();
    return CUDA_SUCCESS;
}

enum { REUSE_FIRST = 1, REUSE_LAST = 3, THRESHOLD, RESERVED, RESERVED_HIGH, USED, USED_HIGH };

CUAPI cuMemPoolGetAttribute(void *handle, int attribute, void *value)
{
    NEED_POOL(pool, handle);
    driver_lock();
    memory_settle_pool(pool);
    driver_unlock();
    switch (attribute) {
    case REUSE_FIRST ... REUSE_LAST: *(int *)value = pool->reuse[attribute - REUSE_FIRST]; break;
    case THRESHOLD: *(uint64_t *)value = pool->threshold; break;
    case RESERVED: *(uint64_t *)value = pool->reserved; break;
    case RESERVED_HIGH: *(uint64_t *)value = pool->reserved_high; break;
    case USED: *(uint64_t *)value = pool->used; break;
    case USED_HIGH: *(uint64_t *)value = pool->high; break;
    default: return fail(CUDA_ERROR_INVALID_VALUE, "there is no attribute %d", attribute);
    }
    return CUDA_SUCCESS;
}

CUAPI cuMemPoolSetAttribute(void *handle, int attribute, const void *value)
{
    NEED_POOL(pool, handle);
    switch (attribute) {
    case REUSE_FIRST ... REUSE_LAST: pool->reuse[attribute - REUSE_FIRST] = *(int *)value; break;
    case THRESHOLD: pool->threshold = *(uint64_t *)value; break;
    case RESERVED_HIGH:
    case USED_HIGH:
        if (*(uint64_t *)value) return fail(CUDA_ERROR_INVALID_VALUE, "a peak is reset to 0 only");
        if (attribute == USED_HIGH) pool->high = pool->used;
        else pool->reserved_high = pool->reserved;
        break;
    default: return fail(CUDA_ERROR_INVALID_VALUE, "attribute %d cannot be set", attribute);
    }
    return CUDA_SUCCESS;
}

CUAPI cuMemPoolSetAccess(void *handle, const PoolAccess *wanted, size_t count)
{
    NEED_POOL(pool, handle);
    for (size_t i = 0; i < count; i++) {
        int device = wanted[i].location.id;
        if (wanted[i].location.type != LOCATION_DEVICE || !is_device(device))
            return no_such_device();
        if (wanted[i].access != ACCESS_READ_WRITE && (wanted[i].access || device == pool->device))
            return fail(CUDA_ERROR_INVALID_VALUE, "device %d has access or none%s", device,
                        device == pool->device ? ", and the pool's own always has" : "");
    }
    driver_lock();
    for (size_t i = 0; i < count; i++) {
        uint32_t bit = 1u << wanted[i].location.id;
        if (wanted[i].access) pool->readers |= bit;
        else pool->readers &= ~bit;
    }
    driver_unlock();
    return CUDA_SUCCESS;
}

CUAPI cuMemPoolGetAccess(int *access, void *handle, const MemoryLocation *location)
{
    NEED_POOL(pool, handle);
    if (location->type == LOCATION_DEVICE && !is_device(location->id)) return no_such_device();
    bool reads = location->type != LOCATION_DEVICE || pool->readers >> location->id & 1;
    *access = reads ? ACCESS_READ_WRITE : 0;
    return CUDA_SUCCESS;
}
