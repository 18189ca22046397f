/* Shadow memory: who touched each piece of memory last, and whether that collides with what a warp
   does now. Marks of accesses that lie in a row are looked at together, as vectors.

   Terms: epochs, FastTrack (Flanagan, Freund 2009; docs/terms.md). */
#define _GNU_SOURCE
#include <string.h>
#include <sys/mman.h>

#include "sanitize.h"

#define PAGE 256u
#define HUGE_BYTES (4u << 20) /* of which it pays to have large pages */

/* ---- making ---- */

static bool make_planes(Planes *planes, size_t marks)
{
    size_t bytes = TOUCHES * marks * sizeof(Mark);
    Mark *memory = map_pages(bytes);
    if (!memory) return false;
    if (bytes >= HUGE_BYTES) madvise(memory, bytes, MADV_HUGEPAGE);
    for (int k = 0; k < TOUCHES; k++) planes->of[k] = memory + k * marks;
    return true;
}

bool shadow_make(Region *r, uint64_t begin, uint64_t end)
{
    memset(r, 0, sizeof *r);
    r->begin = begin & ~15ull;
    r->end = end;
    r->room = (end - r->begin + PAGE - 1) / PAGE * PAGE;
    r->fine = map_pages(r->room / PAGE);
    if (r->fine && make_planes(&r->words, r->room / 4)) return true;
    shadow_free(r);
    return false;
}

void shadow_free(Region *r)
{
    if (r->words.of[0]) munmap(r->words.of[0], TOUCHES * (r->room / 4) * sizeof(Mark));
    if (r->bytes.of[0]) munmap(r->bytes.of[0], TOUCHES * r->room * sizeof(Mark));
    if (r->fine) munmap(r->fine, r->room / PAGE);
    memset(r, 0, sizeof *r);
}

/* All pages have a mark for each 4 bytes again. */
void shadow_coarsen(Region *r)
{
    if (r->refined) memset(r->fine, 0, r->room / PAGE);
    r->refined = false;
}

static void clear_planes(const Planes *p, uint64_t from, uint64_t count)
{
    for (int k = 0; k < TOUCHES; k++) memset(p->of[k] + from, 0, count * sizeof(Mark));
}

void shadow_clear(Region *r, uint64_t begin, uint64_t end)
{
    uint64_t from = begin - r->begin, count = end - begin;
    clear_planes(&r->words, from / 4, (count + 3) / 4);
    if (r->bytes.of[0]) clear_planes(&r->bytes, from, count);
}

/* Gives the page around an offset a mark for each byte. */
static void refine(Region *r, uint64_t offset)
{
    uint64_t page = offset / PAGE;
    if (r->fine[page] || (!r->bytes.of[0] && !make_planes(&r->bytes, r->room))) return;
    for (int k = 0; k < TOUCHES; k++)
        for (uint64_t i = page * PAGE; i < (page + 1) * PAGE; i++)
            r->bytes.of[k][i] = r->words.of[k][i / 4];
    r->fine[page] = 1;
    r->refined = true;
}

/* ---- marks in a row ---- */

/* Marks below these are of other launches, of other blocks (or may be), from before the block's
   last barrier, and of the same warp from before its lanes last met. */
typedef struct {
    Mark launch, block, interval, synced;
} Limits;

/* Since when marks of it count: since the launch began or, of shared memory, its block. */
static uint32_t begin_of(const Region *r) { return r->since ? r->since : order.launch; }

static Limits limits_for(const Access *a, const Region *r)
{
    uint32_t warp = a->w->warp_id;
    return (Limits){MARK_AT(begin_of(r)), MARK_AT(r->is_shared ? order.block : order.stretch),
                    MARK_AT(order.interval), MARK_AT(order.synced[warp])};
}

enum { UNORDERED = 1, OLD = 2 };

/* UNORDERED: one of n marks may not have happened before our accesses, which are by the lanes from
   `own` on, each of 1 << shift marks; OLD: one of them is from before the block. */
INLINE int look_at(const Mark *marks, uint32_t n, Mark own, uint32_t shift, Limits l)
{
    int64_t unordered = 0, old = 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t m = marks[i], differ = m ^ (own + (i >> shift << LANE_SHIFT));
        int64_t earlier = m < l.block ? -1 : 0, launch = m >= l.launch ? -1 : 0;
        int64_t now = m >= l.interval ? -1 : 0, apart = m >= l.synced ? -1 : 0;
        int64_t lane = (differ & (LANE_BITS | WARP_BITS)) ? -1 : 0;
        int64_t warp = (differ & WARP_BITS) ? -1 : 0;
        unordered |= (earlier & launch) | (now & lane & (warp | apart));
        old |= earlier;
    }
    return (unordered ? UNORDERED : 0) | (old ? OLD : 0);
}

