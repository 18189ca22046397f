/* What happens before what in a sanitized launch.

   Warps of the running block know of each other's past up to some time: through barriers, and
   through atomics and flags that follow a fence. Blocks know of each other through the latter only:
   a release leaves a record (which of its block's accesses it makes known) at the address it goes
   to; whoever reads that address afterwards learns of the records left there.

   Terms: vector clocks, happens-before (Lamport 1978; docs/terms.md). */
#include <stdlib.h>
#include <string.h>

#include "sanitize.h"

#define LAST_TIME 0x40000000u   /* in which a launch may begin */
#define END_OF_TIME 0x7ffffff0u /* in which it is watched */
#define MOST_STRETCHES (1u << 24)

Order order;

/* Sorted disjoint ranges of record numbers. */
typedef struct {
    uint32_t (*ranges)[2];
    uint32_t count, room;
} Set;

/* One release: accesses of its block's warps before these times are known to who learns of it. */
typedef struct {
    uint64_t block;
    uint32_t made; /* time */
    uint32_t warp, lane;
    uint32_t synced; /* of its own warp: other lanes' accesses before this time */
    uint32_t until[MAX_WARPS];
} Record;

/* An address that threads have released to. */
typedef struct {
    uint64_t address;
    uint32_t block; /* whose warps `known` is about */
    uint32_t known[MAX_WARPS];
    uint32_t own[MAX_WARPS]; /* of each warp's last lane to release: its accesses before this */
    uint32_t lane[MAX_WARPS];
    uint32_t (*by_lane)[LANES]; /* NULL, or of each lane: its accesses before this */
    uint32_t lanes_of;          /* the warps of which it has some */
    uint32_t proxied[MAX_WARPS];
    Set records;
} Channel;

typedef struct {
    Mark when;     /* a thread learnt of these records */
    uint64_t from; /* which were left at this address */
    Set records;
} Learnt;

/* For some time, one block ran. */
typedef struct {
    uint32_t begin;
    uint64_t block;
} Stretch;

/* What the warps of a block know of each other. Times from before the block mean "never". */
struct Past {
    uint32_t block, interval, synced[MAX_WARPS];   /* of Order, while another block runs */
    uint64_t running;                              /* of Order, too */
    uint32_t known[MAX_WARPS][MAX_WARPS];          /* [a][b]: b's accesses before it: to a */
    uint32_t lanes_known[MAX_WARPS][LANES][LANES]; /* the same of lanes, for ... */
    uint32_t apart;                                /* ... the warps whose lanes met in parts */
    uint32_t told[MAX_WARPS][MAX_WARPS][LANES];    /* [a][b]: of b's lanes: to a, for ... */
    uint32_t told_of[MAX_WARPS];                   /* ... these warps */
    uint32_t fence_block[MAX_WARPS][LANES], fence_device[MAX_WARPS][LANES];
    uint32_t last_fence[MAX_WARPS], last_device_fence[MAX_WARPS];
    uint32_t arrived[BARRIERS], arrival[BARRIERS][MAX_WARPS];
    uint32_t proxied[MAX_WARPS][MAX_WARPS]; /* [a][b]: b's accesses before it: fenced, as a knows */
    uint32_t own_proxied[MAX_WARPS][LANES]; /* what lanes fenced that did so without the others */
    Set base;                               /* records that all threads of the block know of */
    Learnt *learnt;
    size_t learnt_count, learnt_room;
};

static uint32_t warps;
static Stretch *stretches;
static size_t stretch_count, stretch_room;
static bool interleaved; /* a block ran on after another had run */
static bool proxies;     /* a proxy fence was in this launch */
static Record *records;
static size_t record_count, record_room;
static Channel *channels; /* hashed by address */
static size_t channel_count, channel_room;
static Past *here; /* of the running block */

/* ---- sets ---- */

