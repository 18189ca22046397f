/* The sanitizer: a build of kernels in which every access, barrier, shuffle and fence is looked at.
   What is wrong is noted and the launch goes on without the lanes that did it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sanitize.h"

#if defined(__x86_64__)
#define VECTORISED __attribute__((noinline, target_clones("avx2", "default")))
#else
#define VECTORISED __attribute__((noinline))
#endif
#define KEPT_BYTES (256ull << 20) /* shadowed memory whose shadow is kept between launches */

/* Of one thread's last launch. */
typedef struct {
    Finding findings[LIMIT_FINDINGS];
    uint32_t count;
    uint64_t dropped;
    char params[LIMIT_PARAMETER_BYTES], name[1000];
    void *module; /* of the kernel; NULL: there was no launch */
} Report;

/* What one thread said of memory before its next launches. */
typedef struct {
    Range ranges[64];
    uint32_t count;
} Ranges;

static _Thread_local Report last_report;
static _Thread_local Ranges said_unwritten, said_bounds;

/* What there is for the blocks that run in one seat, one after the other. */
typedef struct Seat {
    struct Seat *next;
    uint32_t launch; /* that the rest is made for: when it began */
    uint64_t block;  /* that runs: index + 1 */
    Past *past;
    Region shared;
    uint8_t *local;             /* a bit a byte of local memory: written */
    uint32_t polled[MAX_WARPS]; /* lanes that have waited for a lock or a flag in this block */
    uint32_t barrier_site[BARRIERS][MAX_WARPS], barrier_came[BARRIERS], barrier_waits[BARRIERS];
} Seat;

/* The launch that runs, with the lock held. */
static struct {
    Job *job;
    const Kernel *kernel;
    Report *report;
    const Ranges *unwritten, *bounds;
    Region heap, **regions;
    size_t region_count, region_room;
    struct {
        uint64_t begin, end;
        Region *region;
    } *last;                   /* by site: where it went the last time */
    struct Seat *here, *seats; /* of the running block; all of them */
    uint64_t local_bits;
} s;

static ReportCallback on_report;

/* ---- findings ---- */

/* 0 read, 1 write, 2 update */
static uint32_t does(const Access *a) { return a->load && a->store ? 2 : a->store; }

static const struct Site *site_of(uint32_t number)
{
    static const struct Site nowhere;
    return number < s.kernel->site_count ? &s.kernel->sites[number] : &nowhere;
}

static bool same_line(uint32_t a, uint32_t b)
{
    if (a == b) return true;
    if (a == NO_SITE || b == NO_SITE) return false;
    return site_of(a)->file == site_of(b)->file && site_of(a)->line == site_of(b)->line;
}

/* Whether two findings say the same of the same lines. */
static bool alike(const Finding *a, const Finding *b)
{
    if (a->kind != b->kind) return false;
    if (a->note != b->note && a->note != WRONG_ARRAY && b->note != WRONG_ARRAY) return false;
    if (a->note == MOVED && a->unwritten != b->unwritten) return false;
    if (a->other_site == NO_SITE && a->access != b->access) return false;
    return (same_line(a->site, b->site) && same_line(a->other_site, b->other_site)) ||
           (same_line(a->site, b->other_site) && same_line(a->other_site, b->site));
}

/* Counts a finding; returns it if it is new, to be filled in. */
static Finding *found(Finding new)
{
    Report *r = s.report;
    new.count = 1;
    for (uint32_t i = 0; i < r->count; i++) {
        if (!alike(&r->findings[i], &new)) continue;
        r->findings[i].count++;
        return NULL;
    }
    if (r->count == LIMIT_FINDINGS) {
        r->dropped++;
        return NULL;
    }
    r->findings[r->count] = new;
    return &r->findings[r->count++];
}

static Finding *found_alone(uint32_t kind, uint32_t note, uint32_t site, uint32_t access)
{
    return found((Finding){
        .kind = kind, .note = note, .site = site, .other_site = NO_SITE, .access = access});
}

static void set_block(uint32_t out[3], uint64_t index)
{
    out[0] = index % s.job->grid[0];
    out[1] = index / s.job->grid[0] % s.job->grid[1];
    out[2] = index / s.job->grid[0] / s.job->grid[1];
}

static void set_thread(uint32_t out[3], uint32_t warp, uint32_t lane)
{
    uint32_t t = warp * LANES + lane;
    const uint32_t *block = s.job->block;
    out[0] = t % block[0];
    out[1] = t / block[0] % block[1];
    out[2] = t / block[0] / block[1];
}

static void set_place(Finding *f, const Warp *w, uint32_t lane)
{
    memcpy(f->block, w->ctaid, sizeof f->block);
    memcpy(f->other_block, w->ctaid, sizeof f->other_block);
    set_thread(f->thread, w->warp_id, lane);
    set_thread(f->other_thread, w->warp_id, lane);
}

static bool in_shared(const Warp *w, const struct Site *site, uint64_t address)
{ return site->space == SPACE_SHARED || address - (uint64_t)w->shared < SHARED_PER_SM; }

static bool in_local(const Warp *w, const struct Site *site, uint64_t address)
{
    return site->space == SPACE_LOCAL ||
           address - (uint64_t)w->worker->local < w->worker->local_room;
}