/* Whether a mark lies before `from`, or at or after `to` and is not of the lane that touches it now
   (of any lane, unless own_lanes). The quick question; look_at answers the full one. */
INLINE int64_t stirred(const Mark *marks, uint32_t n, Mark own, uint32_t shift, Mark from, Mark to,
                       bool own_lanes)
{
    int64_t bad = 0, bits = own_lanes ? LANE_BITS | WARP_BITS : 0, same = own_lanes ? 0 : 1;
    for (int64_t i = 0; i < n; i++) {
        int64_t m = marks[i], lane = (m ^ (own + (i >> shift << LANE_SHIFT))) & bits;
        int64_t before = m < from ? -1 : 0, after = m >= to ? -1 : 0, other = lane != same ? -1 : 0;
        bad |= before | (after & other);
    }
    return bad;
}

INLINE void put(Mark *marks, uint32_t n, Mark own, uint32_t shift)
{
    for (int64_t i = 0; i < n; i++) marks[i] = own + (i >> shift << LANE_SHIFT);
}

/* Keeps two readers that differ as much as possible, so that a write that races with any reader
   since the last one races with one of these; so does an atomic. A reader is gone when it came before
   us. What becomes of the one, a, and the other, b, when we read:

     a                b                one    other
     gone             gone or not      us     b
     not gone         gone             us     a
     of our warp      not gone         us     b        from here on neither is gone:
     of our block     of our warp      a      us       whoever is most like us makes room
     of our block     not of our warp  us     b
     of another block of our block     a      us
     of another block of another block us     b

   "Of our warp" means of our block, too. */
INLINE void remember_at(Mark *one, Mark *other, uint32_t n, Mark own, uint32_t shift, Limits l)
{
    for (int64_t i = 0; i < n; i++) {
        int64_t a = one[i], b = other[i], us = own + (i >> shift << LANE_SHIFT);
        int64_t a_launch = a >= l.launch ? -1 : 0, b_launch = b >= l.launch ? -1 : 0;
        int64_t a_block = a >= l.block ? -1 : 0, b_block = b >= l.block ? -1 : 0;
        int64_t a_now = a >= l.interval ? -1 : 0, b_now = b >= l.interval ? -1 : 0;
        int64_t a_apart = a >= l.synced ? -1 : 0, b_apart = b >= l.synced ? -1 : 0;
        int64_t a_warp = ((a ^ us) & WARP_BITS) ? 0 : -1, b_warp = ((b ^ us) & WARP_BITS) ? 0 : -1;
        int64_t a_lane = ((a ^ us) & LANE_BITS) ? 0 : -1, b_lane = ((b ^ us) & LANE_BITS) ? 0 : -1;
        int64_t a_gone = ~((~a_block & a_launch) | (a_now & ~(a_warp & (a_lane | ~a_apart))));
        int64_t b_gone = ~((~b_block & b_launch) | (b_now & ~(b_warp & (b_lane | ~b_apart))));
        int64_t first = (a_warp & a_block) | (~(b_warp & b_block) & (a_block | ~b_block));
        int64_t take_one = a_gone | b_gone | first, move = ~a_gone & b_gone;
        int64_t take_other = ~a_gone & ~b_gone & ~first;
        one[i] = (us & take_one) | (a & ~take_one);
        other[i] = (a & move) | (us & take_other) | (b & ~(move | take_other));
    }
}

/* Whether remember_at would keep all of these, as another warp's since the block's last barrier, of
   memory that only the block accesses. */
INLINE bool others_stay(const Mark *other, uint32_t n, Mark own, Limits l)
{
    int64_t go = 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t before = other[i] < l.interval ? -1 : 0;
        go |= before | (((other[i] ^ own) & WARP_BITS) ? 0 : -1);
    }
    return !go;
}

static bool is_new(const Region *r, uint32_t last) { return last >= begin_of(r); }

static bool was_written(const Region *r)
{ return is_new(r, r->last[WRITE]) || is_new(r, r->last[ATOMIC]); }

/* Return the plane that records an access. All but WRITE have a second plane, which follows. */
static Touch touch_of(const Access *a)
{
    if (a->store) return a->flags & MARK_ATOMIC ? ATOMIC : WRITE;
    return a->flags & (MARK_ATOMIC | MARK_VOLATILE) ? STRONG_READ : READ;
}

