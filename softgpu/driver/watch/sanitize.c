/* The sanitizer: a build of kernels in which every access, barrier, shuffle and fence is looked at.
   What is wrong is noted and the launch goes on without the lanes that did it. */
#include <stdlib.h>
#include <string.h>

#include "sanitize.h"

Watch watch; /* the launch that it looks at */

enum { GARBAGE = 0xff }; /* what bytes are before they are written: NaN as floats, -1 as numbers */

static _Thread_local Ranges said_unwritten, said_bounds;
static _Thread_local bool writes_stay; /* nobody puts the arguments back */
static Seat *seats;                    /* all of them */
static struct {
    Range range;
    Region *region;
} *last_went; /* by site: where it went the last time */

/* ---- where accesses may go ---- */

static bool inside(Range range, uint64_t address, uint64_t past)
{ return address >= range.begin && past <= range.end && past > address; }

static bool report_bounds(const Access *a, uint32_t lane, uint64_t address, uint32_t note)
{ return report_place(a, OUT_OF_BOUNDS, lane, address, note); }

static bool admit_local(Access *a, uint32_t lane, uint64_t address)
{
    Warp *w = a->w;
    uint64_t begin = (uint64_t)w->local + lane * w->local_stride, past = address + a->bytes;
    if (!inside((Range){begin, begin + watch.kernel->local_bytes}, address, past))
        return report_bounds(a, lane, address, NO_NOTE);
    if (past > begin + w->local_top) return report_bounds(a, lane, address, RETURNED);
    uint64_t bit = address - (uint64_t)w->worker->local;
    uint32_t unwritten = 0;
    for (uint32_t i = 0; a->load && i < a->bytes; i++)
        if (!written_test(watch.here->local, bit + i, 1)) unwritten |= 1u << i;
    if (unwritten) report_unwritten(a, lane, address, unwritten);
    if (a->store) written_set(watch.here->local, bit, a->bytes, true);
    return true;
}

/* Memory that is no array: kernel parameters, blocks of malloc, or nothing. */
static bool admit_elsewhere(Access *a, uint32_t lane, uint64_t address, Region **region)
{
    Range range;
    if (address - (uint64_t)a->w->params < watch.kernel->param_bytes && !a->store) return true;
    HeapAnswer heap = heap_range(watch.kernel->module->owner, address, &range);
    if (heap == IN_BLOCK && address + a->bytes <= range.end) {
        *region = region_of_heap();
        return true;
    }
    if (address < 65536) return report_bounds(a, lane, address, AT_NULL);
    if (heap != NOT_IN_HEAP) return report_bounds(a, lane, address, IN_HEAP);
    bool freed = meant_freed(a->number, address, &range);
    return report_bounds(a, lane, address, freed ? FREED : NO_NOTE);
}

/* Whether a lane knows that another block of its cluster has begun: somebody of its own block has
   waited for all of them, before, or it has heard of that one otherwise. */
static bool knows_begun(const Warp *w, uint32_t lane, const Worker *owner)
{
    Seat *here = watch.here;
    const uint32_t warp = w->warp_id, bit = 1u << lane;
    for (uint32_t other = 0; other < MAX_WARPS && !(here->fresh.met[warp] & bit); other++) {
        const uint32_t since = here->met_since[other];
        FOR_LANES(l, here->fresh.met[other])
        if (order_before(mark_of(since, 0, other, l, 0), warp, lane)) {
            note_met(w, bit);
            break;
        }
    }
    return here->fresh.met[warp] & bit || order_heard_of(owner->block - 1, warp, lane);
}

