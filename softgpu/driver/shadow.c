/* Shadow memory: who touched each piece of memory last, and whether that collides with what a warp
   does now. Marks of accesses that lie in a row are looked at together, as vectors. */
#define _GNU_SOURCE
#include <string.h>
#include <sys/mman.h>

#include "sanitize.h"

#define INLINE static inline __attribute__((always_inline))
#define PAGE 256u
#define PLANES 4
#define HUGE_BYTES (4u << 20) /* of which it pays to have large pages */

/* ---- making ---- */

static bool make_planes(Planes *planes, size_t marks)
{
    size_t bytes = PLANES * marks * sizeof(Mark);
    Mark *memory = map_pages(bytes);
    if (!memory) return false;
    if (bytes >= HUGE_BYTES) madvise(memory, bytes, MADV_HUGEPAGE);
    *planes = (Planes){memory, memory + marks, memory + 2 * marks, memory + 3 * marks};
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
    if (r->words.write) munmap(r->words.write, PLANES * (r->room / 4) * sizeof(Mark));
    if (r->bytes.write) munmap(r->bytes.write, PLANES * r->room * sizeof(Mark));
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
    Mark *planes[PLANES] = {p->write, p->atomic, p->read, p->also};
    for (int k = 0; k < PLANES; k++) memset(planes[k] + from, 0, count * sizeof(Mark));
}

void shadow_clear(Region *r, uint64_t begin, uint64_t end)
{
    uint64_t from = begin - r->begin, count = end - begin;
    clear_planes(&r->words, from / 4, (count + 3) / 4);
    if (r->bytes.write) clear_planes(&r->bytes, from, count);
}

/* Gives the page around an offset a mark for each byte. */
static void refine(Region *r, uint64_t offset)
{
    uint64_t page = offset / PAGE;
    if (r->fine[page] || (!r->bytes.write && !make_planes(&r->bytes, r->room))) return;
    for (uint64_t i = page * PAGE; i < (page + 1) * PAGE; i++) {
        r->bytes.write[i] = r->words.write[i / 4];
        r->bytes.atomic[i] = r->words.atomic[i / 4];
        r->bytes.read[i] = r->words.read[i / 4];
        r->bytes.also[i] = r->words.also[i / 4];
    }
    r->fine[page] = 1;
    r->refined = true;
}

/* ---- marks in a row ---- */

/* Marks below these are of other launches, of other blocks (or may be), from before the block's
   last barrier, and of the same warp from before its lanes last met. */
typedef struct {
    Mark launch, block, interval, synced;
} Limits;