static const Origin *origin_of(uint32_t site)
{
    static const Origin unknown;
    return s.kernel->origins && site < s.kernel->site_count ? &s.kernel->origins[site] : &unknown;
}

static uint64_t parameter(uint32_t word)
{
    uint64_t value;
    memcpy(&value, s.report->params + 8 * word, 8);
    return value;
}

static uint64_t distance(Range r, uint64_t address)
{ return address < r.begin ? r.begin - address : address >= r.end ? address - r.end : 0; }

/* The array that an address belongs to: what the caller said of it, else its allocation. */
static Range array_at(uint64_t address)
{
    const Allocation *a = memory_find(address);
    if (!a) a = memory_find(address - 1); /* it may point past the end */
    if (!a) return (Range){0, 0};
    Range array = {a->begin, a->end};
    uint64_t least = UINT64_MAX;
    for (uint32_t i = 0; i < s.bounds->count; i++) {
        Range part = s.bounds->ranges[i];
        if (part.begin < a->begin || part.end > a->end || distance(part, address) >= least)
            continue;
        array = part;
        least = distance(part, address);
    }
    return array;
}

/* The array that an access through kernel parameters is meant for, as near as can be. */
static Range meant(uint32_t site, uint64_t address)
{
    Range best = {0, 0};
    for (uint64_t left = origin_of(site)->params; left; left &= left - 1) {
        Range array = array_at(parameter(__builtin_ctzll(left)));
        if (array.end && (!best.end || distance(array, address) < distance(best, address)))
            best = array;
    }
    return best;
}

/* Whether an access is of memory that was freed before the launch. */
static bool was_freed(uint32_t site, uint64_t address, Range *freed)
{
    if (!memory_freed(address, freed)) return false;
    for (uint64_t left = origin_of(site)->params; left; left &= left - 1)
        if (!distance(*freed, parameter(__builtin_ctzll(left)))) return true;
    return !meant(site, address).end;
}

/* The global memory that an access was meant for. */
static Range global_around(const Finding *f, uint32_t site, uint64_t address)
{
    Range range = {0, 0};
    if (f->note == FREED && was_freed(site, address, &range)) return range;
    Context *owner = s.kernel->module->owner;
    if (f->note == IN_HEAP || heap_range(owner, address, &range) == IN_BLOCK) {
        heap_before(owner, address + (f->note != IN_HEAP), &range);
        return range;
    }
    range = meant(site, address);
    if (range.end) return range;
    range = array_at(address);
    if (range.end) return range;
    const Allocation *near = memory_near(address);
    return near ? (Range){near->begin, near->end} : range;
}

/* What memory an address is in, or was meant to be in. */
static void set_memory(Finding *f, const Access *a, uint64_t address)
{
    const Warp *w = a->w;
    f->bytes = a->bytes;
    f->address = address;
    if (in_shared(w, a->site, address)) {
        f->space = SPACE_SHARED;
        f->begin = (uint64_t)w->shared;
        f->end = f->begin + w->shared_bytes;
        const Origin *o = origin_of(a->number);
        if (f->kind != OUT_OF_BOUNDS || !o->end) return;
        f->meant[0] = o->begin;
        f->meant[1] = o->end;
    } else if (in_local(w, a->site, address)) {
        f->space = SPACE_LOCAL;
        uint64_t lane = (address - (uint64_t)w->local) / w->local_stride;
        f->begin = (uint64_t)w->local + lane * w->local_stride;
        f->end = f->begin + s.kernel->local_bytes;
    } else {
        Range around = global_around(f, a->number, address);
        f->space = SPACE_GLOBAL;
        f->begin = around.begin;
        f->end = around.end;
    }
}

bool same_size(Mark before, const Access *a)
{
    const struct Site *other = site_of(mark_site(before));
    bool other_updates = other->kind == SITE_ATOMIC || other->kind == SITE_RED;
    return !a->atomic || !other_updates || other->bytes == a->bytes;
}

/* Whether the colliding side or, unseen here, its block has waited for a lock or a flag. */
static bool has_polled(const Access *a, uint32_t lane, Mark other)
{
    if (order_same_block(other))
        return (s.here->polled[a->w->warp_id] >> lane |
                s.here->polled[mark_warp(other)] >> mark_lane(other)) &
               1;
    for (uint32_t w = 0; w < MAX_WARPS; w++)
        if (s.here->polled[w]) return true;
    return false;
}

/* Why two accesses of one place collide; it may be of another kind than RACE. */
static uint32_t reason(const Access *a, uint32_t lane, uint64_t address, Mark other,
                       bool other_wrote, uint32_t *kind)
{
    uint32_t site = mark_site(other), both = a->flags | other;
    bool same_block = order_same_block(other);
    bool same_warp = same_block && mark_warp(other) == a->w->warp_id;
    bool ours_atomic = a->flags & MARK_ATOMIC, theirs_atomic = other & MARK_ATOMIC;
    bool both_write = other_wrote && a->store && !ours_atomic && !theirs_atomic;
    bool at_once = same_warp && site == a->number && mark_time(other) == mark_time(a->mark);
    bool update =
        same_line(site, a->number) && origin_of(site)->updates && origin_of(a->number)->updates;
    if (both_write && (at_once || !in_shared(a->w, a->site, address))) *kind = DOUBLE_WRITE;
    if (ours_atomic && theirs_atomic) return same_size(other, a) ? SCOPE : TWO_SIZES;
    if (!at_once && !(both & MARK_ATOMIC) && has_polled(a, lane, other)) return UNFENCED;
    if (*kind == DOUBLE_WRITE) return NO_NOTE;
    if (update) return UPDATE;
    if (same_warp && !both_write) *kind = MISSING_SYNCWARP;
    if (same_warp && !both_write) return NO_NOTE;
    if (ours_atomic != theirs_atomic) return ATOMIC_AND_PLAIN;
    if (both & MARK_VOLATILE) return VOLATILE;
    return same_block ? NO_NOTE : OTHER_BLOCK;
}

