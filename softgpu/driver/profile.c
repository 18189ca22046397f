/* The counting half of "profile" builds: what an H200's counters would say of each access.

   Compiled kernels count executions of basic blocks and conflict-free accesses to shared memory
   themselves and call this for the rest. Each worker has counters of its own, which are added up
   after the launch. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "driver.h"

#define SECTOR 32
#define SITE(w, site) (&(w)->worker->job->kernel->sites[site])
#define BANKS 32

#define MAX_EVENTS (1u << 20)
#define MAX_SAMPLES (1u << 13)
#define SAMPLES_A_SITE 128

/* One byte a sector of one allocation. */
typedef struct Shadow {
    struct Shadow *next;
    uint64_t begin, end;
    uint8_t *read, *written;
} Shadow;

/* Warps that have arrived at one barrier of a block since it last opened. */
typedef struct {
    uint32_t arrived, counter; /* counter: index of the site's counters */
    uint32_t done[MAX_WARPS];  /* instructions since the warp's barrier before */
} Gathering;

#define HINTS 64
typedef struct Local { /* of a worker */
    struct Local *next;
    uint64_t block;
    uint32_t at_barrier[MAX_WARPS]; /* instructions a warp had done at its last barrier */
    uint32_t busy;
    Gathering gathering[BARRIERS];
    const Shadow *hint[HINTS]; /* by site: what it last touched */
} Local;

static _Thread_local Profile result;
static _Thread_local uint64_t wanted_block;
static Profile *active; /* the launch that runs, with the lock held */
static uint64_t watched_block;
static Shadow *shadows;
static pthread_mutex_t shadow_mutex = PTHREAD_MUTEX_INITIALIZER;
static Local *locals; /* all of them */
static uint16_t *site_samples;

/* ---- which sectors a launch touches ---- */

static uint8_t *map_of(const Allocation *found)
{
    size_t bytes = (found->end - found->begin) / SECTOR + 2;
    void *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return map == MAP_FAILED ? NULL : map;
}

static const Shadow *shadow_of(uint64_t address)
{
    const Allocation *found = memory_find(address);
    if (!found) return NULL;
    pthread_mutex_lock(&shadow_mutex);
    Shadow *s = shadows;
    while (s && s->begin != found->begin) s = s->next;
    if (!s && (s = calloc(1, sizeof *s))) {
        s->begin = found->begin;
        s->end = found->end;
        s->read = map_of(found);
        s->written = map_of(found);
        s->next = shadows;
        if (s->read && s->written) shadows = s;
    }
    pthread_mutex_unlock(&shadow_mutex);
    return s && s->read && s->written ? s : NULL;
}

/* Allocations begin at multiples of 256 bytes; a variable in a module may not. */
static uint64_t sector_in(const Shadow *s, uint64_t address)
{ return address / SECTOR - s->begin / SECTOR; }

static void mark(Warp *w, uint32_t site, uint64_t first, uint64_t last, uint32_t kind)
{
    const Shadow **hint = &w->worker->counting->hint[site % HINTS], *s = *hint;
    if (!s || first < s->begin || first >= s->end) *hint = s = shadow_of(first);
    if (!s) return;
    uint64_t from = sector_in(s, first), count = sector_in(s, last < s->end ? last : first) + 1;
    if (kind != SITE_STORE) memset(s->read + from, 1, count - from);
    if (kind != SITE_LOAD) memset(s->written + from, 1, count - from);
}

static void add_up(Profile *p)
{
    size_t count = 0;
    for (Shadow *s = shadows; s; s = s->next) count++;
    p->touched = calloc(count + 1, sizeof *p->touched);
    while (shadows) {
        Shadow *s = shadows;
        size_t sectors = sector_in(s, s->end - 1) + 1;
        Touched t = {s->begin, s->end, 0, 0, 0};
        for (size_t i = 0; i < sectors; i++) {
            t.read += s->read[i];
            t.written += s->written[i];
            t.touched += s->read[i] | s->written[i];
        }
        if (p->touched) p->touched[p->touched_count++] = t;
        munmap(s->read, (s->end - s->begin) / SECTOR + 2);
        munmap(s->written, (s->end - s->begin) / SECTOR + 2);
        shadows = s->next;
        free(s);
    }
}

/* ---- a trace of one block, for pictures ---- */

