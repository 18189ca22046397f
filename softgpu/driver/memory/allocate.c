/* Allocations begin and end: a place in a zone, an entry in the table, and what pools and graphs know of
   them. */
#include "internal.h"

static _Thread_local bool asks_sparse; /* of the device memory that this thread allocates next */

/* It has its pages from now on, and nothing in them. */
static void begin_contents(Allocation *a)
{
    if (a->kind == DEVICE_MEMORY && !a->sparse) a->written = written_new();
    budget_begin(a);
}

CUresult memory_allocate(Context *owner, int device, size_t bytes, MemoryKind kind, unsigned flags,
                         uint64_t *address)
{
    if (!bytes) return fail(CUDA_ERROR_INVALID_VALUE, "an allocation of 0 bytes");
    bool sparse = asks_sparse && kind == DEVICE_MEMORY && bytes >= SMALL_BYTES;
    if (kind != DEVICE_MEMORY) device = ANYWHERE;
    uint64_t begin = budget_fits(device, bytes, sparse) ? zones_place(bytes, kind, sparse) : 0;
    if (!begin) return memory_refuse(bytes);
    if (!table_insert((Allocation){.begin = begin,
                                   .end = begin + bytes,
                                   .kind = kind,
                                   .flags = flags,
                                   .sparse = sparse,
                                   .owner = owner,
                                   .device = device}))
        return fail(CUDA_ERROR_OUT_OF_MEMORY, NULL);
    begin_contents(table_entry(begin));
    *address = begin;
    return CUDA_SUCCESS;
}

void memory_trim_pool(Pool *pool, size_t held)
{
    size_t kept = MIN(pool->reserved, round_up(MIN(held, pool->reserved), POOL_PIECE));
    pool->reserved = MAX(kept, round_up(pool->used, POOL_PIECE));
}

void memory_settle_pool(Pool *pool)
{
    uint64_t now = host_waits();
    if (pool->waits != now) memory_trim_pool(pool, pool->threshold);
    pool->waits = now;
}

void memory_set_pool(uint64_t begin, Pool *pool)
{
    Allocation *a = &table.at[table_after(begin)];
    memory_settle_pool(pool);
    a->pool = pool;
    pool->used += a->end - a->begin;
    pool->high = MAX(pool->high, pool->used);
    pool->reserved = MAX(pool->reserved, round_up(pool->used, POOL_PIECE));
    pool->reserved_high = MAX(pool->reserved_high, pool->reserved);
}

void memory_leave_pool(Pool *pool, size_t bytes)
{
    memory_settle_pool(pool);
    pool->used -= bytes;
    if (!pool->handle && !pool->used) free(pool);
}

void memory_free(uint64_t begin)
{
    size_t i = table_after(begin);
    Allocation *a = &table.at[i];
    uint64_t end = a->end;
    budget_end(a);
    if (a->shared) shared_end(zones_offset(begin));
    if (a->pool) memory_leave_pool(a->pool, end - begin);
    if (a->graph) {
        table_clear(i);
        a->vacant = true;
        a->pool = NULL;
    } else table_remove(i);
    zones_close(begin, end, i);
}

/* ---- addresses of graphs, whose memory comes and goes ---- */

CUresult memory_reserve(Context *owner, int device, size_t bytes, MemoryKind kind,
                        struct GraphMemory *graph, uint32_t readers, uint64_t *address)
{
    CUresult result = memory_allocate(owner, device, bytes, kind, 0, address);
    if (result) return result;
    Allocation *a = table_entry(*address);
    a->graph = graph;
    a->readers = readers;
    memory_free(*address);
    return CUDA_SUCCESS;
}

CUresult memory_occupy(uint64_t begin, Pool *pool)
{
    Allocation *a = table_entry(begin);
    size_t bytes = a->end - begin;
    if (!budget_fits(a->device, bytes, a->sparse) || !zones_open(begin, bytes, a->sparse))
        return memory_refuse(bytes);
    a->vacant = false;
    table_renew(a);
    begin_contents(a);
    memory_set_pool(begin, pool);
    return CUDA_SUCCESS;
}

const Allocation *memory_reserved(uint64_t address)
{
    const Allocation *a = table_entry(address);
    return a && a->graph ? a : NULL;
}

void memory_abandon(uint64_t begin)
{
    Allocation *a = table_entry(begin);
    a->graph = NULL;
    if (a->vacant) table_remove(table_after(begin));
}

/* ---- sparse allocations ---- */

void sg_sparse(int on) { asks_sparse = on; }

int sg_is_sparse(uint64_t address)
{
    driver_lock();
    const Allocation *found = memory_find(address);
    bool sparse = found && found->sparse;
    driver_unlock();
    return sparse;
}

/* ---- ranges that are not ours to give back ---- */

CUresult memory_add_range(Context *owner, uint64_t begin, uint64_t end, MemoryKind kind,
                          unsigned flags, bool constant)
{
    size_t i = table_after(begin);
    if (i < table.count && table.at[i].begin < end)
        return fail(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, NULL);
    if (!table_insert((Allocation){.begin = begin,
                                   .end = end,
                                   .kind = kind,
                                   .flags = flags,
                                   .constant = constant,
                                   .owner = owner,
                                   .device = kind == VARIABLE && owner ? owner->device : ANYWHERE}))
        return fail(CUDA_ERROR_OUT_OF_MEMORY, NULL);
    return CUDA_SUCCESS;
}

void memory_remove_range(uint64_t begin) { table_remove(table_after(begin)); }

void memory_free_all(Context *owner)
{
    for (size_t i = table.count; i-- > 0;) {
        if (table.at[i].owner != owner || table.at[i].kind == VARIABLE || table.at[i].vacant)
            continue;
        if (table.at[i].kind == REGISTERED_MEMORY) table_remove(i);
        else memory_free(table.at[i].begin);
    }
}