Seat *seat_of(const Worker *worker)
{
    Seat *seat = worker->watching;
    const bool has_begun = seat && seat->launch == order.launch && seat->block == worker->block;
    return has_begun ? seat : NULL; /* else it is as another launch has left it */
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
        if (inside(*range, address, address + a->bytes)) return true;
        *range = meant_shared(a);
        if (!inside(*range, address, address + a->bytes))
            return report_bounds(a, lane, address, NO_NOTE);
        *region = &watch.here->shared;
        return true;
    }
    if (in_local(w, a->site, address)) return admit_local(a, lane, address);
    const Worker *owner = cluster_owner(w->worker, address);
    if (owner && owner != w->worker) {
        access_check(w, a->number, &address - lane, 1u << lane);
        if (!knows_begun(w, lane, owner)) report_place(a, OUT_OF_BOUNDS, lane, address, NOT_BEGUN);
        Seat *there = seat_of(owner);
        if (there) *region = &there->shared;
        return true;
    }
    const Allocation *hit = memory_find(address);
    if (!hit) return admit_elsewhere(a, lane, address, region);
    if (!peer_reaches(watch.kernel->module->owner, hit))
        return report_bounds(a, lane, address, OTHER_DEVICE);
    if (hit->constant && a->store) return report_bounds(a, lane, address, CONSTANT);
    if (address + a->bytes > hit->end) return report_bounds(a, lane, address, NO_NOTE);
    Range array = meant_array(a->number, address);
    if (!inside(array, address, address + a->bytes))
        return report_bounds(
            a, lane, address,
            inside((Range){hit->begin, hit->end}, array.begin, array.end) ? NO_NOTE : WRONG_ARRAY);
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
    uint32_t next, same; /* bit l: lane l + 1, too, is active: at the next place, or the same */
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
    uint32_t first = __builtin_ctz(mask), pairs = mask & mask >> 1;
    int64_t one = addr[first];
    int64_t off_one = 0, ends = 0, low = INT64_MAX, high = INT64_MIN, next = 0, same = 0;
    for (int64_t l = 0; l < LANES; l++) {
        int64_t active = -((int64_t)mask >> l & 1), at = addr[l];
        int64_t at_low = (at & active) | (INT64_MAX & ~active);
        int64_t at_high = (at & active) | (INT64_MIN & ~active);
        off_one |= (at ^ one) & active;
        ends |= at & active;
        low = at_low < low ? at_low : low;
        high = at_high > high ? at_high : high;
    }
    for (int64_t l = 0; off_one && l < LANES - 1; l++) {
        next |= (int64_t)(addr[l + 1] == addr[l] + bytes) << l;
        same |= (int64_t)(addr[l + 1] == addr[l]) << l;
    }
    *out = (Shape){low, high, false, !off_one, !(ends & (bytes - 1)), next & pairs, same & pairs};
}

static void shape_of(const uint64_t *addr, uint32_t mask, uint32_t bytes, Shape *out)
{
    uint32_t first = __builtin_ctz(mask), last = 31 - __builtin_clz(mask);
    if (!in_a_row(addr, mask, bytes)) scattered(addr, mask, bytes, out);
    else
        *out =
            (Shape){addr[first],      addr[last], true, first == last, !(addr[first] & (bytes - 1)),
                    mask & mask >> 1, 0};
}

/* Whether all lanes are inside memory with one shadow, which is then returned through region. */
static bool all_inside(const Access *a, const Shape *shape, Region **region)
{
    Range range = last_went[a->number].range;
    if (!shape->aligned) return false;
    *region = last_went[a->number].region;
    if (a->site->space == SPACE_SHARED) {
        range = meant_shared(a);
        *region = &watch.here->shared;
    }
    return inside(range, shape->low, shape->high + a->bytes);
}

static void set_access(Access *a, Warp *w, uint32_t site, uint32_t mask, uint32_t hints)
{
    a->w = w;
    a->site = &watch.kernel->sites[site];
    a->number = site;
    a->bytes = a->site->bytes;
    a->load = a->site->kind != SITE_STORE;
    a->store = a->site->kind != SITE_LOAD && a->site->kind != SITE_TENSOR;
    a->atomic = a->site->kind == SITE_ATOMIC || a->site->kind == SITE_RED;
    a->observes = false;
    a->from = 0;
    a->flags = hints & HINTS_OF_MARKS;
    uint32_t blind = a->flags & MARK_ATOMIC && !a->load ? MARK_BLIND : 0;
    a->mark = mark_of(order.now, site, w->warp_id, 0, a->flags | blind);
    if (a->load && hints & HINT_POLLS) watch.here->fresh.polled[w->warp_id] |= mask;
}