static void record(uint32_t warp, uint32_t what, uint32_t mask, uint32_t at)
{
    if (active->event_count == MAX_EVENTS) {
        active->incomplete = 1;
        return;
    }
    if (!(active->event_count & (active->event_count - 1))) {
        size_t room = active->event_count ? 2 * active->event_count : 1;
        Step *more = realloc(active->events, room * sizeof *more);
        if (!more) return;
        active->events = more;
    }
    active->events[active->event_count++] = (Step){warp, what, mask, at};
}

static Sample *sample(Warp *w, uint32_t site, uint32_t mask, uint32_t bytes)
{
    if (!active->samples) active->samples = calloc(MAX_SAMPLES, sizeof *active->samples);
    if (!active->samples || active->sample_count == MAX_SAMPLES ||
        site_samples[site] == SAMPLES_A_SITE) {
        active->incomplete = 1;
        return NULL;
    }
    site_samples[site]++;
    Sample *s = &active->samples[active->sample_count++];
    *s = (Sample){site, w->warp_id, mask, bytes, {0}};
    return s;
}

static void sample_lanes(Warp *w, uint32_t site, const uint64_t *address, uint32_t mask,
                         int32_t delta, uint32_t bytes)
{
    Sample *s = sample(w, site, mask, bytes);
    if (!s) return;
    uint64_t shared = (uint64_t)w->shared;
    FOR_LANES(lane, mask)
    {
        uint64_t offset = address[lane] + delta - shared;
        s->lanes[lane] = offset < w->shared_bytes ? offset : address[lane] + delta;
    }
}

void sg_profile_step(Warp *w, uint32_t block, uint32_t mask, uint32_t at)
{ record(w->warp_id, block, mask, at); }

void sg_profile_shuffle(Warp *w, uint32_t site, uint32_t mode, const uint32_t *b, const uint32_t *c,
                        uint32_t mask)
{
    Sample *s = sample(w, site, mask, 4);
    if (!s) return;
    uint32_t lanes[LANES], source[LANES], inside;
    for (uint32_t i = 0; i < LANES; i++) lanes[i] = source[i] = i;
    sg_shuffle(mode, lanes, b, c, mask, source, &inside);
    for (uint32_t i = 0; i < LANES; i++) s->lanes[i] = source[i];
}

/* ---- global and local memory ---- */

typedef struct {
    uint64_t id[LANES];
    uint32_t bytes[LANES]; /* which of them are touched, as bits */
    uint32_t count;
} Sectors;

/* Where in the list a sector is; puts it there if it is new. */
static uint32_t sector_index(Sectors *s, uint64_t id)
{
    for (uint32_t i = s->count; i-- > 0;)
        if (s->id[i] == id) return i;
    s->id[s->count] = id;
    s->bytes[s->count] = 0;
    return s->count++;
}

static uint32_t byte_bits(uint64_t address, uint32_t bytes)
{ return ((1u << bytes) - 1) << address % SECTOR; /* at most 16 bytes, aligned */ }

static void count_global(Warp *w, uint64_t *count, uint32_t site, const uint64_t *address,
                         uint32_t mask, uint32_t bytes, uint32_t kind)
{
    Sectors s;
    uint32_t touched = 0;
    s.count = 0;
    FOR_LANES(lane, mask)
    {
        uint32_t i = sector_index(&s, address[lane] / SECTOR);
        s.bytes[i] |= byte_bits(address[lane], bytes);
    }
    for (uint32_t i = 0; i < s.count; i++) {
        touched += __builtin_popcount(s.bytes[i]);
        mark(w, site, s.id[i] * SECTOR, s.id[i] * SECTOR, kind);
    }
    count[COUNT_REQUESTS]++;
    count[COUNT_SECTORS] += s.count;
    count[COUNT_IDEAL] += (touched + SECTOR - 1) / SECTOR;
}

/* The hardware spreads each 4-byte word of the lanes' local memory over 32 neighbouring words. */
static void count_local(Warp *w, uint64_t *count, const uint64_t *address, uint32_t mask,
                        uint32_t bytes)
{
    Sectors s;
    s.count = 0;
    uint32_t found = 0;
    for (uint32_t word = 0; word < (bytes + 3) / 4; word++) {
        s.count = 0;
        FOR_LANES(lane, mask)
        {
            uint64_t offset = address[lane] - (uint64_t)w->local - lane * w->local_stride;
            sector_index(&s, (offset / 4 + word) * 4 + lane / 8);
        }
        found += s.count;
    }
    count[COUNT_LOCAL] += (bytes + 3) / 4;
    count[COUNT_LOCAL_SECTORS] += found;
}

