/* Bulk copies (cp.async.bulk) and shared memory: what they write is for those who know that the phase
   of their mbarrier has ended; what they read may be written by those who know that whoever began
   them has waited. Until somebody else copies there, that is asked of each access.

   A copy is exposed unless its block reads what others have brought meanwhile: after it began, or
   unknown to the thread that began it, and before it is waited for. */
#include <stdlib.h>
#include <string.h>

#include "sanitize.h"

/* Who has waited: lanes of each warp, and since when. */
typedef struct {
    uint32_t lanes[MAX_WARPS], since[MAX_WARPS];
} Waited;

typedef struct {
    uint32_t site, time, warp, lane; /* that began it, and when */
    bool reads;                      /* shared memory; else it writes there */
    bool ended;                      /* the phase that counts its bytes; or it was waited for */
    bool hidden;                     /* not exposed */
    uint32_t phase, commits;
    uint64_t mbarrier; /* 0: not told yet, or none */
    Range range;
    Waited waited;
    uint32_t fine[MAX_WARPS]; /* lanes that are known to come after it */
} Bulk;

/* Of the block in a seat, in order; used: when each warp last read what one has brought. */
struct Bulks {
    Bulk *of;
    size_t count, room;
    Mark used[MAX_WARPS];
};

void bulks_free(Bulks *bulks)
{
    if (bulks) free(bulks->of);
    free(bulks);
}

#define FOR_BULKS(b, bulks)                                                                        \
    for (Bulk *b = (bulks) ? (bulks)->of : NULL, *end_ = b ? b + (bulks)->count : NULL; b < end_;  \
         b++)

/* ---- under way ---- */

static bool meets(Range a, Range b) { return a.begin < b.end && b.begin < a.end; }

/* One makes room for the next at its place, unless it reads and nobody has waited for that. */
static void make_room(Bulks *bulks, Range range)
{
    size_t kept = 0;
    for (size_t n = 0; n < bulks->count; n++) {
        const Bulk *b = &bulks->of[n];
        if (!meets(b->range, range) || (b->reads && !b->ended)) bulks->of[kept++] = *b;
    }
    bulks->count = kept;
}

static void hide(Bulk *b)
{
    if (!b->hidden && !b->reads) report_exposed(b->range.begin - b->range.end);
    b->hidden = true;
}

static void begin_exposed(Bulk *b, const Mark *used)
{
    if (!b->reads) report_exposed(b->range.end - b->range.begin);
    for (uint32_t warp = 0; warp < MAX_WARPS; warp++)
        if (used[warp] && !order_before(used[warp], b->warp, b->lane)) hide(b);
}

void bulks_begin(const Warp *w, uint32_t site, uint32_t lane, Range range)
{
    if (!watch.here->bulks) watch.here->bulks = calloc(1, sizeof(Bulks));
    Bulks *bulks = watch.here->bulks;
    if (!bulks || range.begin == range.end) return;
    make_room(bulks, range);
    if (!GROW(bulks->of, bulks->count, bulks->room, 16)) return;
    bulks->of[bulks->count++] = (Bulk){.site = site,
                                       .time = order.now,
                                       .warp = w->warp_id,
                                       .lane = lane,
                                       .reads = site_of(site)->kind == SITE_LOAD,
                                       .range = range};
    begin_exposed(&bulks->of[bulks->count - 1], bulks->used);
}

void bulks_told(const Warp *w, uint32_t lane, uint64_t mbarrier, uint32_t phase)
{
    FOR_BULKS(b, watch.here->bulks)
    if (!b->mbarrier && !b->reads && b->warp == w->warp_id && b->lane == lane)
        b->mbarrier = mbarrier, b->phase = phase;
}

void bulks_end_phase(const Cluster *cluster, uint64_t mbarrier, uint32_t phase)
{
    for (uint32_t i = 0; i < cluster->blocks; i++) {
        const Seat *seat = seat_of(cluster->seats[i]);
        FOR_BULKS(b, seat ? seat->bulks : NULL)
        if (b->mbarrier == mbarrier && b->phase == phase) b->ended = true;
    }
}

void sg_sanitize_bulk_commit(Warp *w, uint32_t mask)
{
    FOR_BULKS(b, watch.here->bulks)
    if (b->reads && b->warp == w->warp_id && mask >> b->lane & 1) b->commits++;
}

