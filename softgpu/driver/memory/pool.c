/* Memory pools. What is allocated in the order of a stream is there when the call returns, and what
   is freed has gone; so a pool holds back nothing. It counts as reserved what a GPU's would hold. */
#include <stdlib.h>

#include "internal.h"

/* For each kind of memory: the pool that is always there, and the one that stands for it. */
typedef struct {
    Pool always, *chosen;
} Pools;
static Pools pools[MOST_DEVICES][MANAGED_MEMORY + 1]; /* of device 0, where they are of none */

static Pools *pools_of(int device, MemoryKind kind)
{
    static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER;
    Pools *of = &pools[device][kind];
    pthread_mutex_lock(&first);
    if (!of->chosen) of->chosen = pool_begin(&of->always, device, kind, 0);
    pthread_mutex_unlock(&first);
    return of;
}

#define NEED_POOL(pool, handle)                                                                    \
    Pool *pool = handle_object(POOL, handle);                                                      \
    if (!pool) return fail(CUDA_ERROR_INVALID_VALUE, "no such memory pool")

/* ---- allocating ---- */

/* The graph that a stream's work becomes, or NULL. */
static Graph *graph_of(CUstream stream)
{ return handle_object(GRAPH, capture_state(stream).graph); }

/* As a node of the graph, with what is its pool's. */
static CUresult capture_take(CUdeviceptr *out, size_t bytes, const Pool *pool, CUstream stream)
{
    PoolAccess access[MOST_DEVICES];
    NodeParams params = {.type = NODE_MEM_ALLOC,
                         .alloc = {location_of(pool->device, pool->kind), access, 0, bytes}};
    for (int device = 0; device < device_count(); device++)
        if (device != pool->device && pool->readers >> device & 1)
            access[params.alloc.access_count++] = location_read_write(device);
    CUresult result = graph_allocate(graph_of(stream), &params.alloc);
    if (!result) result = capture_node(stream, &params, NULL, NULL);
    if (!result) *out = params.alloc.address;
    return result;
}

static CUresult take(CUdeviceptr *out, size_t bytes, Pool *pool, CUstream stream)
{
    NEED_CONTEXT(context);
    bool captured;
    CUresult result = stream_begin(stream, &captured);
    if (result) return result;
    if (!bytes) return *out = 0, CUDA_SUCCESS;
    if (captured) return capture_take(out, bytes, pool, stream);
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
    bool captured;
    CUresult result = stream_begin(stream, &captured);
    if (result || !address) return result; /* no bytes, as taken from a pool */
    if (captured) {
        const NodeParams params = {.type = NODE_MEM_FREE, .freed = address};
        result = graph_frees(graph_of(stream), address);
        return result ? result : capture_node(stream, &params, NULL, NULL);
    }
    return stream_do(stream, give_back, &address, sizeof address);
}

/* ---- pools ---- */

CUAPI cuMemPoolCreate(void **out, const PoolProperties *wanted)
{
    MemoryKind kind;
    int device;
    if (need_init()) return CUDA_ERROR_NOT_INITIALIZED;
    CUresult result = location_kind(wanted->location, wanted->allocation, &device, &kind);
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

ANSWERS(cuDeviceGetDefaultMemPool, (void **out, CUdevice device), NEED_DEVICE(device),
        *out = pools_of(device, DEVICE_MEMORY)->always.handle)

ANSWERS(cuDeviceGetMemPool, (void **out, CUdevice device), NEED_DEVICE(device),
        *out = pools_of(device, DEVICE_MEMORY)->chosen->handle)

CUAPI cuDeviceSetMemPool(CUdevice device, void *pool)
{
    NEED_DEVICE(device);
    return choose(device, DEVICE_MEMORY, pool);
}

CUAPI cuMemGetDefaultMemPool(void **out, const MemoryLocation *location, int type)
{
    MemoryKind kind;
    int device;
    CUresult result = location_kind(*location, type, &device, &kind);
    if (!result) *out = pools_of(device, kind)->always.handle;
    return result;
}

CUAPI cuMemGetMemPool(void **out, const MemoryLocation *location, int type)
{
    MemoryKind kind;
    int device;
    CUresult result = location_kind(*location, type, &device, &kind);
    if (!result) *out = pools_of(device, kind)->chosen->handle;
    return result;
}

CUAPI cuMemSetMemPool(const MemoryLocation *location, int type, void *pool)
{
    MemoryKind kind;
    int device;
    CUresult result = location_kind(*location, type, &device, &kind);
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
    driver_lock();
    CUresult result = location_access(wanted, count, pool->device, &pool->readers);
    driver_unlock();
    return result;
}

CUAPI cuMemPoolGetAccess(int *access, void *handle, const MemoryLocation *location)
{
    NEED_POOL(pool, handle);
    bool of_device = location_is_device(location);
    if (of_device && !is_device(location->id)) return no_such_device();
    *access = of_device && !(pool->readers >> location->id & 1) ? 0 : ACCESS_READ_WRITE;
    return CUDA_SUCCESS;
}