/* ---- shared memory ---- */

/* Wavefronts of the lanes of one group: the different units of the bank that has most of them.
   A unit is a word, or the 2 or 4 words of an access, which lie in as many banks of their own. */
static uint32_t group_wavefronts(const uint32_t *unit, uint32_t mask, uint32_t banks)
{
    uint32_t newest[BANKS]; /* lane + 1 with each bank's newest unit, linked to older ones */
    uint8_t older[LANES], units[BANKS];
    uint32_t seen = 0, most = 1;
    FOR_LANES(lane, mask)
    {
        uint32_t bank = unit[lane] % banks, other = 0;
        if (seen >> bank & 1) {
            for (other = newest[bank]; other && unit[other - 1] != unit[lane];)
                other = older[other - 1];
            if (other) continue;
            older[lane] = newest[bank];
            if (++units[bank] > most) most = units[bank];
        } else {
            seen |= 1u << bank;
            older[lane] = 0;
            units[bank] = 1;
        }
        newest[bank] = lane + 1;
    }
    return most;
}

/* The step from lane to lane if it is always the same one, and not 0; else 0. */
static uint32_t even_step(const uint32_t *unit, uint32_t low, uint32_t count)
{
    uint32_t step = count > 1 ? unit[low + 1] - unit[low] : 1, same = 1;
    for (uint32_t i = 0; i < count; i++) same &= unit[low + i] == unit[low] + i * step;
    return same ? step : 0;
}

/* The same as group_wavefronts, at once for lanes that follow each other at even steps. */
static uint32_t run_wavefronts(const uint32_t *unit, uint32_t mask, uint32_t banks)
{
    uint32_t low = __builtin_ctz(mask), run = mask >> low, step = 0;
    uint32_t count = __builtin_popcount(mask);
    if (!(run & (run + 1))) step = even_step(unit, low, count);
    if (!step) return group_wavefronts(unit, mask, banks);
    uint32_t apart = banks / (step % banks ? step & -step : banks); /* banks that the lanes use */
    return (count + apart - 1) / apart;
}

/* Whether lanes that differ in one bit of their number read the same place, where both read. */
static bool pairs_agree(const uint32_t *offset, uint32_t mask, uint32_t bit)
{
    FOR_LANES(lane, mask)
    if (mask >> (lane ^ bit) & 1 && offset[lane] != offset[lane ^ bit]) return false;
    return true;
}

/* A warp's access takes one wavefront at least for each group of lanes: 32 lanes of up to 4 bytes,
   16 of 8, 8 of 16. Loads take groups of twice the size where the two lanes of each pair (l, l^1),
   or of each pair (l, l^2), read the same place or one of them does not read. */
static uint32_t wavefronts(const uint32_t *offset, uint32_t mask, uint32_t bytes, bool load,
                           uint32_t *least)
{
    uint32_t size = bytes <= 4 ? 32 : bytes == 8 ? 16 : 8, total = 0;
    uint32_t shift = bytes <= 4 ? 2 : bytes == 8 ? 3 : 4, banks = size, unit[LANES];
    for (uint32_t lane = 0; lane < LANES; lane++) unit[lane] = offset[lane] >> shift;
    if (size < 32 && load && (pairs_agree(offset, mask, 1) || pairs_agree(offset, mask, 2)))
        size *= 2;
    *least = 0;
    for (uint32_t at = 0; at < LANES; at += size) {
        uint32_t group = size == 32 ? mask : mask & ((1u << size) - 1) << at;
        if (!group) continue;
        ++*least;
        total += run_wavefronts(unit, group, banks);
    }
    return total;
}

static void count_shared(uint64_t *count, const uint32_t *offset, uint32_t mask, uint32_t bytes,
                         bool load)
{
    uint32_t least, taken = wavefronts(offset, mask, bytes, load, &least);
    count[COUNT_SHARED]++;
    count[COUNT_WAVEFRONTS] += taken;
    count[COUNT_CONFLICTS] += taken - least;
}

/* ---- loads and stores ---- */

static uint64_t place_of(const uint64_t *address, uint32_t mask, uint64_t begin, uint64_t size)
{
    uint32_t inside = 0;
    FOR_LANES(lane, mask) inside |= (uint32_t)(address[lane] - begin < size) << lane;
    return inside;
}

