/* Memory access of kernels: every address is checked before anything is read or written. */
#include <stdio.h>

#include "driver.h"

static const char *verb(const struct Site *s)
{
    switch (s->kind) {
    case SITE_LOAD: return "reads";
    case SITE_STORE: return "writes";
    default: return "updates";
    }
}

/* Tells what is wrong with a lane's address. */
static void bad_access(Warp *w, uint32_t site, uint32_t lane, uint64_t address)
    __attribute__((noreturn));
static void bad_access(Warp *w, uint32_t site, uint32_t lane, uint64_t address)
{
    const Kernel *kernel = w->worker->job->kernel;
    const struct Site *s = &kernel->sites[site];
    const CUresult illegal = CUDA_ERROR_ILLEGAL_ADDRESS;
    uint64_t in_shared = address - (uint64_t)w->shared;
    uint64_t in_local = address - (uint64_t)w->worker->local;
    bool shared = s->space == SPACE_SHARED || in_shared < SHARED_PER_SM;
    bool local = s->space == SPACE_LOCAL || in_local < w->worker->local_room;
    if (address & (s->bytes - 1))
        fault_at(w, site, lane, CUDA_ERROR_MISALIGNED_ADDRESS,
                 "%s %u bytes at 0x%llx, which is not a multiple of %u", verb(s), s->bytes,
                 (unsigned long long)(shared ? in_shared : address), s->bytes);
    if (shared)
        fault_at(w, site, lane, illegal,
                 "%s %u bytes at byte %lld of shared memory; the block has %u bytes of it", verb(s),
                 s->bytes, (long long)in_shared, w->shared_bytes);
    if (local)
        fault_at(w, site, lane, illegal,
                 "%s %u bytes at byte %lld of its local memory, which has %u bytes", verb(s),
                 s->bytes, (long long)(address - (uint64_t)w->local - lane * w->local_stride),
                 kernel->local_bytes);
    char where[400];
    Range block;
    const Allocation *found = memory_find(address);
    HeapAnswer heap = heap_range(kernel->module->owner, address, &block);
    if (found && found->constant) snprintf(where, sizeof where, "which is constant memory");
    else if (found)
        snprintf(where, sizeof where, "where only %llu bytes are left of the %llu-byte allocation",
                 (unsigned long long)(found->end - address),
                 (unsigned long long)(found->end - found->begin));
    else if (heap != NOT_IN_HEAP)
        snprintf(where, sizeof where, "in the heap of malloc, but not inside an allocated block");
    else memory_describe(address, where, sizeof where);
    fault_at(w, site, lane, illegal, "%s %u bytes at 0x%llx, %s", verb(s), s->bytes,
             (unsigned long long)address, where);
}

static bool inside(Range r, uint64_t address, uint32_t bytes)
{ return address >= r.begin && address < r.end && bytes <= r.end - address; }

Range access_reserved_shared(const Warp *w)
{
    if (!w->worker->opens_reserved) return (Range){0, 0};
    return (Range){(uint64_t)w->shared + SHARED_OPTIN, (uint64_t)w->shared + SHARED_PER_SM};
}

uint32_t sg_reserved_shared(Warp *w)
{
    w->worker->opens_reserved = true;
    return SHARED_OPTIN;
}

/* The memory of a space around an address, as far as one lane may reach; false: none. A heap block
   may be freed at any time by another warp, so it must not be remembered. */
static bool reachable(Warp *w, uint32_t lane, uint64_t address, uint8_t space, bool write,
                      Range *range, bool *lasting)
{
    const Job *job = w->worker->job;
    bool generic = space == SPACE_GENERIC;
    *lasting = false;
    if (generic || space == SPACE_GLOBAL || space == SPACE_CONST) {
        const Allocation *found = memory_find(address);
        if (found) {
            *range = (Range){found->begin, found->end};
            *lasting = true;
            return !(found->constant && write);
        }
        if (heap_range(job->kernel->module->owner, address, range) == IN_BLOCK) return true;
    }
    if (generic || space == SPACE_SHARED) {
        uint64_t begin = (uint64_t)w->shared;
        *range = (Range){begin, begin + w->shared_bytes};
        if (inside(*range, address, 1)) return true;
        *range = access_reserved_shared(w);
        if (inside(*range, address, 1)) return true;
    }
    if (generic || space == SPACE_LOCAL) {
        uint64_t begin = (uint64_t)w->local + lane * w->local_stride;
        *range = (Range){begin, begin + job->kernel->local_bytes};
        if (inside(*range, address, 1)) return true;
    }
    if (!write && (generic || space == SPACE_PARAM || space == SPACE_CONST)) {
        uint64_t begin = (uint64_t)w->params;
        *range = (Range){begin, begin + job->kernel->param_bytes};
        if (inside(*range, address, 1)) return true;
    }
    return false;
}

