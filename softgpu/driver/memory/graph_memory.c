/* Memory of graphs: its address is there as long as a node, or a copy of it, that allocates it; what
   lies at the address, from a launch of that node until it is freed. */
#include <string.h>

#include "internal.h"

typedef struct GraphMemory {
    uint64_t address;
    CUgraph graph;    /* with the node that allocates it */
    CUgraph freed_by; /* with a node that frees it, or NULL */
    PoolAccess access[];
} GraphMemory;

/* ---- what a device's graphs hold: what they have had stays theirs until it is trimmed ---- */

typedef struct {
    Pool pool;
    size_t highs[2]; /* used, reserved */
} GraphPool;

static GraphPool *pool_of(int device)
{
    static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER;
    static GraphPool pools[MOST_DEVICES];
    GraphPool *of = &pools[device == ANYWHERE ? 0 : device];
    pthread_mutex_lock(&first);
    if (!of->pool.handle) {
        pool_begin(&of->pool, of - pools, DEVICE_MEMORY, 0);
        of->pool.threshold = SIZE_MAX;
    }
    pthread_mutex_unlock(&first);
    return of;
}

/* The current amount, with both peaks up to it. */
static size_t settle(GraphPool *of)
{
    for (int i = 0; i < 2; i++) of->highs[i] = MAX(of->highs[i], of->pool.reserved_high);
    return of->pool.reserved_high = of->pool.reserved;
}

enum { USED, USED_HIGH, RESERVED, RESERVED_HIGH };

CUAPI cuDeviceGetGraphMemAttribute(CUdevice device, int attribute, uint64_t *value)
{
    NEED_DEVICE(device);
    if (attribute < USED || attribute > RESERVED_HIGH || !value)
        return fail(CUDA_ERROR_INVALID_VALUE, "no place for attribute %d, or none such", attribute);
    GraphPool *of = pool_of(device);
    driver_lock();
    size_t now = settle(of);
    *value = attribute % 2 ? of->highs[attribute / 2] : now;
    driver_unlock();
    return CUDA_SUCCESS;
}

CUAPI cuDeviceSetGraphMemAttribute(CUdevice device, int attribute, const uint64_t *value)
{
    NEED_DEVICE(device);
    if ((attribute != USED_HIGH && attribute != RESERVED_HIGH) || !value || *value)
        return fail(CUDA_ERROR_INVALID_VALUE, "only peaks are set, and to 0 only");
    GraphPool *of = pool_of(device);
    driver_lock();
    of->highs[attribute / 2] = settle(of);
    driver_unlock();
    return CUDA_SUCCESS;
}

CUAPI cuDeviceGraphMemTrim(CUdevice device)
{
    NEED_DEVICE(device);
    Pool *pool = &pool_of(device)->pool;
    driver_lock();
    memory_trim_pool(pool, 0);
    driver_unlock();
    return CUDA_SUCCESS;
}

/* ---- nodes ---- */

static CUresult check_graph(const Graph *graph)
{
    if (!graph) return fail(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, "the graph was destroyed");
    return graph->within
               ? fail(CUDA_ERROR_NOT_SUPPORTED, "the graph of a child, or the body of a condition, "
                                                "gets no nodes that allocate or free memory")
               : CUDA_SUCCESS;
}

/* Nobody needs the address any more, except for memory that is still there. */
static void let_go(void *data)
{
    GraphMemory *memory = data;
    driver_lock();
    memory_abandon(memory->address);
    driver_unlock();
    free(memory);
}

CUresult graph_allocate(Graph *graph, AllocNode *node)
{
    NEED_CONTEXT(context);
    MemoryKind kind;
    int device;
    uint32_t readers = 0;
    const size_t count = node->access_count;
    CUresult result = check_graph(graph);
    if (!result)
        result = location_kind(node->where.location, node->where.allocation, &device, &kind);
    if (!result && node->where.handles)
        result = fail(CUDA_ERROR_INVALID_VALUE, "processes cannot share memory of graphs");
    if (!result && count && !node->access)
        result = fail(CUDA_ERROR_INVALID_VALUE, "no access descriptors");
    if (!result) result = location_access(node->access, count, device, &readers);
    if (result) return result;
    GraphMemory *memory = malloc(sizeof *memory + count * sizeof *memory->access);
    if (!memory) return fail(CUDA_ERROR_OUT_OF_MEMORY, NULL);
    *memory = (GraphMemory){.graph = graph->handle};
    if (count) memcpy(memory->access, node->access, count * sizeof *memory->access);
    driver_lock();
    result = memory_reserve(context, device, node->bytes, kind, memory, readers, &memory->address);
    driver_unlock();
    if (result) {
        free(memory);
        return result;
    }
    node->address = memory->address;
    node->access = count ? memory->access : NULL;
    if (graph_own(graph, memory, let_go)) return CUDA_SUCCESS;
    let_go(memory);
    return fail(CUDA_ERROR_OUT_OF_MEMORY, NULL);
}

CUresult graph_frees(const Graph *graph, CUdeviceptr address)
{
    CUresult result = check_graph(graph);
    if (result) return result;
    driver_lock();
    const Allocation *found = memory_reserved(address);
    GraphMemory *memory = found && found->begin == address ? found->graph : NULL;
    CUgraph by = memory ? memory->freed_by : NULL;
    bool twice =
        by && (by == graph->handle || by == memory->graph || graph->handle == memory->graph);
    if (memory && !twice) memory->freed_by = graph->handle;
    driver_unlock();
    if (!memory)
        return fail(CUDA_ERROR_INVALID_VALUE,
                    "0x%llx is not the beginning of memory that a node of a graph allocates",
                    (unsigned long long)address);
    return twice ? fail(CUDA_ERROR_INVALID_VALUE, "a node of graph %p frees the memory already", by)
                 : CUDA_SUCCESS;
}

/* ---- launches ---- */

bool graph_memory_is_there(CUdeviceptr address)
{
    driver_lock();
    bool there = memory_find(address);
    driver_unlock();
    return there;
}

CUresult graph_memory_begin(CUdeviceptr address)
{
    driver_lock();
    const Allocation *found = memory_reserved(address);
    CUresult result = found->vacant ? memory_occupy(address, &pool_of(found->device)->pool)
                                    : fail(CUDA_ERROR_INVALID_VALUE, "the memory is there already");
    driver_unlock();
    return result;
}