/* Whether everything at some bytes was written, before this launch or in it. */
static bool is_written(const Region *r, const Planes *planes, uint64_t offset, uint64_t index,
                       uint32_t marks, uint32_t bytes)
{
    if (r->all_written || (r->bits && written_test(r->bits, offset, bytes))) return true;
    if (!was_written(r)) return false;
    Mark from = MARK_AT(begin_of(r));
    for (uint32_t i = 0; i < marks; i++) {
        uint32_t size = bytes / marks;
        if (planes->of[WRITE][index + i] < from && planes->of[ATOMIC][index + i] < from &&
            !(r->bits && written_test(r->bits, offset + i * size, size)))
            return false;
    }
    return true;
}

static uint32_t log2_of(uint32_t n) { return 31 - __builtin_clz(n); }

/* What to look at for n marks in a row, from `at` on. */
typedef struct {
    Mark *write;       /* NULL: nobody did in this launch */
    Mark *of[TOUCHES]; /* of the others that may collide, those that somebody did */
    uint32_t count;    /* of these */
    Mark *out, *other; /* that get the new marks; other: NULL where one is enough */
    bool others;       /* there are marks of this launch in out */
    Mark own;
    uint32_t n, shift;
    bool load, is_shared;
    Limits limits;
} Row;

enum { DONE, BY_LANE, REMEMBERED };

INLINE bool clear_of(const Mark *marks, const Row *r, uint32_t n, uint32_t shift, bool all_in_block)
{
    Mark from = all_in_block ? r->limits.block : 0;
    Mark to = r->is_shared ? r->limits.interval : r->limits.launch;
    if (!stirred(marks, n, r->own, shift, from, to, r->is_shared)) return true;
    int seen = look_at(marks, n, r->own, shift, r->limits);
    return !(seen & UNORDERED) && !(all_in_block && seen & OLD);
}

INLINE int row_of(const Row *r, uint32_t n, uint32_t shift)
{
    if (r->write && !clear_of(r->write, r, n, shift, r->load && r->is_shared)) return BY_LANE;
    for (uint32_t k = 0; k < r->count; k++)
        if (!clear_of(r->of[k], r, n, shift, false)) return BY_LANE;
    Mark to = r->is_shared ? r->limits.interval : r->limits.launch;
    if (r->other && r->others && stirred(r->out, n, r->own, shift, 0, to, r->is_shared) &&
        !(r->is_shared && others_stay(r->other, n, r->own, r->limits))) {
        remember_at(r->out, r->other, n, r->own, shift, r->limits);
        return REMEMBERED;
    }
    put(r->out, n, r->own, shift);
    return DONE;
}

VECTORISED static int do_row(const Row *r)
{ return r->shift ? row_of(r, r->n, r->shift) : row_of(r, r->n, 0); }

/* A row inside pages that are all alike; false: look at each lane by itself. */
static bool row_alike(Access *a, Region *r, uint64_t offset, uint32_t first, uint32_t lanes)
{
    bool fine = r->fine[offset / PAGE], read_only = a->flags & MARK_READ_ONLY;
    const Planes *p = fine ? &r->bytes : &r->words;
    uint32_t size = fine ? 1 : 4;
    uint64_t at = offset / size;
    Touch own = touch_of(a);
    Row row; /* not cleared as a whole, which takes long */
    row.write = NULL;
    row.count = 0;
    row.out = p->of[own] + at;
    row.other = own == WRITE ? NULL : p->of[own + 1] + at;
    row.others = is_new(r, r->last[own]);
    row.own = a->mark + ((Mark)first << LANE_SHIFT);
    row.load = a->load;
    row.is_shared = r->is_shared;
    row.limits = limits_for(a, r);
    row.shift = log2_of(a->bytes / size);
    row.n = lanes << row.shift;
    if (read_only && was_written(r)) return false;
    if (a->store && is_new(r, r->constant)) return false;
    if (a->store && a->mark & MARK_BLIND && !is_written(r, p, offset, at, row.n, lanes * a->bytes))
        return false;
    if (read_only) r->constant = order.now;
    if (is_new(r, r->last[WRITE]) || (a->load && r->is_shared)) row.write = p->of[WRITE] + at;
    for (int k = WRITE + 1; k < (a->store ? TOUCHES : WRITES); k++)
        if (is_new(r, r->last[k])) row.of[row.count++] = p->of[k] + at;
    if (a->load && !r->is_shared && !is_written(r, p, offset, at, row.n, lanes * a->bytes))
        return false;
    int done = row.n == 1 ? row_of(&row, 1, 0) : do_row(&row);
    if (done == REMEMBERED) r->last[own + 1] = order.now;
    return done != BY_LANE;
}

