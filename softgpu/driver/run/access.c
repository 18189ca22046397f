/* Memory access of kernels: every address is checked before anything is read or written. */
#include <stdio.h>
#include <string.h>

#include "internal.h"
#include "lanes.h"

static const char *verb(const struct Site *s)
{
    switch (s->kind) {
    case SITE_LOAD: return "reads";
    case SITE_STORE: return "writes";
    default: return "updates";
    }
}

uint32_t access_used(const Warp *w, const struct Site *s, uint32_t lane)
{
    if (!w->lengths || w->lengths[lane] >= s->bytes) return s->used;
    return (1u << w->lengths[lane]) - 1;
}

/* Of the bytes of a lane's access, those from the first to the last that it is for. */
static Range used_bytes(const Warp *w, const struct Site *s, uint32_t lane)
{
    uint32_t used = access_used(w, s, lane);
    if (!used) return (Range){0, s->bytes};
    return (Range){__builtin_ctz(used), 32 - __builtin_clz(used)};
}

/* Says of a global address what is there. */
static void __attribute__((noreturn)) outside(Warp *w, uint32_t site, uint32_t lane,
                                              uint64_t address, uint32_t bytes)
{
    const CUresult illegal = CUDA_ERROR_ILLEGAL_ADDRESS;
    const Kernel *kernel = w->worker->job->kernel;
    Context *context = kernel->module->owner;
    const char *does = verb(&kernel->sites[site]);
    const AddressText at = address_text(address);
    const Allocation *found = memory_find(address);
    char where[400];
    Range block;
    if (found && !peer_reaches(context, found))
        fault_at(w, site, lane, illegal, OTHER_DEVICE, does, bytes, at.text, found->device,
                 context->device);
    if (found && found->constant) fault_at(w, site, lane, illegal, CONSTANT, does, bytes, at.text);
    if (found)
        fault_at(w, site, lane, illegal, PARTLY_OUTSIDE, does, bytes, at.text,
                 (unsigned long long)(found->end - address),
                 (unsigned long long)(found->end - found->begin));
    if (heap_range(context, address, &block) != NOT_IN_HEAP)
        fault_at(w, site, lane, illegal, NOT_IN_HEAP_BLOCK, does, bytes, at.text);
    if (addresses_hidden() && address >> 32)
        fault_by_lane(w, site, lane, illegal, FAULT_OUTSIDE, WORDS_SOMEWHERE_OUTSIDE, does, bytes);
    memory_describe(address, where, sizeof where);
    fault_at(w, site, lane, illegal, OUTSIDE, does, bytes, at.text, where);
}

/* Tells what is wrong with a lane's address. */
static void bad_access(Warp *w, uint32_t site, uint32_t lane, uint64_t address)
    __attribute__((noreturn));
static void bad_access(Warp *w, uint32_t site, uint32_t lane, uint64_t address)
{
    const Kernel *kernel = w->worker->job->kernel;
    const struct Site *s = &kernel->sites[site];
    const CUresult illegal = CUDA_ERROR_ILLEGAL_ADDRESS;
    const Range used = used_bytes(w, s, lane);
    uint32_t bytes = used.end - used.begin;
    uint64_t in_shared = address - (uint64_t)w->shared;
    uint64_t in_local = address - (uint64_t)w->worker->local;
    bool shared = s->space == SPACE_SHARED || in_shared < SM_SHARED;
    bool local = s->space == SPACE_LOCAL || in_local < w->worker->local_room;
    if (address & (s->bytes - 1))
        fault_at(w, site, lane, CUDA_ERROR_MISALIGNED_ADDRESS, MISALIGNED, verb(s), s->bytes,
                 address_text(shared ? in_shared : address).text, s->bytes);
    address += used.begin;
    const uint32_t rank = (uint32_t)(in_shared + w->window) >> CLUSTER_RANK_BIT;
    if (s->space == SPACE_SHARED && w->worker->cluster->blocks > 1 &&
        rank != w->window >> CLUSTER_RANK_BIT)
        fault_at(w, site, lane, CUDA_ERROR_ILLEGAL_INSTRUCTION, NOT_OWN_SHARED, verb(s), bytes,
                 (uint32_t)(in_shared + w->window), rank, w->window >> CLUSTER_RANK_BIT);
    if (shared)
        fault_at(w, site, lane, illegal, BEYOND_SHARED, verb(s), bytes,
                 (long long)(address - (uint64_t)w->shared), w->shared_bytes);
    if (local)
        fault_at(w, site, lane, illegal, BEYOND_LOCAL, verb(s), bytes,
                 (long long)(address - (uint64_t)w->local - lane * w->local_stride),
                 kernel->local_bytes);
    const Worker *owner = cluster_owner(w->worker, address);
    if (owner && owner != w->worker)
        fault_at(w, site, lane, owner->live_threads ? illegal : CUDA_ERROR_LAUNCH_FAILED,
                 BEYOND_ITS_SHARED, verb(s), bytes,
                 (unsigned long long)(address - (uint64_t)owner->shared), owner->ctaid[0],
                 owner->ctaid[1], owner->ctaid[2],
                 owner->live_threads ? "less of it" : "ended: cluster.sync() before its end");
    if (s->space == SPACE_CLUSTER ||
        (w->worker->cluster->blocks > 1 && address - (uint64_t)w->cluster_shared < 1ull << 32))
        fault_at(w, site, lane, CUDA_ERROR_LAUNCH_FAILED, NO_SUCH_BLOCK, verb(s), bytes,
                 (long long)(address - (uint64_t)w->cluster_shared) / CLUSTER_STEP,
                 w->worker->cluster->blocks);
    outside(w, site, lane, address, bytes);
}