static void count_lanes(Warp *w, uint64_t *count, uint32_t site, const uint64_t *address,
                        uint32_t mask)
{
    const struct Site *s = SITE(w, site);
    uint32_t shared = 0, local = 0;
    if (s->space == SPACE_SHARED) shared = mask;
    if (s->space == SPACE_LOCAL) local = mask;
    if (s->space == SPACE_GENERIC) {
        shared = place_of(address, mask, (uint64_t)w->shared, SHARED_PER_SM);
        local = place_of(address, mask, (uint64_t)w->local, w->local_stride * LANES);
    }
    count[COUNT_ACTIVE] += __builtin_popcount(mask);
    if (shared) {
        uint32_t offset[LANES];
        for (uint32_t i = 0; i < LANES; i++) offset[i] = address[i] - (uint64_t)w->shared;
        count_shared(count, offset, shared, s->bytes, s->kind == SITE_LOAD);
    }
    if (local) count_local(w, count, address, local, s->bytes);
    if (mask & ~shared & ~local && (s->space == SPACE_GLOBAL || s->space == SPACE_GENERIC))
        count_global(w, count, site, address, mask & ~shared & ~local, s->bytes, s->kind);
}

void sg_profile_lanes(Warp *w, uint64_t *count, uint32_t site, const uint64_t *address,
                      uint32_t mask)
{
    if (!mask) return;
    count_lanes(w, count, site, address, mask);
    if (w->watched) sample_lanes(w, site, address, mask, 0, SITE(w, site)->bytes);
}

/* Active lane l accesses first + l * step. */
void sg_profile_row(Warp *w, uint64_t *count, uint32_t site, uint64_t first, uint32_t step,
                    uint32_t mask)
{
    if (!mask) return;
    const struct Site *s = SITE(w, site);
    uint32_t low = __builtin_ctz(mask), high = 31 - __builtin_clz(mask);
    uint32_t run = mask >> low;
    bool plain = s->space == SPACE_GLOBAL && (!step || !(run & (run + 1)));
    if (plain && !w->watched) {
        uint64_t begin = first + (uint64_t)low * step, last = first + (uint64_t)high * step;
        last += s->bytes - 1;
        count[COUNT_ACTIVE] += __builtin_popcount(mask);
        count[COUNT_REQUESTS]++;
        count[COUNT_SECTORS] += last / SECTOR - begin / SECTOR + 1;
        count[COUNT_IDEAL] += (last - begin + SECTOR) / SECTOR;
        mark(w, site, begin, last, s->kind);
        return;
    }
    uint64_t address[LANES];
    for (uint32_t lane = 0; lane < LANES; lane++) address[lane] = first + (uint64_t)lane * step;
    sg_profile_lanes(w, count, site, address, mask);
}

/* An access to shared memory that ptxas makes wider: `bytes` from `delta` behind each address. */
void sg_profile_wide(Warp *w, uint64_t *count, uint32_t site, const uint64_t *address,
                     uint32_t mask, int32_t delta, uint32_t bytes)
{
    if (!mask) return;
    uint32_t offset[LANES];
    for (uint32_t i = 0; i < LANES; i++) offset[i] = address[i] - (uint64_t)w->shared + delta;
    count[COUNT_ACTIVE] += __builtin_popcount(mask);
    count_shared(count, offset, mask, bytes, SITE(w, site)->kind == SITE_LOAD);
    if (w->watched) sample_lanes(w, site, address, mask, delta, bytes);
}

void sg_profile_wide_row(Warp *w, uint64_t *count, uint32_t site, uint64_t first, uint32_t step,
                         uint32_t mask, int32_t delta, uint32_t bytes)
{
    uint64_t address[LANES];
    for (uint32_t lane = 0; lane < LANES; lane++) address[lane] = first + (uint64_t)lane * step;
    sg_profile_wide(w, count, site, address, mask, delta, bytes);
}

/* cp.async: a load from global memory. Those that pass by the L1 cache (16 bytes) fetch a sector
   anew for each line of 128 bytes of shared memory that it goes to; of lanes that write to one
   place the last one counts. */