void shadow_row(Access *a, Region *r, uint64_t address, uint32_t first, uint32_t lanes,
                const void *data)
{
    uint64_t offset = address - r->begin;
    while (lanes) {
        uint64_t end = offset + (uint64_t)lanes * a->bytes, page = offset / PAGE;
        if (a->bytes < 4)
            for (uint64_t i = page; i * PAGE < end; i++) refine(r, i * PAGE);
        if (a->bytes < 4 && !r->fine[page]) return; /* no memory for finer marks */
        uint64_t stop = page + 1;
        while (stop * PAGE < end && r->fine[stop] == r->fine[page]) stop++;
        uint32_t now = stop * PAGE < end ? (stop * PAGE - offset) / a->bytes : lanes;
        if (!row_alike(a, r, offset, first, now))
            for (uint32_t i = 0; i < now; i++)
                shadow_lane(a, r, r->begin + offset + i * a->bytes, first + i, data);
        offset += now * a->bytes;
        first += now;
        lanes -= now;
    }
    r->last[touch_of(a)] = order.now;
}

/* The first and the last stand for all, if nothing is wrong with either. */
void shadow_same(Access *a, Region *r, uint64_t address, uint32_t first, uint32_t lanes)
{
    uint64_t offset = address - r->begin;
    uint32_t last = first + lanes - 1;
    bool alike = a->bytes >= 4 && row_alike(a, r, offset, first, 1);
    if (!alike || !row_alike(a, r, offset, last, 1))
        for (uint32_t lane = first; lane <= last; lane++) shadow_lane(a, r, address, lane, NULL);
    r->last[touch_of(a)] = order.now;
}

/* ---- one lane ---- */

/* Whether two accesses may happen at the same time: atomics may meet each other; volatile loads
   what atomics or a flag's owner store; volatile stores who waits for them. */
static bool may_meet(Mark before, bool before_wrote, const Access *a)
{
    enum { STRONG = MARK_ATOMIC | MARK_VOLATILE };
    uint32_t theirs = before & 63, ours = a->flags, both = theirs | ours;
    if (!(theirs & STRONG) || !(ours & STRONG)) return false;
    if ((both & MARK_IN_BLOCK) && !order_same_block(before)) return false;
    if (theirs & ours & MARK_ATOMIC) return same_size(before, a);
    if (!(both & MARK_ATOMIC)) return before_wrote && theirs & MARK_FLAG;
    bool volatile_stores = theirs & MARK_ATOMIC ? a->store : before_wrote;
    return !volatile_stores || both & (MARK_POLLS | MARK_FLAG);
}

enum { NO_COLLISION = -1 };

/* What is wrong with an access after an earlier one of the same place: RACE or STALE_READ. */
INLINE int collision(Access *a, const Region *r, Mark before, bool wrote, uint32_t lane)
{
    if (order.lost || before < MARK_AT(begin_of(r))) return NO_COLLISION;
    if (!may_meet(before, wrote, a) && !order_before(before, a->w->warp_id, lane)) return RACE;
    if (wrote) return a->flags & MARK_READ_ONLY ? STALE_READ : NO_COLLISION;
    bool same_thread =
        mark_warp(before) == a->w->warp_id && mark_lane(before) == lane && order_same_block(before);
    return before & MARK_READ_ONLY && !same_thread ? STALE_READ : NO_COLLISION;
}

/* What is wrong with an access of what an atomic store was the first to write: if nobody who wrote
   it has come first for certain, a load may as well find what was there before. */
static int too_early(const Access *a, const Region *r, const Planes *p, uint64_t at, uint32_t lane)
{
    Mark from = MARK_AT(begin_of(r));
    if (order.lost || !(a->load || a->observes) || p->of[WRITE][at] < from) return NO_COLLISION;
    for (int k = 0; k < WRITES; k++)
        if (p->of[k][at] >= from && order_before(p->of[k][at], a->w->warp_id, lane))
            return NO_COLLISION;
    return RACE;
}

/* A lane's value as it will lie in memory. */
static void lay_out(const Access *a, const void *data, uint32_t lane, char *out)
{
    uint32_t size = a->bytes / a->site->elements;
    for (uint32_t e = 0; e < a->site->elements; e++)
        memcpy(out + e * size, (const char *)data + (e * LANES + lane) * size, size);
}