static void set_add(Set *set, const Set *more)
{
    if (!more->count) return;
    uint32_t room = set->count + more->count;
    uint32_t (*merged)[2] = malloc(room * sizeof *merged);
    if (!merged) return;
    uint32_t i = 0, j = 0, n = 0;
    while (i < set->count || j < more->count) {
        bool first =
            j == more->count || (i < set->count && set->ranges[i][0] <= more->ranges[j][0]);
        const uint32_t *next = first ? set->ranges[i++] : more->ranges[j++];
        if (n && next[0] <= merged[n - 1][1]) merged[n - 1][1] = MAX(merged[n - 1][1], next[1]);
        else memcpy(merged[n++], next, sizeof *merged);
    }
    free(set->ranges);
    *set = (Set){merged, n, room};
}

static void set_add_one(Set *set, uint32_t record)
{
    uint32_t (*last)[2] = set->count ? &set->ranges[set->count - 1] : NULL;
    uint32_t one[1][2] = {{record, record + 1}};
    if (last && (*last)[0] <= record && record <= (*last)[1])
        (*last)[1] = MAX((*last)[1], record + 1);
    else set_add(set, &(Set){one, 1, 1});
}

static void set_clear(Set *set)
{
    free(set->ranges);
    *set = (Set){0};
}

/* ---- launches and blocks ---- */

static uint32_t tick(void)
{
    if (order.now > END_OF_TIME) order.lost = true;
    return order.lost ? order.now : ++order.now;
}

bool order_begin_launch(const Job *job)
{
    bool anew = order.lost || order.now > LAST_TIME;
    if (anew) memset(&order, 0, sizeof order);
    here = NULL;
    warps = job->warps;
    order.launch = order.block = order.stretch = order.interval = tick();
    return anew;
}

/* From now on, a block runs. */
static void begin_stretch(uint64_t block)
{
    if (stretch_count == MOST_STRETCHES || !GROW(stretches, stretch_count, stretch_room, 4096)) {
        order.lost = true;
        return;
    }
    order.running = block;
    order.stretch = tick();
    stretches[stretch_count++] = (Stretch){order.stretch, block};
}

static void forget_learnt(void)
{
    while (here->learnt_count) set_clear(&here->learnt[--here->learnt_count].records);
    set_clear(&here->base);
}

void order_begin_block(uint64_t block)
{
    begin_stretch(block);
    order.block = order.interval = order.stretch;
    here->apart = 0;
    memset(here->told_of, 0, sizeof here->told_of);
    memset(here->arrived, 0, sizeof here->arrived);
    forget_learnt();
}

Past *order_new_past(void) { return calloc(1, sizeof(Past)); }

void order_free_past(Past *past)
{
    if (!past) return;
    here = past;
    forget_learnt();
    free(past->learnt);
    free(past);
    here = NULL;
}

void order_switch(Past *to)
{
    if (here) {
        here->block = order.block;
        here->interval = order.interval;
        here->running = order.running;
        memcpy(here->synced, order.synced, sizeof here->synced);
    }
    here = to;
    if (to->block <= order.launch) return; /* its block has not begun */
    order.block = to->block;
    order.interval = to->interval;
    memcpy(order.synced, to->synced, sizeof order.synced);
    interleaved = true;
    begin_stretch(to->running);
}

void order_end_launch(void)
{
    stretch_count = record_count = 0;
    interleaved = proxies = false;
    for (size_t i = 0; i < channel_room; i++) {
        set_clear(&channels[i].records);
        free(channels[i].by_lane);
    }
    free(channels);
    channels = NULL;
    channel_count = channel_room = 0;
}

/* The stretch that a time lies in. */
static const Stretch *stretch_of(uint32_t time)
{
    size_t low = 0, high = stretch_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (stretches[middle].begin <= time) low = middle + 1;
        else high = middle;
    }
    return &stretches[low ? low - 1 : 0];
}

uint64_t order_block_of(Mark mark)
{ return stretch_count ? stretch_of(mark_time(mark))->block : 0; }

bool order_same_block(Mark mark)
{
    uint32_t time = mark_time(mark);
    return time >= order.stretch || (time >= order.block && order_block_of(mark) == order.running);
}

/* ---- what was before ---- */

/* The first record made at or after a time. */
static uint32_t first_record(uint32_t time)
{
    uint32_t low = 0, high = record_count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (records[middle].made < time) low = middle + 1;
        else high = middle;
    }
    return low;
}