void sg_profile_copy(Warp *w, uint64_t *count, uint32_t site, const uint64_t *from,
                     const uint64_t *to, uint32_t mask)
{
    if (!mask) return;
    count_lanes(w, count, site, from, mask);
    if (w->watched) sample_lanes(w, site, from, mask, 0, SITE(w, site)->bytes);
    if (!to) return;
    uint64_t pairs[LANES];
    uint32_t found = 0, last = 0;
    for (uint32_t lane = LANES; lane-- > 0;) {
        if (!(mask >> lane & 1)) continue;
        bool known = false;
        FOR_LANES(later, last) known |= to[later] == to[lane];
        if (known) continue;
        last |= 1u << lane;
        uint64_t pair = from[lane] / SECTOR << 16 | (to[lane] - (uint64_t)w->shared) / 128;
        for (uint32_t i = 0; i < found; i++) known |= pairs[i] == pair;
        if (!known) pairs[found++] = pair;
    }
    Sectors s;
    s.count = 0;
    FOR_LANES(lane, mask) sector_index(&s, from[lane] / SECTOR);
    count[COUNT_SECTORS] += found;
    count[COUNT_SECTORS] -= s.count;
}

/* ---- atomics ---- */

/* A sector is gone through once for each lane of its most wanted address. */
static uint32_t atomic_sectors(const uint64_t *address, uint32_t mask)
{
    Sectors s;
    uint32_t most[LANES], total = 0;
    s.count = 0;
    while (mask) {
        uint64_t at = address[__builtin_ctz(mask)];
        uint32_t same = 0;
        FOR_LANES(lane, mask) same |= (uint32_t)(address[lane] == at) << lane;
        mask &= ~same;
        uint32_t known = s.count, i = sector_index(&s, at / SECTOR);
        uint32_t times = __builtin_popcount(same);
        if (i == known || times > most[i]) most[i] = times;
    }
    for (uint32_t i = 0; i < s.count; i++) total += most[i];
    return total;
}

/* Lanes whose compare-and-swap succeeds when all of `mask` try at once on shared memory: each bank
   takes the lowest lane (8 bytes: of each half warp), unless the place was just changed. */
static uint32_t winners(const uint32_t *offset, uint32_t mask, uint32_t bytes)
{
    uint32_t won = 0, half = bytes == 8 ? 0xffff : UINT32_MAX;
    for (uint32_t part = half; part; part = bytes == 8 && part == half ? ~half : 0) {
        uint32_t taken = 0;
        FOR_LANES(lane, mask & part)
        {
            uint32_t bank = 1u << offset[lane] / bytes % (4 * BANKS / bytes);
            if (taken & bank) continue;
            taken |= bank;
            bool changed = false;
            FOR_LANES(other, won) changed |= offset[other] == offset[lane];
            if (!changed) won |= 1u << lane;
        }
    }
    return won;
}

/* Whether min or max with a lane's operand would leave the 8 bytes at its address as they are. */
static bool no_change(uint64_t now, uint64_t operand, uint32_t how)
{
    uint64_t flip = how & AS_LOOP_SIGNED ? 1ull << 63 : 0;
    now ^= flip;
    operand ^= flip;
    return how & AS_LOOP_MIN ? operand >= now : operand <= now;
}

/* Shared memory has no instruction for floating-point and most 8-byte atomics: the machine code
   loads, computes and tries a compare-and-swap until no lane is left. Its loads count as such. */
static void count_shared_loop(uint64_t *count, const uint32_t *offset, const uint64_t *address,
                              uint32_t mask, uint32_t bytes, uint32_t how, const uint64_t *operand)
{
    uint64_t now[LANES];
    bool extreme = how & (AS_LOOP_MIN | AS_LOOP_MAX);
    if (extreme) FOR_LANES(lane, mask) memcpy(&now[lane], (void *)address[lane], 8);
    while (mask) {
        uint32_t least, taken = wavefronts(offset, mask, bytes, true, &least);
        count[COUNT_LOOP_LOADS] += taken;
        count[COUNT_LOOP_MORE] += taken - least;
        if (extreme) FOR_LANES(lane, mask)
        if (no_change(now[lane], operand[lane], how)) mask &= ~(1u << lane);
        uint32_t won = winners(offset, mask, bytes);
        if (extreme) FOR_LANES(lane, won)
        FOR_LANES(other, mask)
        if (offset[other] == offset[lane]) now[other] = operand[lane];
        mask &= ~won;
    }
}

/* 2-byte atomics work on the 4 bytes around: a compare-and-swap of those, and again while it fails
   for what a lane did not mean to compare. Adding is taken to change the value. */