void bulks_end_block(const Seat *seat)
{
    FOR_BULKS(b, seat->bulks)
    {
        uint32_t known = 0;
        for (uint32_t warp = 0; warp < MAX_WARPS; warp++) known |= b->waited.lanes[warp];
        const Mark copy = mark_of(b->time, b->site, b->warp, b->lane, 0);
        if (!known) report_copying_at_end(seat->block - 1, copy, b->reads);
    }
}

/* ---- waiting ---- */

static void note_waited(Bulk *b, const Warp *w, uint32_t lanes)
{
    const uint32_t warp = w->warp_id;
    if (!b->waited.lanes[warp]) b->waited.since[warp] = order.now;
    b->waited.lanes[warp] |= lanes;
    b->fine[warp] |= lanes;
}

void bulks_waited(const Warp *w, uint32_t lane, uint64_t mbarrier, uint32_t parity)
{
    FOR_BULKS(b, watch.here->bulks)
    if (b->ended && b->mbarrier == mbarrier && (b->phase & 1) == (parity & 1))
        note_waited(b, w, 1u << lane);
}

uint32_t bulks_late(const Warp *w, const uint64_t *mbarrier, uint32_t mask, const uint64_t *phase)
{
    uint32_t late = 0;
    FOR_BULKS(b, watch.here->bulks)
    FOR_LANES(lane, watch.late_polls && b->ended ? mask & ~b->waited.lanes[w->warp_id] : 0)
    if (b->mbarrier == mbarrier[lane] && (b->phase & 1) == (phase[lane] & 1)) late |= 1u << lane;
    watch.late_polls -= !!late;
    return late;
}

void sg_sanitize_bulk_wait(Warp *w, uint32_t mask, uint32_t groups)
{
    FOR_BULKS(b, watch.here->bulks)
    if (b->reads && b->warp == w->warp_id && mask >> b->lane & 1 && b->commits > groups) {
        b->ended = true;
        note_waited(b, w, 1u << b->lane);
    }
}

/* ---- accesses ---- */

/* Whether somebody who has waited did so before what a lane does now. */
static bool comes_after(const Bulk *b, uint32_t warp, uint32_t lane)
{
    for (uint32_t other = 0; other < MAX_WARPS; other++) FOR_LANES(l, b->waited.lanes[other])
        {
            if (order_before(mark_of(b->waited.since[other], 0, other, l, 0), warp, lane))
                return true;
            if (other != warp && !order_knows_lanes(warp, other)) break; /* any lane will do */
        }
    return false;
}

static void collide(const Access *a, Bulk *b, const uint64_t *addr, uint32_t mask)
{
    FOR_LANES(lane, mask & ~b->fine[a->w->warp_id])
    {
        if (!meets(b->range, (Range){addr[lane], addr[lane] + a->bytes})) continue;
        if (comes_after(b, a->w->warp_id, lane)) b->fine[a->w->warp_id] |= 1u << lane;
        else
            report_bulk(a, lane, addr[lane], mark_of(b->time, b->site, b->warp, b->lane, 0),
                        b->reads);
    }
}

/* A warp reads what one has brought: what it does not wait for yet comes meanwhile. */
static void use(const Bulk *used, uint32_t site, uint32_t warp, uint32_t lane)
{
    watch.here->bulks->used[warp] = mark_of(order.now, site, warp, lane, 0);
    FOR_BULKS(b, watch.here->bulks)
    if (b != used && !b->hidden && !(b->fine[warp] >> lane & 1) && !comes_after(b, warp, lane))
        hide(b);
}

void bulks_collide(const Access *a, const uint64_t *addr, uint32_t mask)
{
    if (!watch.here->bulks || !watch.here->bulks->count) return;
    if (!in_shared(a->w, a->site, addr[__builtin_ctz(mask)])) return;
    Range all = {UINT64_MAX, 0};
    FOR_LANES(lane, mask)
    {
        all.begin = MIN(all.begin, addr[lane]);
        all.end = MAX(all.end, addr[lane] + a->bytes);
    }
    FOR_BULKS(b, watch.here->bulks)
    {
        if (!meets(b->range, all) || (!a->store && b->reads)) continue;
        collide(a, b, addr, mask);
        if (!a->store) use(b, a->number, a->w->warp_id, __builtin_ctz(mask));
    }
}