void report_access(Access *a, uint32_t kind, uint32_t lane, uint64_t address, Mark other,
                   bool other_wrote)
{
    uint32_t note = NO_NOTE;
    if (kind == RACE) note = reason(a, lane, address, other, other_wrote, &kind);
    Finding *f = found((Finding){.kind = kind,
                                 .note = note,
                                 .site = a->number,
                                 .other_site = mark_site(other),
                                 .access = does(a)});
    if (!f) return;
    set_place(f, a->w, lane);
    set_memory(f, a, address);
    f->other_access = other & MARK_ATOMIC ? 2 : other_wrote;
    set_block(f->other_block, order_block_of(other));
    set_thread(f->other_thread, mark_warp(other), mark_lane(other));
}

void report_unwritten(Access *a, uint32_t lane, uint64_t address, uint32_t bytes)
{
    uint32_t moved = 0, size = a->bytes / a->site->elements;
    for (uint32_t e = 0; e < a->site->elements; e++)
        if (origin_of(a->number)->moves >> e & 1) moved |= ((1u << size) - 1) << e * size;
    Finding *f = found((Finding){.kind = UNINITIALISED,
                                 .note = bytes & ~moved ? NO_NOTE : MOVED,
                                 .site = a->number,
                                 .other_site = NO_SITE,
                                 .access = does(a),
                                 .unwritten = bytes});
    if (!f) return;
    set_place(f, a->w, lane);
    set_memory(f, a, address);
}

static bool report_place(Access *a, uint32_t kind, uint32_t lane, uint64_t address, uint32_t note)
{
    Finding *f = found_alone(kind, note, a->number, does(a));
    if (f) {
        set_place(f, a->w, lane);
        set_memory(f, a, address);
    }
    return false;
}

static bool report_bounds(Access *a, uint32_t lane, uint64_t address, uint32_t note)
{ return report_place(a, OUT_OF_BOUNDS, lane, address, note); }

/* ---- where accesses go ---- */

static Region *region_of(const Allocation *a)
{
    Region *r = NULL;
    for (size_t i = 0; i < s.region_count && !r; i++)
        if (s.regions[i]->end == a->end && s.regions[i]->begin == (a->begin & ~15ull))
            r = s.regions[i];
    if (!r) {
        if (!GROW(s.regions, s.region_count, s.region_room, 64)) return NULL;
        r = calloc(1, sizeof *r);
        if (!r || !shadow_make(r, a->begin, a->end)) {
            free(r);
            return NULL;
        }
        s.regions[s.region_count++] = r;
    }
    if (r->prepared == order.launch) return r;
    r->prepared = order.launch;
    shadow_coarsen(r);
    free(r->own_bits);
    r->own_bits = NULL;
    r->bits = written_bits(a);
    for (uint32_t i = 0; i < s.unwritten->count; i++) {
        Range u = s.unwritten->ranges[i];
        uint64_t begin = u.begin > a->begin ? u.begin : a->begin;
        uint64_t end = u.end < a->end ? u.end : a->end, size = a->end - a->begin;
        if (begin >= end) continue;
        if (!r->own_bits) {
            r->own_bits = malloc(size / 8 + 1);
            if (!r->own_bits) break;
            if (r->bits) memcpy(r->own_bits, r->bits, size / 8 + (size % 8 > 0));
            else memset(r->own_bits, 0xff, size / 8 + 1);
            r->bits = r->own_bits;
        }
        written_set(r->own_bits, begin - a->begin, end - begin, false);
    }
    r->all_written = !r->bits;
    return r;
}

/* The shadow of all memory for malloc in kernels; NULL: there is none. What malloc gave out in
   earlier launches counts as written. */
static Region *heap_region(void)
{
    Range whole = heap_whole(s.kernel->module->owner);
    uint64_t bytes = (whole.end - whole.begin) / 8;
    Region *r = &s.heap;
    if (r->begin != whole.begin || r->end != whole.end) {
        free(r->own_bits);
        shadow_free(r);
        if (!whole.end || !shadow_make(r, whole.begin, whole.end)) return NULL;
        r->bits = r->own_bits = malloc(bytes);
    }
    if (r->prepared != order.launch && r->own_bits) {
        shadow_coarsen(r);
        memset(r->own_bits, 0xff, bytes);
        r->prepared = order.launch;
    }
    return r->own_bits ? r : NULL;
}

static bool inside(uint64_t begin, uint64_t end, uint64_t address, uint64_t past)
{ return address >= begin && past <= end && past > address; }