/* Whether nobody can wait for it, or learn of anything by it. */
static bool is_plain(const Access *a)
{ return !a->atomic && !(a->flags & (MARK_ATOMIC | MARK_VOLATILE | MARK_POLLS)); }

/* Looks at lanes that access consecutive places. */
static void look_at_row(Access *a, Region *region, const uint64_t *addr, uint32_t first,
                        uint32_t lanes, const void *data)
{
    if (lanes > 2 || is_plain(a)) shadow_row(a, region, addr[first], first, lanes, data);
    else
        for (uint32_t lane = first; lane < first + lanes; lane++)
            shadow_lane(a, region, addr[lane], lane, data);
}

/* Looks at an access of memory with one shadow. Lanes that are in no row store as they are looked at:
   the next one is compared with what they leave. */
static void look_up(Access *a, Region *region, const uint64_t *addr, uint32_t mask,
                    const Shape *shape, const void *data)
{
    if (shape->one && !data) { /* two lanes stand for all */
        uint32_t first = __builtin_ctz(mask), last = 31 - __builtin_clz(mask);
        look_at_row(a, region, addr, first, 1, NULL);
        if (last != first) look_at_row(a, region, addr, last, 1, NULL);
        return;
    }
    const uint32_t next = a->load != a->store && !a->atomic ? shape->next : 0;
    const uint32_t same = is_plain(a) && !a->store ? shape->same : 0;
    for (uint32_t left = mask, lanes; left;) {
        uint32_t first = __builtin_ctz(left);
        bool alike = same >> first & 1;
        lanes = 1 + __builtin_ctz(~((alike ? same : next) >> first));
        if (alike) shadow_same(a, region, addr[first], first, lanes);
        else look_at_row(a, region, addr, first, lanes, data);
        uint32_t done = (lanes < LANES ? (1u << lanes) - 1 : UINT32_MAX) << first;
        if (data && !shape->row) access_write(addr, done, a->site, data);
        left &= ~done;
    }
}