static bool inside(Range r, uint64_t address, uint32_t bytes)
{ return address >= r.begin && address < r.end && bytes <= r.end - address; }

Range access_reserved_shared(const Warp *w)
{
    if (!w->worker->opens_reserved) return (Range){0, 0};
    return (Range){(uint64_t)w->shared + BLOCK_MOST_SHARED, (uint64_t)w->shared + SM_SHARED};
}

uint32_t sg_reserved_shared(Warp *w)
{
    w->worker->opens_reserved = true;
    return BLOCK_MOST_SHARED;
}

/* The memory of a space around an address, as far as one lane may reach; false: none. `lasting`: it
   can be remembered. A heap block may be freed at any time by another warp; what comes over a link
   is counted each time, where the range is the site's. */
static bool reachable(Warp *w, uint32_t lane, uint64_t address, uint8_t space, bool write,
                      Range *range, bool *lasting)
{
    const Job *job = w->worker->job;
    const Context *context = job->kernel->module->owner;
    bool generic = space == SPACE_GENERIC;
    *lasting = false;
    if (generic || space == SPACE_GLOBAL || space == SPACE_CONST) {
        const Allocation *found = memory_find(address);
        if (found) {
            *range = (Range){found->begin, found->end};
            *lasting = found->device == ANYWHERE || found->device == context->device;
            return !(found->constant && write) && peer_reaches(context, found);
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
    if (generic || space == SPACE_CLUSTER) {
        const Worker *owner = cluster_owner(w->worker, address);
        uint64_t begin = owner ? (uint64_t)owner->shared : 0;
        *range = (Range){begin, begin + w->shared_bytes};
        if (owner && owner->live_threads && inside(*range, address, 1)) return true;
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

/* Memory of another device comes in sectors. `range` becomes the one that was counted, so that
   neighbouring lanes share it. */
static void count_link(Warp *w, const struct Site *s, uint64_t address, Range *range)
{
    enum { SECTOR = 32 };
    const Allocation *found = memory_find(address);
    int here = w->worker->job->kernel->module->owner->device;
    if (!found || found->device == here || found->device == ANYWHERE) return;
    uint64_t step = MAX(SECTOR, s->bytes), begin = address / step * step;
    if (s->kind == SITE_LOAD) peer_count(found->device, here, step);
    else peer_count(here, found->device, step);
    *range = (Range){MAX(begin, range->begin), MIN(begin + step, range->end)};
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

/* Checks every active lane; remembers the allocation if all lanes hit the same one. What is read
   along with the used bytes lies in the same page. */
void access_check(Warp *w, uint32_t site, const uint64_t *addr, uint32_t mask)
{
    const struct Site *s = &w->worker->job->kernel->sites[site];
    uint32_t found = 0;
    uint64_t shared = (uint64_t)w->shared;
    Range last = s->space == SPACE_SHARED || s->space == SPACE_CLUSTER
                     ? (Range){shared, shared + w->shared_bytes}
                     : w->sites[site];
    bool remember = true, lasting;
    if (mask == UINT32_MAX && all_inside(last, addr, s->bytes)) return;
    FOR_LANES(lane, mask)
    {
        const Range used = used_bytes(w, s, lane);
        uint64_t address = addr[lane] + used.begin;
        uint32_t bytes = used.end - used.begin;
        if (addr[lane] & (s->bytes - 1)) bad_access(w, site, lane, addr[lane]);
        if (inside(last, address, bytes)) continue;
        if (!reachable(w, lane, address, s->space, s->kind != SITE_LOAD, &last, &lasting) ||
            !inside(last, address, bytes))
            bad_access(w, site, lane, addr[lane]);
        if (!lasting) count_link(w, s, address, &last);
        remember = remember && lasting && found++ == 0;
    }
    if (found && remember) w->sites[site] = last;
}

/* What the hardware moves at once, other threads see whole or not at all: what one lane accesses, up
   to 16 bytes. */
typedef uint64_t Piece __attribute__((vector_size(16), may_alias));
enum { LARGEST = 128 }; /* bytes of an access */

INLINE void move_whole(void *to, const void *from, uint32_t bytes)
{
    switch (bytes) {
    case 1: *(volatile uint8_t *)to = *(const volatile uint8_t *)from; break;
    case 2: *(volatile uint16_t *)to = *(const volatile uint16_t *)from; break;
    case 4: *(volatile uint32_t *)to = *(const volatile uint32_t *)from; break;
    case 8: *(volatile uint64_t *)to = *(const volatile uint64_t *)from; break;
    default:
        for (uint32_t at = 0; at < bytes; at += sizeof(Piece))
            move_16((char *)to + at, (const char *)from + at);
    }
}

/* The components of a lane's vector, which lie apart. */
INLINE void take_apart(char *data, const char *whole, uint32_t bytes, uint32_t size)
{
    for (uint32_t at = 0; at < bytes; at += size) memcpy(data + at * LANES, whole + at, size);
}

INLINE void put_together(char *whole, const char *data, uint32_t bytes, uint32_t size)
{
    for (uint32_t at = 0; at < bytes; at += size) memcpy(whole + at, data + at * LANES, size);
}

/* Does something for each active `lane`. */
#define EACH_LANE(action)                                                                          \
    do {                                                                                           \
        if (mask == UINT32_MAX)                                                                    \
            for (uint32_t lane = 0; lane < LANES; lane++) action;                                  \
        else FOR_LANES(lane, mask) action;                                                         \
    } while (0)

INLINE void read_lanes(const uint64_t *addr, uint32_t mask, char *data, uint32_t bytes,
                       uint32_t size)
{
    Piece room[LANES * LARGEST / sizeof(Piece)];
    char *whole = bytes == size ? data : (char *)room;
    EACH_LANE(move_whole(whole + lane * bytes, (void *)addr[lane], bytes));
    if (bytes != size) EACH_LANE(take_apart(data + lane * size, whole + lane * bytes, bytes, size));
}

/* Bits, with the bits of each group in reverse order. */
INLINE uint32_t reversed(uint32_t bits, uint32_t group)
{
    bits = (bits >> 1 & 0x55555555) | (bits & 0x55555555) << 1;
    bits = (bits >> 2 & 0x33333333) | (bits & 0x33333333) << 2;
    bits = (bits >> 4 & 0x0f0f0f0f) | (bits & 0x0f0f0f0f) << 4;
    if (group >= 16) bits = (bits >> 8 & 0x00ff00ff) | (bits & 0x00ff00ff) << 8;
    return group == 32 ? bits >> 16 | bits << 16 : bits;
}

/* Where several lanes store to one address, an H200 stores groups of as many lanes as fill 128 bytes,
   one after the other, and of each group the lowest lane's value stays. So does it here, as each
   group is stored from its last lane on: lane ^ turned. */
INLINE void write_lanes(const uint64_t *addr, uint32_t mask, const char *data, uint32_t bytes,
                        uint32_t size)
{
    Piece room[LANES * LARGEST / sizeof(Piece)];
    const char *whole = bytes == size ? data : (char *)room;
    uint32_t turned = (bytes <= 4 ? 32 : bytes == 8 ? 16 : 8) - 1;
    if (bytes != size)
        EACH_LANE(put_together((char *)room + lane * bytes, data + lane * size, bytes, size));
    if (mask != UINT32_MAX) mask = reversed(mask, turned + 1);
    EACH_LANE(move_whole((void *)addr[lane ^ turned], whole + (lane ^ turned) * bytes, bytes));
}

/* Code of its own for each size of an element and each number of them. */
#define FOR_COUNTS(move, size)                                                                     \
    switch (s->elements) {                                                                         \
    case 1: move(addr, mask, data, size, size); break;                                             \
    case 2: move(addr, mask, data, 2 * size, size); break;                                         \
    case 4: move(addr, mask, data, 4 * size, size); break;                                         \
    default: move(addr, mask, data, 8 * size, size);                                               \
    }                                                                                              \
    break;
#define FOR_SIZES(move)                                                                            \
    switch (s->bytes / s->elements) {                                                              \
    case 1: FOR_COUNTS(move, 1)                                                                    \
    case 2: FOR_COUNTS(move, 2)                                                                    \
    case 4: FOR_COUNTS(move, 4)                                                                    \
    case 8: FOR_COUNTS(move, 8)                                                                    \
    default: FOR_COUNTS(move, 16)                                                                  \
    }

void access_read(const uint64_t *addr, uint32_t mask, const struct Site *s, void *data)
{ FOR_SIZES(read_lanes) }

void access_write(const uint64_t *addr, uint32_t mask, const struct Site *s, const void *data)
{ FOR_SIZES(write_lanes) }

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