/* Where an access to shared memory may go: to the variable that its address was computed from. */
static void shared_limits(const Access *a, uint64_t *begin, uint64_t *end)
{
    const Origin *o = origin_of(a->number);
    uint32_t size = a->w->shared_bytes;
    *begin = (uint64_t)a->w->shared + (o->end ? o->begin : 0);
    *end = (uint64_t)a->w->shared + (o->end && o->end < size ? o->end : size);
}

static bool admit_local(Access *a, uint32_t lane, uint64_t address)
{
    Warp *w = a->w;
    uint64_t begin = (uint64_t)w->local + lane * w->local_stride, past = address + a->bytes;
    if (!inside(begin, begin + s.kernel->local_bytes, address, past))
        return report_bounds(a, lane, address, NO_NOTE);
    if (past > begin + w->local_top) return report_bounds(a, lane, address, RETURNED);
    uint64_t bit = address - (uint64_t)w->worker->local;
    uint32_t unwritten = 0;
    for (uint32_t i = 0; a->load && i < a->bytes; i++)
        if (!written_test(s.here->local, bit + i, 1)) unwritten |= 1u << i;
    if (unwritten) report_unwritten(a, lane, address, unwritten);
    if (a->store) written_set(s.here->local, bit, a->bytes, true);
    return true;
}

/* Memory that is no array: kernel parameters, blocks of malloc, or nothing. */
static bool admit_elsewhere(Access *a, uint32_t lane, uint64_t address, Region **region)
{
    Range range;
    if (address - (uint64_t)a->w->params < s.kernel->param_bytes && !a->store) return true;
    HeapAnswer heap = heap_range(s.kernel->module->owner, address, &range);
    if (heap == IN_BLOCK && address + a->bytes <= range.end) {
        *region = heap_region();
        return true;
    }
    if (address < 65536) return report_bounds(a, lane, address, AT_NULL);
    if (heap != NOT_IN_HEAP) return report_bounds(a, lane, address, IN_HEAP);
    bool freed = was_freed(a->number, address, &range);
    return report_bounds(a, lane, address, freed ? FREED : NO_NOTE);
}

/* Checks one lane's address and finds its shadow (NULL: it has none). */
static bool admit(Access *a, uint32_t lane, uint64_t address, Region **region, Range *range)
{
    Warp *w = a->w;
    *region = NULL;
    *range = (Range){0, 0};
    if (address & (a->bytes - 1)) return report_place(a, MISALIGNED, lane, address, NO_NOTE);
    if (in_shared(w, a->site, address)) {
        *range = access_reserved_shared(w);
        if (inside(range->begin, range->end, address, address + a->bytes)) return true;
        shared_limits(a, &range->begin, &range->end);
        if (!inside(range->begin, range->end, address, address + a->bytes))
            return report_bounds(a, lane, address, NO_NOTE);
        *region = &s.here->shared;
        return true;
    }
    if (in_local(w, a->site, address)) return admit_local(a, lane, address);
    const Allocation *hit = memory_find(address);
    if (!hit) return admit_elsewhere(a, lane, address, region);
    if (hit->constant && a->store) return report_bounds(a, lane, address, CONSTANT);
    if (address + a->bytes > hit->end) return report_bounds(a, lane, address, NO_NOTE);
    Range array = meant(a->number, address);
    if (!array.end) array = array_at(address);
    if (!inside(array.begin, array.end, address, address + a->bytes))
        return report_bounds(a, lane, address,
                             inside(hit->begin, hit->end, array.begin, array.end) ? NO_NOTE
                                                                                  : WRONG_ARRAY);
    *range = array;
    if (!hit->constant) *region = region_of(hit);
    return true;
}

/* The addresses of an access in short. */
typedef struct {
    int64_t low, high;
    bool row; /* consecutive places for consecutive lanes */
    bool one; /* all the same */
    bool aligned;
} Shape;

/* Whether consecutive lanes access consecutive places. */
VECTORISED static bool in_a_row(const uint64_t *addr, uint32_t mask, uint64_t bytes)
{
    uint64_t off = 0, first = __builtin_ctz(mask), base = addr[first] - first * bytes;
    uint32_t others = mask >> first & ((mask >> first) + 1); /* beyond the first gap */
    if (mask == UINT32_MAX)
        for (uint64_t l = 0; l < LANES; l++) off |= addr[l] ^ (base + l * bytes);
    else if (!others)
        for (uint64_t l = first; l < LANES && mask >> l; l++) off |= addr[l] ^ (base + l * bytes);
    else
        for (uint64_t l = 0; l < LANES; l++)
            off |= (addr[l] ^ (base + l * bytes)) & -((uint64_t)mask >> l & 1);
    return !off;
}

VECTORISED static void scattered(const uint64_t *addr, uint32_t mask, uint32_t bytes, Shape *out)
{
    uint32_t first = __builtin_ctz(mask);
    int64_t one = addr[first];
    int64_t off_one = 0, ends = 0, low = INT64_MAX, high = INT64_MIN;
    for (int64_t l = 0; l < LANES; l++) {
        int64_t active = -((int64_t)mask >> l & 1), at = addr[l];
        int64_t at_low = (at & active) | (INT64_MAX & ~active);
        int64_t at_high = (at & active) | (INT64_MIN & ~active);
        off_one |= (at ^ one) & active;
        ends |= at & active;
        low = at_low < low ? at_low : low;
        high = at_high > high ? at_high : high;
    }
    *out = (Shape){low, high, false, !off_one, !(ends & (bytes - 1))};
}