/* Looks at an access; returns the lanes whose address is good. */
static uint32_t inspect(Access *a, const uint64_t *addr, uint32_t mask, const void *data)
{
    const Seat *here = watch.here;
    if (here->copies || here->products || here->bulks) {
        copies_collide(a, addr, mask);
        products_collide(a, addr, mask);
        bulks_collide(a, addr, mask);
    }
    Shape shape;
    Region *region;
    shape_of(addr, mask, a->bytes, &shape);
    a->row = shape.row;
    if (all_inside(a, &shape, &region)) {
        if (region && (a->store || !shadow_idle(region)))
            look_up(a, region, addr, mask, &shape, data);
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
    if (last.end) {
        last_went[a->number].range = last;
        last_went[a->number].region = last_region;
    }
    return good;
}

/* The longest aligned part of an access that begins with the first of some bytes and has no others. */
static uint32_t part_of(uint32_t bytes)
{
    uint32_t from = __builtin_ctz(bytes), size = 1;
    while (!(from & size) && !((((1ull << 2 * size) - 1) << from) & ~(uint64_t)bytes)) size *= 2;
    return size;
}

/* Looks at some of the bytes that each lane loads; returns the lanes whose address is good. */
static uint32_t inspect_bytes(Access *a, const uint64_t *addr, uint32_t mask, uint32_t used)
{
    uint64_t part[LANES];
    FOR_LANES(lane, mask)
    if (addr[lane] & (a->site->bytes - 1) &&
        !report_place(a, MISALIGNED, lane, addr[lane], NO_NOTE))
        mask &= ~(1u << lane);
    for (uint32_t left = used; left && mask; left &= ~(((1ull << a->bytes) - 1) << a->from)) {
        a->from = __builtin_ctz(left);
        a->bytes = part_of(left);
        FOR_LANES(lane, mask) part[lane] = addr[lane] + a->from;
        mask = inspect(a, part, mask, NULL);
    }
    a->from = 0;
    a->bytes = a->site->bytes;
    return mask;
}

/* Looks at the bytes that a load is for; returns the lanes whose address is good. */
static uint32_t inspect_used(Access *a, const uint64_t *addr, uint32_t mask)
{
    uint32_t good = 0;
    if (!a->site->used && !a->w->lengths) return inspect(a, addr, mask, NULL);
    while (mask) {
        uint32_t used = access_used(a->w, a->site, __builtin_ctz(mask)), same = 0;
        FOR_LANES(lane, mask)
        if (access_used(a->w, a->site, lane) == used) same |= 1u << lane;
        good |= used ? inspect_bytes(a, addr, same, used) : inspect(a, addr, same, NULL);
        mask &= ~same;
    }
    a->row = false;
    return good;
}

/* Flags and atomics tell other threads what came before them. */
static void pass_on(const Access *a, const uint64_t *addr, uint32_t good, uint32_t hints)
{
    if (!(a->flags & (MARK_ATOMIC | MARK_VOLATILE))) return;
    FOR_LANES(lane, good)
    {
        if (a->load) order_learn(a->w->warp_id, lane, addr[lane]);
        if (a->store) order_publish(a->w->warp_id, lane, addr[lane], hints & HINT_RELEASE);
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
                         const void *data, uint32_t hints)
{
    Access a;
    if (!mask) return 0;
    set_access(&a, w, site, mask, hints);
    return inspect(&a, addr, mask, data);
}

/* Whether lanes' values lie in memory as they do in registers. */
static bool moves_at_once(const Access *a, uint32_t mask)
{ return mask == UINT32_MAX && a->row && a->site->elements == 1; }

/* No memcpy, of which gcc makes a string instruction that takes ten times as long. */
static void move_at_once(void *to, const void *from, uint32_t bytes)
{ memmove(to, from, LANES * bytes); }

/* Reads the good lanes' values. */
static void read_lanes(const Access *a, const uint64_t *addr, uint32_t mask, void *data)
{
    if (moves_at_once(a, mask)) move_at_once(data, (const void *)addr[0], a->bytes);
    else access_read(addr, mask, a->site, data);
}

/* Stores the good lanes' values. */
static void write_lanes(const Access *a, const uint64_t *addr, uint32_t mask, const void *data)
{
    if (moves_at_once(a, mask)) move_at_once((void *)addr[0], data, a->bytes);
    else access_write(addr, mask, a->site, data);
}

/* Where all lanes load from: nowhere that is known to be idle, or there, or in a row there. */
enum { LOOKED_AT, IDLE, IDLE_ROW };

VECTORISED static int idle(const uint64_t *addr, Range range, uint64_t bytes)
{
    uint64_t off = 0, outside = 0, first = addr[0];
    for (uint64_t l = 0; l < LANES; l++) {
        off |= addr[l] ^ (first + l * bytes);
        outside |=
            (addr[l] - range.begin) | (range.end - bytes - addr[l]) | -(addr[l] & (bytes - 1));
    }
    return (int64_t)outside < 0 ? LOOKED_AT : off ? IDLE : IDLE_ROW;
}

/* Loads for all lanes from where this site's last access went, if that is all; see shadow_idle. */
static bool load_idle(Warp *w, uint32_t number, const uint64_t *addr, void *data)
{
    const struct Site *site = &watch.kernel->sites[number];
    const Region *region = last_went[number].region;
    if (!region || !shadow_idle(region) || site->used || w->lengths) return false;
    int found = idle(addr, last_went[number].range, site->bytes);
    if (found == IDLE_ROW && site->elements == 1)
        move_at_once(data, (const void *)addr[0], site->bytes);
    else if (found) access_read(addr, UINT32_MAX, site, data);
    return found;
}

void sg_sanitize_load(Warp *w, uint32_t site, const uint64_t *addr, uint32_t mask, void *data,
                      uint32_t hints)
{
    Access a;
    if (!mask) return;
    const bool plain = mask == UINT32_MAX && !(hints & ~HINT_READ_ONLY);
    if (plain && load_idle(w, site, addr, data)) return;
    set_access(&a, w, site, mask, hints);
    uint32_t good = inspect_used(&a, addr, mask);
    if (good != mask) clear_lanes(data, mask & ~good, a.site);
    read_lanes(&a, addr, good, data);
    pass_on(&a, addr, good, hints);
}

void sg_sanitize_store(Warp *w, uint32_t site, const uint64_t *addr, uint32_t mask,
                       const void *data, uint32_t hints)
{
    Access a;
    if (!mask) return;
    set_access(&a, w, site, mask, hints);
    uint32_t good = inspect(&a, addr, mask, data);
    write_lanes(&a, addr, good, data);
    pass_on(&a, addr, good, hints);
}

/* The lanes whose memory is as it was: a look tells nobody anything. */
static uint32_t unchanged(const Access *a, const uint64_t *addr, uint32_t mask, const char *before)
{
    char now[LANES * 16];
    uint32_t same = 0;
    access_read(addr, mask, a->site, now);
    FOR_LANES(lane, mask)
    same |= (uint32_t)!memcmp(before + lane * a->bytes, now + lane * a->bytes, a->bytes) << lane;
    return same;
}

void sg_sanitize_atomic(Warp *w, uint32_t site, uint32_t op, uint32_t type, const uint64_t *addr,
                        uint32_t mask, const void *operand, const void *b, void *out,
                        uint32_t hints)
{
    Access a;
    if (!mask) return;
    set_access(&a, w, site, mask, hints);
    if (op == OP_EXCH) a.load = false, a.mark |= MARK_BLIND;
    a.observes = out;
    uint32_t good = inspect(&a, addr, mask, NULL);
    if (good != mask && out) clear_lanes(out, mask & ~good, a.site);
    const uint32_t looks = hints & HINT_POLLS && a.site->elements == 1 ? good : 0;
    char before[LANES * 16];
    access_read(addr, looks, a.site, before);
    if (good) sg_atomic(w, site, op, type, addr, good, operand, b, out);
    a.load = true;
    const uint32_t same = unchanged(&a, addr, looks, before);
    pass_on(&a, addr, good & ~same, hints);
    a.store = false;
    pass_on(&a, addr, same, hints);
}

void sg_sanitize_fence(Warp *w, uint32_t mask, uint32_t hints)
{ order_fence(w->warp_id, mask, hints & HINT_DEVICE); }

void sg_sanitize_undefined(Warp *w, uint32_t first, uint32_t needed, uint32_t mask)
{
    if (mask) report_undefined(w, first, needed, __builtin_ctz(mask));
}

/* What malloc gives out has not been written, and nobody else knows of it. */
void sg_sanitize_malloc(Warp *w, uint32_t mask, const uint64_t *size, uint64_t *out)
{
    sg_malloc(w, mask, size, out);
    Region *r = region_of_heap();
    FOR_LANES(lane, mask)
    {
        if (!r || !out[lane]) continue;
        uint64_t end = out[lane] + size[lane];
        memset((void *)out[lane], GARBAGE, size[lane]);
        written_set(r->own_bits, out[lane] - r->begin, size[lane], false);
        shadow_clear(r, out[lane], (end + 15) / 16 * 16);
    }
}

/* ---- blocks ---- */

/* Makes a seat ready for a launch. */
static bool prepare(Seat *seat)
{
    seat->launch = order.launch;
    seat->block = 0;
    shadow_coarsen(&seat->shared);
    free(seat->local);
    seat->local = calloc(watch.job->local_stride * LANES * watch.job->warps / 8 + 1, 1);
    return seat->past && seat->local;
}

/* From now on, the block in a worker's seat runs. */
static bool enter(Worker *worker)
{
    Seat *seat = worker->watching;
    if (!seat) {
        seat = worker->watching = calloc(1, sizeof *seat);
        if (!seat) return false;
        seat->past = order_new_past();
        seat->next = seats;
        seats = seat;
    }
    if (seat == watch.here) return true;
    if (seat->launch != order.launch && !prepare(seat)) return false;
    watch.here = seat;
    order_switch(seat->past);
    return true;
}

/* What a block had under way; most have nothing, and pay nothing for those before them. */
static void forget_under_way(Seat *seat)
{
    copies_free(seat->copies);
    products_free(seat->products);
    bulks_free(seat->bulks);
    seat->copies = NULL;
    seat->products = NULL;
    seat->bulks = NULL;
    seat->begun_count = seat->fenced = 0;
}

/* All that is known of earlier launches means nothing any more. */
static void forget_seats(void)
{
    for (Seat *seat = seats; seat; seat = seat->next) {
        shadow_free(&seat->shared);
        order_free_past(seat->past);
        forget_under_way(seat);
        seat->past = order_new_past();
        seat->launch = 0;
    }
}

/* A warp starts. What nobody has written is the same in each run, whoever was there before: values
   decide which stores race. */
void sg_sanitize_start(Warp *w)
{
    if (watch.here->block != w->worker->block) {
        if (watch.here->block) bulks_end_block(watch.here);
        if (w->shared_bytes) memset(w->shared, GARBAGE, w->shared_bytes); /* none takes long */
        watch.here->block = w->worker->block;
        order_begin_block(watch.here->block - 1);
        Region *shared = &watch.here->shared;
        if (!shared->room)
            shadow_make(shared, (uint64_t)w->shared, (uint64_t)w->shared + SM_SHARED);
        shared->is_shared = w->worker->cluster->blocks == 1;
        shared->since = order.block;
        forget_under_way(watch.here);
        memset(&watch.here->fresh, 0, sizeof watch.here->fresh);
    }
    uint64_t bits = w->local_stride * LANES / 8;
    if (!bits) return;
    memset(watch.here->local + w->warp_id * bits, 0, bits);
    memset(w->local, GARBAGE, w->local_stride * LANES);
}

/* ---- launches ---- */

#define LATE_POLLS (1u << 20) /* of a launch: who gives up before is found out */

static CUresult begin(Job *job)
{
    job->in_order = true;
    job->enter = enter;
    watch = (Watch){job, job->kernel, NULL, &said_unwritten, &said_bounds, LATE_POLLS};
    report_begin(job);
    if (order_begin_launch(job)) {
        regions_forget();
        forget_seats();
    }
    regions_drop();
    free(last_went);
    last_went = calloc(watch.kernel->site_count + 1, sizeof *last_went);
    return last_went ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

/* Its build has shared variables at other places. */
static CUresult begin_sanitized(Job *job)
{
    job->static_shared = job->kernel->watched_shared;
    return begin(job);
}

static void end(Job *job)
{
    for (Seat *seat = job->fault ? NULL : seats; seat; seat = seat->next) {
        if (seat->launch == order.launch && seat->block) bulks_end_block(seat);
        forget_under_way(seat);
    }
    if (!instrument || writes_stay) regions_keep_written();
    order_end_launch();
    for (Seat *seat = seats; seat; seat = seat->next)
        if (seat->next) shadow_free(&seat->shared); /* only one launch in many has several */
    regions_drop();
}

static const Instrument sanitizer = {BUILD_SANITIZE, begin_sanitized, end, report_tell};
static const Instrument recorder = {BUILD_RECORD, begin, end, report_tell};

__attribute__((constructor)) static void read_environment(void)
{
    const char *text = getenv("SOFTGPU_SANITIZE");
    sg_sanitize_all(text && *text && strcmp(text, "0"));
}

/* ---- what Python calls ---- */

void sg_sanitize(int on)
{
    instrument = on == BUILD_RECORD ? &recorder : on ? &sanitizer : NULL;
    writes_stay = false;
    if (on == BUILD_RECORD) record_forget();
    said_unwritten.count = said_bounds.count = 0;
    if (on) report_forget();
}

void sg_sanitize_stay(void) { writes_stay = true; }

void sg_sanitize_all(int on) { instrument_of_all = on ? &sanitizer : NULL; }

static void say(Ranges *said, uint64_t address, size_t bytes)
{
    if (said->count < sizeof said->ranges / sizeof *said->ranges)
        said->ranges[said->count++] = (Range){address, address + bytes};
}

void sg_sanitize_unwritten(uint64_t address, size_t bytes) { say(&said_unwritten, address, bytes); }

void sg_sanitize_bounds(uint64_t address, size_t bytes) { say(&said_bounds, address, bytes); }
