/* Memory access of kernels: every address is checked before anything is read or written. */
#include <stdio.h>

#include "driver.h"

typedef struct {
    Warp *w;
    uint32_t site;
    const uint64_t *addr;
    uint32_t mask;
    uint32_t bytes; /* of one lane */
} Access;

static const char *verb(const struct Site *s)
{
    switch (s->kind) {
    case SITE_LOAD: return "reads";
    case SITE_STORE: return "writes";
    default: return "updates";
    }
}

static const char *shared_text(const Warp *w, char *text, size_t room, uint64_t address)
{
    int64_t offset = (int64_t)(address - (uint64_t)w->shared);
    snprintf(text, room, "byte %lld of shared memory; the block has %u bytes of it",
             (long long)offset, w->shared_bytes);
    return text;
}

/* Tells what is wrong with a lane's address. */
static void bad_access(const Access *a, uint32_t lane) __attribute__((noreturn));
static void bad_access(const Access *a, uint32_t lane)
{
    Warp *w = a->w;
    const Job *job = w->worker->job;
    const struct Site *s = &job->kernel->sites[a->site];
    uint64_t address = a->addr[lane], shared = (uint64_t)w->shared;
    char where[400];
    bool in_shared = address - shared < SHARED_PER_SM || s->space == SPACE_SHARED;
    if (address % a->bytes)
        fault_at(w, a->site, lane, CUDA_ERROR_MISALIGNED_ADDRESS,
                 "%s %u bytes at 0x%llx, which is not a multiple of %u", verb(s), a->bytes,
                 (unsigned long long)(in_shared ? address - shared : address), a->bytes);
    if (in_shared) {
        fault_at(w, a->site, lane, CUDA_ERROR_ILLEGAL_ADDRESS, "%s %u bytes at %s", verb(s),
                 a->bytes, shared_text(w, where, sizeof where, address));
    }
    uint64_t all_local = w->local_stride * LANES * job->warps, local = (uint64_t)w->worker->local;
    if (s->space == SPACE_LOCAL || (w->local_stride && address - local < all_local)) {
        uint64_t own = (uint64_t)w->local + lane * w->local_stride;
        fault_at(w, a->site, lane, CUDA_ERROR_ILLEGAL_ADDRESS,
                 "%s %u bytes at byte %lld of its local memory, which has %u bytes", verb(s),
                 a->bytes, (long long)(address - own), job->kernel->local_bytes);
    }
    const Allocation *found = memory_find(address);
    if (found && found->constant)
        fault_at(w, a->site, lane, CUDA_ERROR_ILLEGAL_ADDRESS,
                 "%s %u bytes at 0x%llx, which is constant memory", verb(s), a->bytes,
                 (unsigned long long)address);
    memory_describe(found ? found->end : address, where, sizeof where);
    fault_at(w, a->site, lane, CUDA_ERROR_ILLEGAL_ADDRESS, "%s %u bytes at 0x%llx, %s", verb(s),
             a->bytes, (unsigned long long)address, where);
}

static bool inside(Range r, uint64_t address, uint32_t bytes)
{
    return address >= r.begin && address < r.end && bytes <= r.end - address;
}

/* The range of memory that one lane may reach around an address; false: none. Heap blocks may be
   freed at any time by another warp, so they are never remembered. */
static bool reachable(const Access *a, uint32_t lane, Range *range, bool *remember)
{
    Warp *w = a->w;
    const Job *job = w->worker->job;
    const struct Site *s = &job->kernel->sites[a->site];
    uint64_t address = a->addr[lane];
    *remember = false;
    if (s->space != SPACE_LOCAL && s->space != SPACE_SHARED && s->space != SPACE_PARAM) {
        const Allocation *found = memory_find(address);
        if (found) {
            *range = (Range){found->begin, found->end};
            *remember = true;
            return !found->constant || s->kind == SITE_LOAD;
        }
        if (heap_range(address, range)) return true;
    }
    uint64_t shared = (uint64_t)w->shared, local = (uint64_t)w->local + lane * w->local_stride;
    if (s->space == SPACE_SHARED || s->space == SPACE_GENERIC) {
        *range = (Range){shared, shared + w->shared_bytes};
        if (inside(*range, address, a->bytes)) return true;
    }
    if (s->space == SPACE_LOCAL || s->space == SPACE_GENERIC) {
        *range = (Range){local, local + job->kernel->local_bytes};
        if (inside(*range, address, a->bytes)) return true;
    }
    if (s->space == SPACE_PARAM || s->space == SPACE_GENERIC || s->space == SPACE_CONST) {
        uint64_t params = (uint64_t)w->params;
        *range = (Range){params, params + job->kernel->param_bytes};
        return s->kind == SITE_LOAD && inside(*range, address, a->bytes);
    }
    return false;
}

/* Checks every active lane; remembers the allocation if all lanes hit the same one. */
static void check(const Access *a)
{
    Range last = a->w->sites[a->site];
    bool remember = true;
    uint32_t found = 0;
    FOR_LANES(lane, a->mask) {
        uint64_t address = a->addr[lane];
        if (address & (a->bytes - 1)) bad_access(a, lane);
        if (inside(last, address, a->bytes)) continue;
        bool lasting;
        if (!reachable(a, lane, &last, &lasting) || !inside(last, address, a->bytes))
            bad_access(a, lane);
        remember = remember && lasting && found++ == 0;
    }
    if (found && remember) a->w->sites[a->site] = last;
}

static Access begin(Warp *w, uint32_t site, const uint64_t *addr, uint32_t mask)
{
    return (Access){w, site, addr, mask, w->worker->job->kernel->sites[site].bytes};
}

/* One element of each lane, at an offset from its address. */
#define MOVE(type, to, from) \
    FOR_LANES(lane, mask) { \
        type *memory = (type *)(addr[lane] + offset); \
        type *value = (type *)data + lane; \
        *(to) = *(from); \
    }

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

void sg_load(Warp *w, uint32_t site, const uint64_t *addr, uint32_t mask, void *data)
{
    Access a = begin(w, site, addr, mask);
    uint32_t elements = w->worker->job->kernel->sites[site].elements, size = a.bytes / elements;
    check(&a);
    for (uint32_t e = 0; e < elements; e++)
        load_elements(addr, mask, e * size, size, (char *)data + e * size * LANES);
}

void sg_store(Warp *w, uint32_t site, const uint64_t *addr, uint32_t mask, const void *data)
{
    Access a = begin(w, site, addr, mask);
    uint32_t elements = w->worker->job->kernel->sites[site].elements, size = a.bytes / elements;
    check(&a);
    /* where lanes write the same address, the highest lane's value stays */
    for (uint32_t e = 0; e < elements; e++)
        store_elements(addr, mask, e * size, size, (const char *)data + e * size * LANES);
}