/* The bytes of an access, as bits, that nothing has written. */
static uint32_t unwritten_bytes(const Access *a, const Region *r, const Planes *p, uint64_t offset,
                                uint32_t size)
{
    uint32_t bytes = 0;
    if (is_written(r, p, offset, offset / size, a->bytes / size, a->bytes)) return 0;
    for (uint32_t i = 0; i < a->bytes; i++)
        if (!is_written(r, p, offset + i, (offset + i) / size, 1, 1)) bytes |= 1u << i;
    return bytes;
}

/* Whether a store leaves what is there, as far as that is the last plain store's value. */
static bool stores_the_same(Mark write, Mark atomic, const char *value, const char *memory,
                            uint32_t size)
{ return !memcmp(value, memory, size) || mark_time(atomic) >= mark_time(write); }

/* The access is the last that touched a place. What an atomic has observed came before it. An atomic
   store that is the first to write is kept as a write, too, for whoever looks too early. */
static void remember(const Access *a, Region *r, const Planes *p, uint64_t offset, uint32_t size,
                     Mark own, Limits limits)
{
    Touch touch = touch_of(a);
    uint64_t at = offset / size;
    if (touch == ATOMIC && own & MARK_BLIND && !is_written(r, p, offset, at, 1, size)) {
        p->of[WRITE][at] = own;
        r->last[WRITE] = order.now;
    }
    Mark *one = p->of[touch] + at;
    if (touch == WRITE || a->observes) *one = own;
    if (a->observes) p->of[touch + 1][at] = 0;
    else if (touch != WRITE) remember_at(one, p->of[touch + 1] + at, 1, own, 0, limits);
}

void shadow_lane(Access *a, Region *r, uint64_t address, uint32_t lane, const void *data)
{
    uint64_t offset = address - r->begin;
    if (a->bytes < 4) refine(r, offset);
    bool fine = r->fine[offset / PAGE];
    if (!fine && a->bytes < 4) return; /* no memory for finer marks */
    const Planes *p = fine ? &r->bytes : &r->words;
    uint32_t size = fine ? 1 : 4;
    Mark own = a->mark + ((Mark)lane << LANE_SHIFT);
    Limits limits = limits_for(a, r);
    uint32_t unwritten = a->load ? unwritten_bytes(a, r, p, offset, size) : 0;
    if (unwritten) report_unwritten(a, lane, address, unwritten);
    char value[128]; /* as large as an access can be */
    bool told = false, plain = a->store && data;
    if (plain) lay_out(a, data, lane, value);
    if (a->flags & MARK_READ_ONLY) r->constant = order.now;
    for (uint32_t i = 0; i < a->bytes; i += size) {
        uint64_t at = (offset + i) / size;
        Mark *write = &p->of[WRITE][at];
        for (int k = 0; k < (a->store ? TOUCHES : WRITES) && !told; k++) {
            if (!is_new(r, r->last[k])) continue;
            Mark other = p->of[k][at];
            int kind = k == WRITE && other & MARK_BLIND ? too_early(a, r, p, at, lane)
                                                        : collision(a, r, other, k < WRITES, lane);
            if (kind == NO_COLLISION) continue;
            if (k == WRITE && plain &&
                stores_the_same(other, p->of[ATOMIC][at], value + i, (char *)address + i, size))
                continue;
            report_collision(a, kind, lane, address, other, k < WRITES);
            told = true;
        }
        if (a->load && a->flags & MARK_POLLS && *write & MARK_VOLATILE) *write |= MARK_FLAG;
        remember(a, r, p, offset + i, size, own, limits);
    }
    Touch touch = touch_of(a);
    r->last[touch] = order.now;
    if (touch != WRITE) r->last[touch + 1] = order.now;
}

Mark shadow_unproxied(const Access *a, const Region *r, uint64_t address, uint32_t lane)
{
    const uint64_t offset = address - r->begin;
    const bool fine = r->fine[offset / PAGE];
    const uint32_t size = fine ? 1 : 4;
    for (uint32_t i = 0; i < a->bytes; i += size)
        for (int k = WRITE; k <= ATOMIC; k++) {
            Mark mark = (fine ? &r->bytes : &r->words)->of[k][(offset + i) / size];
            if (mark < MARK_AT(order.block) || mark & MARK_ASYNC) continue;
            if (!order_proxied(mark, a->w->warp_id) && order_before(mark, a->w->warp_id, lane))
                return mark;
        }
    return 0;
}