static void shape_of(const uint64_t *addr, uint32_t mask, uint32_t bytes, Shape *out)
{
    uint32_t first = __builtin_ctz(mask), last = 31 - __builtin_clz(mask);
    if (in_a_row(addr, mask, bytes))
        *out = (Shape){addr[first], addr[last], true, first == last, !(addr[first] & (bytes - 1))};
    else scattered(addr, mask, bytes, out);
}

/* Whether all lanes are inside memory with one shadow, which is then returned through region. */
static bool all_inside(const Access *a, const Shape *shape, Region **region)
{
    uint64_t begin = s.last[a->number].begin, end = s.last[a->number].end;
    if (!shape->aligned) return false;
    *region = s.last[a->number].region;
    if (a->site->space == SPACE_SHARED) {
        shared_limits(a, &begin, &end);
        *region = &s.here->shared;
    }
    return inside(begin, end, shape->low, shape->high + a->bytes);
}

static void set_access(Access *a, Warp *w, uint32_t site, uint32_t mask, uint32_t says)
{
    a->w = w;
    a->site = &s.kernel->sites[site];
    a->number = site;
    a->bytes = a->site->bytes;
    a->load = a->site->kind != SITE_STORE;
    a->store = a->site->kind != SITE_LOAD;
    a->atomic = a->site->kind == SITE_ATOMIC || a->site->kind == SITE_RED;
    a->flags = says & SAYS_OF_MARKS;
    a->mark = mark_of(order.now, site, w->warp_id, 0, a->flags);
    if (a->load && says & SAYS_POLLS) s.here->polled[w->warp_id] |= mask;
}

/* How many lanes from `first` on access consecutive places. */
static uint32_t row_from(const uint64_t *addr, uint32_t mask, uint32_t first, uint32_t bytes,
                         bool all_do)
{
    uint32_t gap = ~(mask >> first);
    if (all_do) return gap ? __builtin_ctz(gap) : LANES;
    uint32_t lane = first + 1;
    while (lane < LANES && mask >> lane & 1 && addr[lane] == addr[lane - 1] + bytes) lane++;
    return lane - first;
}

/* Looks at an access of memory with one shadow; stores data unless the lanes are in a row. */
static bool look_up(Access *a, Region *region, const uint64_t *addr, uint32_t mask,
                    const Shape *shape, const void *data)
{
    if (shape->one && !data) { /* two lanes stand for all */
        uint32_t first = __builtin_ctz(mask), last = 31 - __builtin_clz(mask);
        shadow_lane(a, region, addr[first], first, NULL);
        if (last != first) shadow_lane(a, region, addr[last], last, NULL);
        return false;
    }
    bool rows = a->load != a->store && !a->atomic, stores = data && !shape->row;
    for (uint32_t left = mask, lanes; left;) {
        uint32_t first = __builtin_ctz(left);
        lanes = rows ? row_from(addr, mask, first, a->bytes, shape->row) : 1;
        if (lanes > 2) shadow_row(a, region, addr[first], first, lanes, data);
        else
            for (uint32_t i = 0; i < lanes; i++)
                shadow_lane(a, region, addr[first + i], first + i, data);
        uint32_t done = (lanes < LANES ? (1u << lanes) - 1 : UINT32_MAX) << first;
        if (stores) access_write(addr, done, a->site, data);
        left &= ~done;
    }
    return stores;
}

/* Looks at an access; returns the lanes whose address is good, and whether it stored them. */
static uint32_t inspect(Access *a, const uint64_t *addr, uint32_t mask, const void *data,
                        bool *stored)
{
    Shape shape;
    Region *region;
    shape_of(addr, mask, a->bytes, &shape);
    *stored = false;
    if (all_inside(a, &shape, &region)) {
        if (region) *stored = look_up(a, region, addr, mask, &shape, data);
        return mask;
    }
    uint32_t good = 0;
    Range range, last = {0, 0};
    Region *last_region = NULL;
    FOR_LANES(lane, mask)
    {
        if (!admit(a, lane, addr[lane], &region, &range)) continue;
        good |= 1u << lane;
        if (region) shadow_lane(a, region, addr[lane], lane, data);
        if (data) access_write(addr, 1u << lane, a->site, data);
        last = range;
        last_region = region;
    }
    *stored = data != NULL;
    if (last.end) {
        s.last[a->number].begin = last.begin;
        s.last[a->number].end = last.end;
        s.last[a->number].region = last_region;
    }
    return good;
}

/* Flags and atomics tell other threads what came before them. */
static void pass_on(const Access *a, const uint64_t *addr, uint32_t good, uint32_t says)
{
    if (!(a->flags & (MARK_ATOMIC | MARK_VOLATILE))) return;
    FOR_LANES(lane, good)
    {
        if (a->load) order_learn(a->w->warp_id, lane, addr[lane]);
        if (a->store) order_publish(a->w->warp_id, lane, addr[lane], says & SAYS_RELEASE);
    }
}