/* Whether one of the records from..to in a set makes a block's access known. */
static bool tells(const Set *set, uint32_t from, uint32_t to, uint64_t block, Mark mark)
{
    uint32_t low = 0, high = set->count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (set->ranges[middle][1] <= from) low = middle + 1;
        else high = middle;
    }
    for (; low < set->count && set->ranges[low][0] < to; low++) {
        uint32_t end = MIN(to, set->ranges[low][1]);
        for (uint32_t i = MAX(from, set->ranges[low][0]); i < end; i++) {
            const Record *r = &records[i];
            if (r->block != block || mark_time(mark) >= r->until[mark_warp(mark)]) continue;
            if (mark_warp(mark) != r->warp || mark_lane(mark) == r->lane ||
                mark_time(mark) < r->synced)
                return true;
        }
    }
    return false;
}

static bool before_in_block(Mark mark, uint32_t warp, uint32_t lane)
{
    uint32_t time = mark_time(mark), w = mark_warp(mark), l = mark_lane(mark);
    if (time < order.interval) return true;
    if (w != warp)
        return time < here->known[warp][w] ||
               (here->told_of[warp] >> w & 1 && time < here->told[warp][w][l]);
    return l == lane || time < order.synced[w] ||
           (here->apart >> w & 1 && time < here->lanes_known[w][lane][l]);
}

static bool told_of(Mark mark, uint32_t warp, uint32_t lane)
{
    if (!record_count) return false;
    const Stretch *stretch = stretch_of(mark_time(mark)), *end = stretches + stretch_count;
    uint32_t from = first_record(mark_time(mark));
    bool whole = !interleaved && stretch + 1 < end; /* the block did not go on after it */
    uint32_t to = whole ? first_record(stretch[1].begin) : record_count;
    if (from == to) return false;
    if (tells(&here->base, from, to, stretch->block, mark)) return true;
    for (size_t i = 0; i < here->learnt_count; i++)
        if (before_in_block(here->learnt[i].when, warp, lane) &&
            tells(&here->learnt[i].records, from, to, stretch->block, mark))
            return true;
    return false;
}

static bool has_record_of(const Set *set, uint64_t block)
{
    for (uint32_t i = 0; i < set->count; i++)
        for (uint32_t r = set->ranges[i][0]; r < set->ranges[i][1]; r++)
            if (records[r].block == block) return true;
    return false;
}

bool order_heard_of(uint64_t block, uint32_t warp, uint32_t lane)
{
    if (has_record_of(&here->base, block)) return true;
    for (size_t i = 0; i < here->learnt_count; i++)
        if (before_in_block(here->learnt[i].when, warp, lane) &&
            has_record_of(&here->learnt[i].records, block))
            return true;
    return false;
}

bool order_before(Mark mark, uint32_t warp, uint32_t lane)
{
    if (mark_time(mark) < order.launch) return true;
    if (!order_same_block(mark)) return told_of(mark, warp, lane);
    /* of what is told at one address, a block may hear only after others have spoken there, too */
    return before_in_block(mark, warp, lane) || (interleaved && told_of(mark, warp, lane));
}

/* ---- within a block ---- */

/* From here on, what the lanes of a warp know of each other differs. */
static void look_at_lanes(uint32_t warp)
{
    if (!(here->apart >> warp & 1))
        memset(here->lanes_known[warp], 0, sizeof here->lanes_known[warp]);
    here->apart |= 1u << warp;
}

void order_warp(uint32_t warp, uint32_t lanes, uint32_t live)
{
    uint32_t now = tick();
    if (lanes == live) {
        order.synced[warp] = now;
        return;
    }
    uint32_t (*table)[LANES] = here->lanes_known[warp], joined[LANES] = {0};
    look_at_lanes(warp);
    FOR_LANES(a, lanes)
    for (uint32_t b = 0; b < LANES; b++) joined[b] = MAX(joined[b], table[a][b]);
    FOR_LANES(a, lanes) joined[a] = now;
    FOR_LANES(a, lanes) memcpy(table[a], joined, sizeof joined);
}