uint64_t access_readable_end(Warp *w, uint32_t lane, uint64_t address)
{
    Range range;
    bool lasting;
    return reachable(w, lane, address, SPACE_GENERIC, false, &range, &lasting) ? range.end : 0;
}

/* Whether all 32 lanes are aligned and inside a range: by signs, which vectors are quick at. */
VECTORISED static bool all_inside(Range range, const uint64_t *addr, uint32_t bytes)
{
    uint64_t low = 0, outside = 0;
    for (uint32_t lane = 0; lane < LANES; lane++) {
        low |= addr[lane];
        outside |= (addr[lane] - range.begin) | (range.end - bytes - addr[lane]);
    }
    return (int64_t)outside >= 0 && !(low & (bytes - 1));
}

/* Checks every active lane; remembers the allocation if all lanes hit the same one. */
void access_check(Warp *w, uint32_t site, const uint64_t *addr, uint32_t mask)
{
    const struct Site *s = &w->worker->job->kernel->sites[site];
    uint32_t bytes = s->bytes, found = 0;
    uint64_t shared = (uint64_t)w->shared;
    Range last =
        s->space == SPACE_SHARED ? (Range){shared, shared + w->shared_bytes} : w->sites[site];
    bool remember = true, lasting;
    if (mask == UINT32_MAX && all_inside(last, addr, bytes)) return;
    FOR_LANES(lane, mask)
    {
        uint64_t address = addr[lane];
        if (address & (bytes - 1)) bad_access(w, site, lane, address);
        if (inside(last, address, bytes)) continue;
        if (!reachable(w, lane, address, s->space, s->kind != SITE_LOAD, &last, &lasting) ||
            !inside(last, address, bytes))
            bad_access(w, site, lane, address);
        remember = remember && lasting && found++ == 0;
    }
    if (found && remember) w->sites[site] = last;
}

/* One element of each lane, at an offset from its address. */
#define MOVE_ONE(type, to, from)                                                                   \
    type *memory = (type *)(addr[lane] + offset);                                                  \
    type *value = (type *)data + lane;                                                             \
    *(to) = *(from);
#define MOVE(type, to, from)                                                                       \
    if (mask == UINT32_MAX)                                                                        \
        for (uint32_t lane = 0; lane < LANES; lane++) { MOVE_ONE(type, to, from) }                 \
    else FOR_LANES(lane, mask)                                                                     \
        { MOVE_ONE(type, to, from) }

static void load_elements(const uint64_t *addr, uint32_t mask, uint32_t offset, uint32_t size,
                          void *data)
{
    switch (size) {
    case 1: MOVE(uint8_t, value, memory) break;
    case 2: MOVE(uint16_t, value, memory) break;
    case 4: MOVE(uint32_t, value, memory) break;
    case 8: MOVE(uint64_t, value, memory) break;
    default: MOVE(__uint128_t, value, memory) break;
    }
}

static void store_elements(const uint64_t *addr, uint32_t mask, uint32_t offset, uint32_t size,
                           const void *data)
{
    switch (size) {
    case 1: MOVE(uint8_t, memory, value) break;
    case 2: MOVE(uint16_t, memory, value) break;
    case 4: MOVE(uint32_t, memory, value) break;
    case 8: MOVE(uint64_t, memory, value) break;
    default: MOVE(__uint128_t, memory, value) break;
    }
}

void access_read(const uint64_t *addr, uint32_t mask, const struct Site *s, void *data)
{
    uint32_t size = s->bytes / s->elements;
    for (uint32_t e = 0; e < s->elements; e++)
        load_elements(addr, mask, e * size, size, (char *)data + e * size * LANES);
}

/* Where lanes write the same address, the highest lane's value stays. */
void access_write(const uint64_t *addr, uint32_t mask, const struct Site *s, const void *data)
{
    uint32_t size = s->bytes / s->elements;
    for (uint32_t e = 0; e < s->elements; e++)
        store_elements(addr, mask, e * size, size, (const char *)data + e * size * LANES);
}

void sg_load(Warp *w, uint32_t site, const uint64_t *addr, uint32_t mask, void *data)
{
    access_check(w, site, addr, mask);
    access_read(addr, mask, &w->worker->job->kernel->sites[site], data);
}

void sg_store(Warp *w, uint32_t site, const uint64_t *addr, uint32_t mask, const void *data)
{
    access_check(w, site, addr, mask);
    access_write(addr, mask, &w->worker->job->kernel->sites[site], data);
}