static void clear_lanes(void *data, uint32_t lanes, const struct Site *site)
{
    uint32_t size = site->bytes / site->elements;
    FOR_LANES(lane, lanes)
    for (uint32_t e = 0; e < site->elements; e++)
        memset((char *)data + (e * LANES + lane) * size, 0, size);
}

uint32_t sanitize_access(Warp *w, uint32_t site, const uint64_t *addr, uint32_t mask,
                         const void *data, uint32_t says)
{
    Access a;
    bool stored;
    if (!mask) return 0;
    set_access(&a, w, site, mask, says);
    return inspect(&a, addr, mask, data, &stored);
}

void sg_sanitize_load(Warp *w, uint32_t site, const uint64_t *addr, uint32_t mask, void *data,
                      uint32_t says)
{
    Access a;
    bool stored;
    if (!mask) return;
    set_access(&a, w, site, mask, says);
    uint32_t good = inspect(&a, addr, mask, NULL, &stored);
    if (good != mask) clear_lanes(data, mask & ~good, a.site);
    access_read(addr, good, a.site, data);
    pass_on(&a, addr, good, says);
}

void sg_sanitize_store(Warp *w, uint32_t site, const uint64_t *addr, uint32_t mask,
                       const void *data, uint32_t says)
{
    Access a;
    bool stored;
    if (!mask) return;
    set_access(&a, w, site, mask, says);
    uint32_t good = inspect(&a, addr, mask, data, &stored);
    if (!stored) access_write(addr, good, a.site, data);
    pass_on(&a, addr, good, says);
}

void sg_sanitize_atomic(Warp *w, uint32_t site, uint32_t op, uint32_t type, const uint64_t *addr,
                        uint32_t mask, const void *operand, const void *b, void *out, uint32_t says)
{
    Access a;
    bool stored;
    if (!mask) return;
    set_access(&a, w, site, mask, says);
    if (op == OP_EXCH) a.load = false;
    uint32_t good = inspect(&a, addr, mask, NULL, &stored);
    if (good != mask && out) clear_lanes(out, mask & ~good, a.site);
    if (good) sg_atomic(w, site, op, type, addr, good, operand, b, out);
    a.load = true;
    pass_on(&a, addr, good, says);
}

void sg_sanitize_fence(Warp *w, uint32_t mask, uint32_t says)
{ order_fence(w->warp_id, mask, says & SAYS_DEVICE); }

/* What malloc gives out has not been written, and nobody else knows of it. */
void sg_sanitize_malloc(Warp *w, uint32_t mask, const uint64_t *size, uint64_t *out)
{
    sg_malloc(w, mask, size, out);
    Region *r = heap_region();
    FOR_LANES(lane, mask)
    {
        if (!r || !out[lane]) continue;
        uint64_t end = out[lane] + size[lane];
        written_set(r->own_bits, out[lane] - r->begin, size[lane], false);
        shadow_clear(r, out[lane], (end + 15) / 16 * 16);
    }
}

/* ---- warps and barriers ---- */

static void report_group(Warp *w, uint32_t kind, uint32_t note, uint32_t site, uint32_t lane,
                         uint32_t other)
{
    Finding *f = found_alone(kind, note, site, 0);
    if (!f) return;
    set_place(f, w, lane);
    set_thread(f->other_thread, w->warp_id, other);
}

/* Lanes meet at an instruction that names them: shfl.sync, vote.sync, bar.warp.sync ... */
static void meet(Warp *w, uint32_t site, uint32_t kind, const uint32_t *members, uint32_t active)
{
    for (uint32_t left = active; left;) {
        uint32_t first = __builtin_ctz(left), group = 0, named = members[first];
        FOR_LANES(lane, left) group |= (members[lane] == named) << lane;
        left &= ~group;
        if (group & ~named)
            report_group(w, kind, NOT_NAMED, site, __builtin_ctz(group & ~named), first);
        uint32_t missing = named & w->live & ~group;
        if (missing) report_group(w, kind, ABSENT, site, first, __builtin_ctz(missing));
        order_warp(w->warp_id, group & named, w->live);
    }
}

void sg_sanitize_meet(Warp *w, uint32_t site, const uint32_t *members, uint32_t active,
                      uint32_t shuffle)
{
    if (active) meet(w, site, shuffle ? INACTIVE_SHUFFLE : DIVERGENT_BARRIER, members, active);
}

void sg_sanitize_shuffle(Warp *w, uint32_t site, uint32_t mode, const uint32_t *b,
                         const uint32_t *c, const uint32_t *members, uint32_t active)
{
    uint32_t from[LANES], own[LANES], in_range;
    if (!active) return;
    for (uint32_t i = 0; i < LANES; i++) own[i] = i;
    sg_shuffle(mode, own, b, c, active, from, &in_range);
    FOR_LANES(lane, active)
    {
        uint32_t source = from[lane];
        if (!(in_range >> lane & 1)) continue;
        if (!(w->existing >> source & 1))
            report_group(w, INACTIVE_SHUFFLE, NO_THREAD, site, lane, source);
        else if (!(active >> source & 1))
            report_group(w, INACTIVE_SHUFFLE, w->live >> source & 1 ? NO_NOTE : EXITED, site, lane,
                         source);
        else if (!(members[lane] >> source & 1))
            report_group(w, INACTIVE_SHUFFLE, NOT_NAMED, site, lane, source);
    }
    meet(w, site, INACTIVE_SHUFFLE, members, active);
}