void order_arrive(uint32_t warp, uint32_t barrier, bool goes_on)
{
    here->arrived[barrier] |= 1u << warp;
    here->arrival[barrier][warp] = goes_on ? tick() : order.now + 1;
}

/* What warp a knows of warp b. */
static uint32_t knows(uint32_t a, uint32_t b) { return MAX(order.interval, here->known[a][b]); }

/* Warps that wait learn what those that came know of fences of proxies. */
static void share_proxied(uint32_t came, uint32_t waiting)
{
    if (!proxies) return; /* all that is known is from other launches */
    uint32_t joined[MAX_WARPS] = {0};
    FOR_LANES(a, came)
    for (uint32_t b = 0; b < warps; b++) joined[b] = MAX(joined[b], here->proxied[a][b]);
    FOR_LANES(a, waiting) memcpy(here->proxied[a], joined, sizeof joined);
}

static void keep_later(uint32_t *into, const uint32_t *other)
{
    for (uint32_t lane = 0; lane < LANES; lane++) into[lane] = MAX(into[lane], other[lane]);
}

/* What a warp knows of the lanes of others, it knows from now on of another warp's, too. */
static void hear_of_lanes(uint32_t warp, uint32_t of, const uint32_t (*by_lane)[LANES])
{
    FOR_LANES(other, of & ~(1u << warp))
    {
        if (!(here->told_of[warp] >> other & 1))
            memset(here->told[warp][other], 0, sizeof here->told[warp][other]);
        here->told_of[warp] |= 1u << other;
        keep_later(here->told[warp][other], by_lane[other]);
    }
}

bool order_knows_lanes(uint32_t warp, uint32_t other) { return here->told_of[warp] >> other & 1; }

void order_barrier(uint32_t barrier, uint32_t waiting, bool all)
{
    uint32_t came = here->arrived[barrier];
    here->arrived[barrier] = 0;
    share_proxied(came, came & waiting);
    if (all) {
        order.interval = tick();
        while (here->learnt_count) {
            set_add(&here->base, &here->learnt[--here->learnt_count].records);
            set_clear(&here->learnt[here->learnt_count].records);
        }
        return;
    }
    uint32_t joined[MAX_WARPS] = {0};
    FOR_LANES(a, came)
    for (uint32_t b = 0; b < warps; b++)
        joined[b] = MAX(joined[b], a == b ? here->arrival[barrier][a] : here->known[a][b]);
    FOR_LANES(a, came & waiting)
    {
        FOR_LANES(from, came & ~(1u << a))
        hear_of_lanes(a, here->told_of[from], here->told[from]);
    }
    FOR_LANES(a, came & waiting)
    {
        memcpy(here->known[a], joined, sizeof joined);
        order.synced[a] = tick();
    }
}

void order_fence(uint32_t warp, uint32_t lanes, bool device)
{
    uint32_t now = tick();
    FOR_LANES(lane, lanes)
    {
        here->fence_block[warp][lane] = now;
        if (device) here->fence_device[warp][lane] = now;
    }
    here->last_fence[warp] = now;
    if (device) here->last_device_fence[warp] = now;
}

void order_proxy_fence(uint32_t warp, uint32_t lanes, uint32_t live)
{
    const uint32_t now = tick();
    proxies = true;
    for (uint32_t w = 0; w < warps; w++) {
        uint32_t until = w == warp ? order.synced[warp] : here->known[warp][w];
        until = w == warp && lanes == live ? now : MAX(order.interval, until);
        here->proxied[warp][w] = MAX(here->proxied[warp][w], until);
    }
    FOR_LANES(lane, lanes == live ? 0 : lanes) here->own_proxied[warp][lane] = now;
}

void order_hear(uint32_t warp, uint32_t other, uint32_t until)
{ here->known[warp][other] = MAX(here->known[warp][other], until); }

bool order_proxied(Mark mark, uint32_t warp)
{
    const uint32_t time = mark_time(mark), w = mark_warp(mark);
    return time < here->proxied[warp][w] || time < here->own_proxied[w][mark_lane(mark)];
}

/* ---- releases ---- */