static uint32_t count_half_loop(uint64_t *count, const uint64_t *address, uint32_t mask,
                                uint32_t how, const uint16_t *compare, const uint16_t *swap)
{
    uint64_t word[LANES];
    uint32_t now[LANES], seen[LANES], owner[LANES]; /* now: at the lowest lane of each word */
    uint32_t sectors = 0;
    FOR_LANES(lane, mask)
    {
        word[lane] = address[lane] & ~3ull;
        memcpy(&now[lane], (void *)word[lane], 4);
        seen[lane] = now[lane];
        owner[lane] = lane;
        FOR_LANES(other, mask & ((1u << lane) - 1))
        if (word[other] == word[lane] && owner[lane] == lane) owner[lane] = other;
    }
    while (mask) {
        uint32_t left = 0;
        count[COUNT_REQUESTS]++;
        sectors += atomic_sectors(word, mask);
        FOR_LANES(lane, mask)
        {
            uint32_t shift = address[lane] & 2 ? 16 : 0, own = 0xffffu << shift;
            uint32_t old = now[owner[lane]], expected = seen[lane], next = old;
            bool again;
            if (how & AS_LOOP_CAS_HALF) {
                expected = (expected & ~own) | (uint32_t)compare[lane] << shift;
                next = (old & ~own) | (uint32_t)swap[lane] << shift;
                again = (old ^ expected) & ~own;
            } else {
                next = (old & ~own) | ((old + (1u << shift)) & own);
                again = old != expected;
            }
            if (old == expected) now[owner[lane]] = next;
            seen[lane] = old;
            left |= (uint32_t)again << lane;
        }
        mask = left;
    }
    return sectors;
}

static void count_atomic(Warp *w, uint64_t *count, uint32_t site, const uint64_t *address,
                         uint32_t mask, uint32_t how, const void *a, const void *b)
{
    const struct Site *s = SITE(w, site);
    uint32_t shared = 0, lanes = mask;
    count[COUNT_ACTIVE] += __builtin_popcount(mask);
    if (how & AS_ONE_LANE || (how & AS_ONE_LANE_IF_FULL && mask == UINT32_MAX))
        lanes = 1u << __builtin_ctz(mask);
    if (s->space == SPACE_SHARED) shared = lanes;
    if (s->space == SPACE_GENERIC)
        shared = place_of(address, lanes, (uint64_t)w->shared, SHARED_PER_SM);
    if (shared) {
        uint32_t offset[LANES];
        uint32_t bytes = s->bytes < 4 ? 4 : s->bytes;
        for (uint32_t i = 0; i < LANES; i++)
            offset[i] = (address[i] - (uint64_t)w->shared) & ~(uint64_t)(bytes - 1);
        count[COUNT_SHARED]++;
        if (how & AS_LOOP) {
            count_shared_loop(count, offset, address, shared, bytes, how, a);
        } else if (how & AS_LOOP_HALF) {
            uint32_t least, taken = wavefronts(offset, shared, 4, true, &least);
            count[COUNT_LOOP_LOADS] += taken;
            count[COUNT_LOOP_MORE] += taken - least;
        }
        lanes &= ~shared;
        mask &= ~shared;
    }
    if (!lanes || (s->space != SPACE_GLOBAL && s->space != SPACE_GENERIC)) return;
    uint64_t before[2] = {count[COUNT_REQUESTS], count[COUNT_SECTORS]};
    count_global(w, count, site, address, mask, s->bytes, s->kind);
    count[COUNT_SECTORS] = before[1];
    if (how & AS_LOOP_HALF) {
        Sectors seen;
        seen.count = 0;
        FOR_LANES(lane, lanes) sector_index(&seen, address[lane] / SECTOR);
        count[COUNT_LOOP_LOADS]++;
        count[COUNT_LOOP_MORE] += seen.count;
        count[COUNT_REQUESTS] = before[0];
        count[COUNT_SECTORS] += count_half_loop(count, address, lanes, how, a, b);
    } else {
        count[COUNT_SECTORS] += atomic_sectors(address, lanes);
    }
}

void sg_profile_atomic(Warp *w, uint64_t *count, uint32_t site, const uint64_t *address,
                       uint32_t mask, uint32_t how, const void *a, const void *b)
{
    if (!mask) return;
    count_atomic(w, count, site, address, mask, how, a, b);
    if (w->watched) sample_lanes(w, site, address, mask, 0, SITE(w, site)->bytes);
}