static uint32_t exited_lanes(const Warp *w) { return w->existing & ~w->live; }

/* A barrier is complete; the running warp is the first to go on. */
static void pass_barrier(Warp *w, uint32_t id, bool all)
{
    Worker *k = w->worker;
    uint32_t came = s.here->barrier_came[id], waits = s.here->barrier_waits[id];
    s.here->barrier_came[id] = s.here->barrier_waits[id] = 0;
    order_barrier(id, waits, all);
    if (!all) return;
    uint32_t site = s.here->barrier_site[id][__builtin_ctz(came)];
    FOR_LANES(other, came)
    {
        uint32_t second = s.here->barrier_site[id][other];
        if (same_line(site, second)) continue;
        Finding *f = found((Finding){
            .kind = DIVERGENT_BARRIER, .note = TWO_LINES, .site = site, .other_site = second});
        if (!f) continue;
        set_place(f, w, 0);
        set_thread(f->thread, __builtin_ctz(came), 0);
        set_thread(f->other_thread, other, 0);
    }
    uint32_t gone = s.job->threads - k->live_threads;
    if (!gone) return;
    Finding *f = found_alone(DIVERGENT_BARRIER, EXITED, site, 0);
    if (!f) return;
    const Warp *there = &k->warps[__builtin_ctz(came)];
    set_place(f, there, there->live ? __builtin_ctz(there->live) : 0);
    f->lanes = gone;
    for (uint32_t i = 0; i < s.job->warps; i++) {
        uint32_t lanes = exited_lanes(&k->warps[i]);
        if (!lanes) continue;
        set_thread(f->other_thread, i, __builtin_ctz(lanes));
        return;
    }
}

static uint32_t come(Warp *w, uint32_t site, uint32_t id, uint32_t mask, uint32_t says,
                     bool goes_on)
{
    uint32_t skip = says & SAYS_ALIGNED ? w->live & ~mask : 0;
    if (skip) {
        Finding *f = found_alone(DIVERGENT_BARRIER, NO_NOTE, site, 0);
        if (f) {
            set_place(f, w, __builtin_ctz(mask));
            set_thread(f->other_thread, w->warp_id, __builtin_ctz(skip));
            f->lanes = __builtin_popcount(skip);
        }
        mask = w->live;
    }
    if (id < BARRIERS) {
        s.here->barrier_site[id][w->warp_id] = site;
        s.here->barrier_came[id] |= 1u << w->warp_id;
        order_arrive(w->warp_id, id, goes_on);
    }
    return mask;
}

uint32_t sg_sanitize_barrier(Warp *w, uint32_t site, uint32_t id, uint32_t threads, uint32_t mask,
                             uint32_t reduce, uint32_t predicate, uint32_t says)
{
    mask = come(w, site, id, mask, says, false);
    if (id < BARRIERS) s.here->barrier_waits[id] |= 1u << w->warp_id;
    uint32_t result = sg_barrier(w, site, id, threads, mask, reduce, predicate);
    if (s.here->barrier_came[id] >> w->warp_id & 1) pass_barrier(w, id, !threads);
    return result;
}

void sg_sanitize_barrier_arrive(Warp *w, uint32_t site, uint32_t id, uint32_t threads,
                                uint32_t mask, uint32_t says)
{
    mask = come(w, site, id, mask, says, true);
    sg_barrier_arrive(w, site, id, threads, mask);
    if (!w->worker->barriers[id].arrived) pass_barrier(w, id, !threads);
}

/* ---- blocks ---- */

/* Makes a seat ready for a launch. */
static bool prepare(Seat *seat)
{
    seat->launch = order.launch;
    seat->block = 0;
    shadow_coarsen(&seat->shared);
    free(seat->local);
    seat->local = calloc(s.job->local_stride * LANES * s.job->warps / 8 + 1, 1);
    return seat->past && seat->local;
}

/* From now on, the block in a worker's seat runs. */
static bool enter(Worker *k)
{
    Seat *seat = k->watching;
    if (!seat) {
        seat = k->watching = calloc(1, sizeof *seat);
        if (!seat) return false;
        seat->past = order_new_past();
        seat->next = s.seats;
        s.seats = seat;
    }
    if (seat == s.here) return true;
    if (seat->launch != order.launch && !prepare(seat)) return false;
    s.here = seat;
    order_switch(seat->past);
    return true;
}

/* All that is known of earlier launches means nothing any more. */
static void forget_seats(void)
{
    for (Seat *seat = s.seats; seat; seat = seat->next) {
        shadow_free(&seat->shared);
        order_free_past(seat->past);
        seat->past = order_new_past();
        seat->launch = 0;
    }
}