static Channel *channel_at(uint64_t address, bool make)
{
    if (make && 2 * channel_count >= channel_room) {
        size_t room = channel_room ? 2 * channel_room : 256;
        Channel *old = channels, *moved = calloc(room, sizeof *moved);
        if (!moved) return NULL;
        channels = moved;
        size_t old_room = channel_room;
        channel_room = room;
        for (size_t i = 0; i < old_room; i++) {
            if (!old[i].address) continue;
            size_t at = old[i].address * 0x9e3779b97f4a7c15u >> 20;
            while (channels[at &= room - 1].address) at++;
            channels[at] = old[i];
        }
        free(old);
    }
    if (!channel_room) return NULL;
    size_t at = address * 0x9e3779b97f4a7c15u >> 20;
    for (;; at++) {
        Channel *c = &channels[at &= channel_room - 1];
        if (c->address == address) return c;
        if (c->address) continue;
        if (!make) return NULL;
        channel_count++;
        c->address = address;
        return c;
    }
}

/* What a lane makes known of its block's warps: what it knows, as far as a fence came after it. */
static bool published(uint32_t warp, const uint32_t *last, uint32_t own, uint32_t *until)
{
    bool something = false;
    for (uint32_t w = 0; w < warps; w++) {
        uint32_t fenced = MAX(own, last[w]);
        until[w] = MIN(w == warp ? order.now + 1 : knows(warp, w), fenced);
        something |= until[w] > order.block;
    }
    return something;
}

static uint32_t record_release(uint32_t warp, uint32_t lane, const uint32_t *until)
{
    uint32_t synced = MAX(order.synced[warp], order.interval);
    if (here->apart >> warp & 1) synced = order.now + 1; /* some lanes met: taken for all */
    Record new = {order.running, order.now, warp, lane, synced, {0}};
    memcpy(new.until, until, warps * sizeof *until);
    if (record_count) {
        const Record *last = &records[record_count - 1];
        uint32_t made = new.made;
        new.made = last->made;
        if (!memcmp(last, &new, sizeof new)) return record_count - 1;
        new.made = made;
    }
    if (!GROW(records, record_count, record_room, 1024)) {
        order.lost = true;
        return 0;
    }
    records[record_count] = new;
    return record_count++;
}

/* Of lanes, apart from their warps, what a lane knows is known to who learns of a channel. */
static void tell_of_lanes(Channel *c, uint32_t warp, uint32_t lane)
{
    c->lanes_of |= here->told_of[warp] | 1u << warp;
    FOR_LANES(other, here->told_of[warp]) keep_later(c->by_lane[other], here->told[warp][other]);
    if (here->apart >> warp & 1) keep_later(c->by_lane[warp], here->lanes_known[warp][lane]);
    c->by_lane[warp][lane] = order.now + 1;
}

/* Lets warps of the block know what lies before a lane's last fence, or before `own`; alone: of what
   other lanes of its warp did, what came before they met. */
static Channel *tell_block(uint32_t warp, uint32_t lane, uint64_t address, uint32_t own, bool alone)
{
    uint32_t until[MAX_WARPS];
    if (!published(warp, here->last_fence, MAX(own, here->fence_block[warp][lane]), until))
        return NULL;
    Channel *c = channel_at(address, true);
    if (!c) return NULL;
    if (c->block != order.block) {
        memset(c->known, 0, sizeof c->known);
        memset(c->own, 0, sizeof c->own);
        memset(c->proxied, 0, sizeof c->proxied);
        if (c->by_lane) memset(c->by_lane, 0, MAX_WARPS * sizeof *c->by_lane);
        c->lanes_of = 0;
    }
    c->block = order.block;
    c->own[warp] = until[warp];
    c->lane[warp] = lane;
    if (alone) until[warp] = MAX(order.synced[warp], order.interval);
    for (uint32_t w = 0; w < warps; w++) {
        c->known[w] = MAX(c->known[w], until[w]);
        c->proxied[w] = MAX(c->proxied[w], here->proxied[warp][w]);
    }
    return c;
}