/* ---- barriers: who waits for whom ---- */

/* All warps that will have arrived: those that did less since their last barrier have waited. */
static void open_barrier(Gathering *g, uint64_t *counters)
{
    uint32_t most = 0;
    FOR_LANES(warp, g->arrived) if (g->done[warp] > most) most = g->done[warp];
    FOR_LANES(warp, g->arrived)
    {
        counters[g->counter + COUNT_WAITS] += g->done[warp] < most;
        counters[g->counter + COUNT_IDLE] += most - g->done[warp];
    }
    g->arrived = 0;
}

static void open_barriers(Local *local, uint64_t *counters)
{
    FOR_LANES(id, local->busy) open_barrier(&local->gathering[id], counters);
    local->busy = 0;
}

void sg_profile_barrier(Warp *w, uint32_t counter, uint32_t site, uint32_t id, uint32_t mask)
{
    Local *local = w->worker->counting;
    Gathering *g = &local->gathering[id % BARRIERS];
    uint32_t warp = w->warp_id, done = w->counters[warp];
    if (g->arrived >> warp & 1) open_barrier(g, w->counters);
    w->counters[counter + COUNT_ACTIVE] += __builtin_popcount(mask);
    w->counters[counter + COUNT_ARRIVALS]++;
    g->counter = counter;
    g->arrived |= 1u << warp;
    g->done[warp] = done - local->at_barrier[warp];
    local->at_barrier[warp] = done;
    local->busy |= 1u << id % BARRIERS;
    if (w->watched && !id) record(warp, site | BARRIER_STEP, mask, done);
}

/* ---- launches ---- */

static Local *local_of(Worker *k)
{
    if (k->counting) return k->counting;
    Local *local = k->counting = calloc(1, sizeof *local);
    pthread_mutex_lock(&shadow_mutex);
    local->next = locals;
    locals = local;
    pthread_mutex_unlock(&shadow_mutex);
    return local;
}

/* A warp begins; says whether its block is watched. */
uint32_t sg_profile_enter(Warp *w)
{
    Worker *k = w->worker;
    Local *local = local_of(k);
    if (local->block != k->block) open_barriers(local, w->counters);
    local->block = k->block;
    local->at_barrier[w->warp_id] = w->counters[w->warp_id];
    uint64_t block =
        w->ctaid[0] + (uint64_t)w->nctaid[0] * (w->ctaid[1] + (uint64_t)w->nctaid[1] * w->ctaid[2]);
    return w->watched = block == watched_block;
}

static void forget(Profile *p)
{
    free(p->counters);
    free(p->touched);
    free(p->events);
    free(p->samples);
    memset(p, 0, sizeof *p);
}

static CUresult begin(Job *job)
{
    uint32_t launches = result.launches;
    forget(&result);
    result.launches = launches + 1;
    result.module = job->kernel->module->handle;
    result.kernel = job->kernel->name;
    memcpy(result.grid, job->grid, sizeof result.grid);
    memcpy(result.block, job->block, sizeof result.block);
    result.static_shared = job->static_shared;
    result.dynamic_shared = job->dynamic_shared;
    result.counter_count = job->counter_count;
    result.counters = job->counters = calloc(job->counter_count, sizeof *job->counters);
    site_samples = calloc(job->kernel->site_count + 1, sizeof *site_samples);
    if (!job->counters || !site_samples) return CUDA_ERROR_OUT_OF_MEMORY;
    for (Local *local = locals, *next; local; local = next) {
        next = local->next;
        memset(local, 0, sizeof *local);
        local->next = next;
    }
    watched_block = wanted_block;
    active = &result;
    return CUDA_SUCCESS;
}

static void end(Job *job)
{
    for (Local *local = locals; local; local = local->next) open_barriers(local, job->counters);
    add_up(&result);
    free(site_samples);
    site_samples = NULL;
    active = NULL;
}

static const Instrument profiler = {BUILD_PROFILE, begin, end, NULL};

/* This thread's launches are profiled until sg_profile_end, which gives the last one's profile;
   it stays until the next sg_profile_begin. Events and samples are of one block of the grid. */
void sg_profile_begin(uint64_t block)
{
    forget(&result);
    wanted_block = block;
    instrument = &profiler;
}

Profile *sg_profile_end(void)
{
    instrument = NULL;
    return &result;
}