/* A warp starts. */
void sg_sanitize_start(Warp *w)
{
    if (s.here->block != w->worker->block) {
        s.here->block = w->worker->block;
        order_begin_block(s.here->block - 1);
        if (!s.here->shared.room &&
            shadow_make(&s.here->shared, (uint64_t)w->shared, (uint64_t)w->shared + SHARED_PER_SM))
            s.here->shared.is_shared = true;
        memset(s.here->polled, 0, sizeof s.here->polled);
        memset(s.here->barrier_came, 0, sizeof s.here->barrier_came);
        memset(s.here->barrier_waits, 0, sizeof s.here->barrier_waits);
    }
    uint64_t bits = w->local_stride * LANES / 8;
    if (bits) memset(s.here->local + w->warp_id * bits, 0, bits);
}

/* ---- launches ---- */

static void drop_regions(bool all)
{
    uint64_t total = 0;
    size_t kept = 0;
    for (size_t i = 0; i < s.region_count; i++) total += s.regions[i]->room;
    all |= total > KEPT_BYTES;
    for (size_t i = 0; i < s.region_count; i++) {
        Region *r = s.regions[i];
        const Allocation *a = memory_find(r->end - 1);
        if (!all && a && a->end == r->end && (a->begin & ~15ull) == r->begin) {
            s.regions[kept++] = r;
            continue;
        }
        shadow_free(r);
        free(r->own_bits);
        free(r);
    }
    s.region_count = kept;
}

static CUresult begin(Job *job)
{
    job->in_order = true;
    job->enter = enter;
    s.job = job;
    s.kernel = job->kernel;
    s.here = NULL;
    s.unwritten = &said_unwritten;
    s.bounds = &said_bounds;
    Report *r = s.report = &last_report;
    size_t known =
        s.kernel->param_bytes < sizeof r->params ? s.kernel->param_bytes : sizeof r->params;
    r->count = 0;
    r->dropped = 0;
    r->module = s.kernel->module->handle;
    snprintf(r->name, sizeof r->name, "%s", s.kernel->name);
    memcpy(r->params, job->params, known);
    memset(r->params + known, 0, sizeof r->params - known);
    if (order_begin_launch(job)) {
        drop_regions(true);
        forget_seats();
        free(s.heap.own_bits);
        shadow_free(&s.heap);
    }
    drop_regions(false);
    free(s.last);
    s.last = calloc(s.kernel->site_count + 1, sizeof *s.last);
    return s.last ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

/* What the launch wrote stays written. */
static void keep_written(void)
{
    for (size_t i = 0; i < s.region_count; i++) {
        Region *r = s.regions[i];
        const Allocation *a = memory_find(r->end - 1);
        if (r->all_written || (r->written < order.launch && r->atomic < order.launch) ||
            r->prepared != order.launch || !a)
            continue;
        uint64_t run = 0, at = a->begin - r->begin, end = r->end - r->begin;
        for (; at < end; at++) {
            const Planes *p = r->fine[at / 256] ? &r->bytes : &r->words;
            uint64_t i = r->fine[at / 256] ? at : at / 4;
            bool written =
                p->write[i] >= MARK_AT(order.launch) || p->atomic[i] >= MARK_AT(order.launch);
            if (written) {
                run++;
            } else if (run) {
                written_by_host(r->begin + at - run, run);
                run = 0;
            }
        }
        if (run) written_by_host(r->begin + at - run, run);
    }
}

static void end(Job *job)
{
    (void)job;
    if (!instrument) keep_written();
    order_end_launch();
    for (Seat *seat = s.seats; seat; seat = seat->next)
        if (seat->next) shadow_free(&seat->shared); /* only one launch in many has several */
    drop_regions(false);
}

static CUresult report(CUresult result)
{
    if (instrument || !last_report.count || !on_report) return result;
    CUresult told = on_report();
    return result || !told ? result : fail_as_told(told);
}

static const Instrument sanitizer = {BUILD_SANITIZE, begin, end, report};

__attribute__((constructor)) static void read_environment(void)
{
    const char *text = getenv("SOFTGPU_SANITIZE");
    sg_sanitize_all(text && *text && strcmp(text, "0"));
}

/* ---- what Python calls ---- */

void sg_set_reporter(ReportCallback callback) { on_report = callback; }

void sg_sanitize(int on)
{
    instrument = on ? &sanitizer : NULL;
    said_unwritten.count = said_bounds.count = 0;
    if (!on) return;
    last_report.count = 0;
    last_report.module = NULL;
}

void sg_sanitize_all(int on) { instrument_of_all = on ? &sanitizer : NULL; }

const char *sg_sanitize_kernel(void **module)
{
    *module = last_report.module;
    return last_report.module ? last_report.name : NULL;
}

static void say(Ranges *said, uint64_t address, size_t bytes)
{
    if (said->count < sizeof said->ranges / sizeof *said->ranges)
        said->ranges[said->count++] = (Range){address, address + bytes};
}

void sg_sanitize_unwritten(uint64_t address, size_t bytes) { say(&said_unwritten, address, bytes); }

void sg_sanitize_bounds(uint64_t address, size_t bytes) { say(&said_bounds, address, bytes); }

uint32_t sg_sanitize_findings(Finding *out, uint32_t room, uint64_t *dropped, char *params)
{
    const Report *r = &last_report;
    uint32_t count = r->count < room ? r->count : room;
    memcpy(out, r->findings, count * sizeof *out);
    memcpy(params, r->params, sizeof r->params);
    *dropped = r->dropped;
    return r->count;
}