void order_arrive_in_phase(uint32_t warp, uint32_t lane, uint64_t phase)
{
    Channel *c = tell_block(warp, lane, phase, order.now + 1, true);
    if (!c) return;
    if (!c->by_lane) c->by_lane = calloc(MAX_WARPS, sizeof *c->by_lane);
    if (c->by_lane) tell_of_lanes(c, warp, lane);
    tick(); /* what comes after was not made known */
}

/* What came before a lane's fence becomes known to whoever reads this address from now on. For
   example, warp 0 of block 0 hands data to block 1 through a flag, which begins at 0; `time` is
   order.now while lane 0 runs each line:

     time  block 0                           time  block 1
     10    x = 1
     10    __threadfence()
     11    atomicExch(&flag, 1)
                                             13    atomicAdd(&flag, 0), returns 1
                                             13    reads x

   The fence ends time 10 and notes 11 as last_device_fence[0]. The exchange publishes at &flag:
   what warp 0 did before time 11 lies before its fence, so until[0] = 11, and a record {block 0,
   until 11} goes into the flag's channel; what block 0 had learnt itself goes with it, and then
   time 11 ends. Block 1 begins at time 13. Its atomic learns: the channel's records become what
   its lane has learnt at time 13. When it reads x, the shadow has the mark of the write, at time
   10: told_of finds the record, and 10 < 11, so the write happened before. Without the fence
   until[0] would be 0: no record, and the read of x is a race. */
void order_publish(uint32_t warp, uint32_t lane, uint64_t address, bool release)
{
    uint32_t until[MAX_WARPS];
    uint32_t own = release ? order.now + 1 : 0;
    Channel *c = tell_block(warp, lane, address, own, false);
    if (!c) return;
    if (published(warp, here->last_device_fence, MAX(own, here->fence_device[warp][lane]), until)) {
        set_add_one(&c->records, record_release(warp, lane, until));
        set_add(&c->records, &here->base);
        for (size_t i = 0; i < here->learnt_count; i++)
            if (here->learnt[i].from != address &&
                before_in_block(here->learnt[i].when, warp, lane))
                set_add(&c->records, &here->learnt[i].records);
    }
    tick(); /* what comes after was not made known */
}

void order_hush(uint64_t address)
{
    Channel *c = channel_at(address, false);
    if (c) c->records.count = 0;
}

void order_learn(uint32_t warp, uint32_t lane, uint64_t address)
{
    Channel *c = channel_at(address, false);
    if (!c) return;
    if (c->block == order.block) {
        for (uint32_t w = 0; w < warps; w++) {
            here->known[warp][w] = MAX(here->known[warp][w], c->known[w]);
            here->proxied[warp][w] = MAX(here->proxied[warp][w], c->proxied[w]);
        }
        if (c->by_lane) {
            hear_of_lanes(warp, c->lanes_of, c->by_lane);
            look_at_lanes(warp);
            for (uint32_t other = 0; other < LANES; other++) {
                uint32_t *of = &here->lanes_known[warp][lane][other];
                *of = MAX(*of, c->by_lane[warp][other]);
            }
        } else if (c->own[warp] > order.synced[warp] && c->lane[warp] != lane) {
            look_at_lanes(warp);
            uint32_t *of = &here->lanes_known[warp][lane][c->lane[warp]];
            *of = MAX(*of, c->own[warp]);
        }
    }
    if (!c->records.count) return;
    Mark when = mark_of(order.now, 0, warp, lane, 0);
    for (size_t i = here->learnt_count; i-- > 0;) { /* a thread that waits learns the same again */
        if (here->learnt[i].from != address ||
            ((here->learnt[i].when ^ when) & (WARP_BITS | LANE_BITS)))
            continue;
        if (here->learnt[i].records.count != c->records.count ||
            memcmp(here->learnt[i].records.ranges, c->records.ranges,
                   c->records.count * sizeof *c->records.ranges))
            break;
        return;
    }
    if (!GROW(here->learnt, here->learnt_count, here->learnt_room, 64)) return;
    Learnt *new = &here->learnt[here->learnt_count++];
    *new = (Learnt){when, address, {0}};
    set_add(&new->records, &c->records);
}