static Limits limits_for(const Access *a, const Region *r)
{
    uint32_t warp = a->w->warp_id;
    return (Limits){MARK_AT(r->is_shared ? order.block : order.launch),
                    MARK_AT(r->is_shared ? order.block : order.stretch), MARK_AT(order.interval),
                    MARK_AT(order.synced[warp])};
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
   since the last one races with one of these. A reader is gone when it came before us. What
   becomes of read, a, and also, b, when we read:

     a                b                read   also
     gone             gone or not      us     b
     not gone         gone             us     a
     of our warp      not gone         us     b        from here on neither is gone:
     of our block     of our warp      a      us       whoever is most like us makes room
     of our block     not of our warp  us     b
     of another block of our block     a      us
     of another block of another block us     b

   "Of our warp" means of our block, too. */
INLINE void remember_at(Mark *read, Mark *also, uint32_t n, Mark own, uint32_t shift, Limits l)
{
    for (int64_t i = 0; i < n; i++) {
        int64_t a = read[i], b = also[i], us = own + (i >> shift << LANE_SHIFT);
        int64_t a_launch = a >= l.launch ? -1 : 0, b_launch = b >= l.launch ? -1 : 0;
        int64_t a_block = a >= l.block ? -1 : 0, b_block = b >= l.block ? -1 : 0;
        int64_t a_now = a >= l.interval ? -1 : 0, b_now = b >= l.interval ? -1 : 0;
        int64_t a_apart = a >= l.synced ? -1 : 0, b_apart = b >= l.synced ? -1 : 0;
        int64_t a_warp = ((a ^ us) & WARP_BITS) ? 0 : -1, b_warp = ((b ^ us) & WARP_BITS) ? 0 : -1;
        int64_t a_lane = ((a ^ us) & LANE_BITS) ? 0 : -1, b_lane = ((b ^ us) & LANE_BITS) ? 0 : -1;
        int64_t a_gone = ~((~a_block & a_launch) | (a_now & ~(a_warp & (a_lane | ~a_apart))));
        int64_t b_gone = ~((~b_block & b_launch) | (b_now & ~(b_warp & (b_lane | ~b_apart))));
        int64_t first = (a_warp & a_block) | (~(b_warp & b_block) & (a_block | ~b_block));
        int64_t take_read = a_gone | b_gone | first, move = ~a_gone & b_gone;
        int64_t take_also = ~a_gone & ~b_gone & ~first;
        read[i] = (us & take_read) | (a & ~take_read);
        also[i] = (a & move) | (us & take_also) | (b & ~(move | take_also));
    }
}

static bool is_new(const Region *r, uint32_t last)
{ return last >= (r->is_shared ? order.block : order.launch); }

/* Whether everything at some bytes was written, before this launch or in it. */
static bool is_written(const Region *r, const Planes *planes, uint64_t offset, uint64_t index,
                       uint32_t marks, uint32_t bytes)
{
    if (r->all_written || (r->bits && written_test(r->bits, offset, bytes))) return true;
    if (!is_new(r, r->written) && !is_new(r, r->atomic)) return false;
    Mark from = MARK_AT(r->is_shared ? order.block : order.launch);
    for (uint32_t i = 0; i < marks; i++) {
        uint32_t size = bytes / marks;
        if (planes->write[index + i] < from && planes->atomic[index + i] < from &&
            !(r->bits && written_test(r->bits, offset + i * size, size)))
            return false;
    }
    return true;
}

static uint32_t log2_of(uint32_t n) { return 31 - __builtin_clz(n); }

/* What to look at for n marks in a row, from `at` on. */
typedef struct {
    Mark *write, *atomic, *read, *also; /* NULL: nobody did in this launch */
    Mark *out;                          /* the plane that gets the new marks */
    Mark own;
    uint32_t n, shift;
    bool load, store, is_shared;
    Limits limits;
} Row;

enum { DONE, BY_LANE, REMEMBERED };

INLINE bool clear_of(const Mark *marks, const Row *r, uint32_t shift, bool all_in_block)
{
    Mark from = all_in_block ? r->limits.block : 0;
    Mark to = r->is_shared ? r->limits.interval : r->limits.launch;
    if (!stirred(marks, r->n, r->own, shift, from, to, r->is_shared)) return true;
    int seen = look_at(marks, r->n, r->own, shift, r->limits);
    return !(seen & UNORDERED) && !(all_in_block && seen & OLD);
}

INLINE int row_of(const Row *r, uint32_t shift)
{
    if (r->write && !clear_of(r->write, r, shift, r->load && r->is_shared)) return BY_LANE;
    if (r->atomic && !clear_of(r->atomic, r, shift, false)) return BY_LANE;
    if (r->store) {
        if (r->read && !clear_of(r->read, r, shift, false)) return BY_LANE;
        if (r->also && !clear_of(r->also, r, shift, false)) return BY_LANE;
    } else if (r->read && !clear_of(r->read, r, shift, false)) {
        remember_at(r->read, r->also, r->n, r->own, shift, r->limits);
        return REMEMBERED;
    }
    put(r->out, r->n, r->own, shift);
    return DONE;
}

VECTORISED static int do_row(const Row *r) { return r->shift ? row_of(r, r->shift) : row_of(r, 0); }

/* A row inside pages that are all alike; false: look at each lane by itself. */
static bool row_alike(Access *a, Region *r, uint64_t offset, uint32_t first, uint32_t lanes)
{
    bool fine = r->fine[offset / PAGE];
    const Planes *p = fine ? &r->bytes : &r->words;
    uint32_t size = fine ? 1 : 4;
    uint64_t at = offset / size;
    Row row = {.own = a->mark + ((Mark)first << LANE_SHIFT),
               .load = a->load,
               .store = a->store,
               .is_shared = r->is_shared,
               .limits = limits_for(a, r)};
    row.shift = log2_of(a->bytes / size);
    row.n = lanes << row.shift;
    bool read_only = a->flags & MARK_READ_ONLY;
    if (read_only && (is_new(r, r->written) || is_new(r, r->atomic))) return false;
    if (a->store && is_new(r, r->constant)) return false;
    if (read_only) r->constant = order.now;
    if (is_new(r, r->written) || (a->load && r->is_shared)) row.write = p->write + at;
    if (is_new(r, r->atomic)) row.atomic = p->atomic + at;
    if (is_new(r, r->read)) row.read = p->read + at;
    if (!a->store || is_new(r, r->also)) row.also = p->also + at;
    row.out = (a->store ? p->write : p->read) + at;
    if (a->load && !r->is_shared && !is_written(r, p, offset, at, row.n, lanes * a->bytes))
        return false;
    int done = do_row(&row);
    if (done == REMEMBERED) r->also = order.now;
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
    if (a->store) r->written = order.now;
    else r->read = order.now;
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
    if (order.lost || before < MARK_AT(r->is_shared ? order.block : order.launch))
        return NO_COLLISION;
    if (!order_before(before, a->w->warp_id, lane) && !may_meet(before, wrote, a)) return RACE;
    if (wrote) return a->flags & MARK_READ_ONLY ? STALE_READ : NO_COLLISION;
    bool same_thread =
        mark_warp(before) == a->w->warp_id && mark_lane(before) == lane && order_same_block(before);
    return before & MARK_READ_ONLY && !same_thread ? STALE_READ : NO_COLLISION;
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
    char value[16];
    bool told = false, plain = a->store && data;
    if (plain) lay_out(a, data, lane, value);
    if (a->flags & MARK_READ_ONLY) r->constant = order.now;
    for (uint32_t i = 0; i < a->bytes; i += size) {
        uint64_t at = (offset + i) / size;
        Mark others[] = {p->write[at], p->atomic[at], p->read[at], p->also[at]};
        for (int k = 0; k < (a->store ? 4 : 2) && !told; k++) {
            int kind = collision(a, r, others[k], k < 2, lane);
            if (kind == NO_COLLISION) continue;
            if (k == 0 && plain &&
                stores_the_same(others[0], others[1], value + i, (char *)address + i, size))
                continue;
            report_collision(a, kind, lane, address, others[k], k < 2);
            told = true;
        }
        if (a->load && a->flags & MARK_POLLS && p->write[at] & MARK_VOLATILE)
            p->write[at] |= MARK_FLAG;
        if (a->store) {
            *(a->atomic ? &p->atomic[at] : &p->write[at]) = own;
        } else {
            remember_at(&p->read[at], &p->also[at], 1, own, 0, limits);
        }
    }
    if (a->store) {
        *(a->atomic ? &r->atomic : &r->written) = order.now;
    } else {
        r->read = r->also = order.now;
    }
}
