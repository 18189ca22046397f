/* The sanitizer: where lanes and warps meet. Who should be there and is not, and what each knows of
   the others afterwards.

   Terms: barrier divergence (Betts et al. 2012; docs/terms.md). */
#include "sanitize.h"

/* ---- lanes of a warp ---- */

/* Lanes meet at an instruction that names them: shfl.sync, vote.sync, bar.warp.sync ... */
static void meet(Warp *w, uint32_t site, uint32_t kind, const uint32_t *members, uint32_t active)
{
    for (uint32_t left = active; left;) {
        uint32_t first = __builtin_ctz(left), group = 0, named = members[first];
        FOR_LANES(lane, left) group |= (uint32_t)(members[lane] == named) << lane;
        left &= ~group;
        if (group & ~named)
            report_lanes(w, kind, NOT_NAMED, site, __builtin_ctz(group & ~named), first);
        uint32_t missing = named & w->live & ~group;
        FOR_LANES(lane, missing & active) /* which is a finding of its own */
        if (!(members[lane] >> lane & 1)) missing &= ~(1u << lane);
        if (missing) report_lanes(w, kind, ABSENT, site, first, __builtin_ctz(missing));
        order_warp(w->warp_id, group & named, w->live);
    }
}

void sg_sanitize_meet(Warp *w, uint32_t site, const uint32_t *members, uint32_t active,
                      uint32_t shuffle)
{
    if (active) meet(w, site, shuffle ? INACTIVE_SHUFFLE : DIVERGENT_BARRIER, members, active);
}

/* The whole warp executes an instruction together: the lanes that do, if any. */
void sg_sanitize_whole_warp(Warp *w, uint32_t site, uint32_t mask)
{
    const uint32_t missing = w->existing & ~mask;
    if (mask && missing)
        report_lanes(w, DIVERGENT_BARRIER, WHOLE_WARP, site, __builtin_ctz(mask),
                     __builtin_ctz(missing));
}

/* Who reads a lane that is neither there nor named, and chooses whether to take it, is spared. */
void sg_sanitize_shuffle(Warp *w, uint32_t site, uint32_t mode, const uint32_t *b,
                         const uint32_t *c, const uint32_t *members, uint32_t active,
                         uint32_t chosen)
{
    uint32_t from[LANES], own[LANES], in_range;
    if (!active) return;
    for (uint32_t i = 0; i < LANES; i++) own[i] = i;
    sg_shuffle(mode, own, b, c, active, from, &in_range);
    FOR_LANES(lane, active)
    {
        uint32_t source = from[lane];
        if (!(in_range >> lane & 1)) continue;
        if (chosen && !((active | members[lane]) >> source & 1)) continue;
        if (!(w->existing >> source & 1))
            report_lanes(w, INACTIVE_SHUFFLE, NO_THREAD, site, lane, source);
        else if (!(active >> source & 1))
            report_lanes(w, INACTIVE_SHUFFLE, w->live >> source & 1 ? NO_NOTE : EXITED, site, lane,
                         source);
        else if (!(members[lane] >> source & 1))
            report_lanes(w, INACTIVE_SHUFFLE, NOT_NAMED, site, lane, source);
    }
    meet(w, site, INACTIVE_SHUFFLE, members, active);
}

/* ---- warps of a block ---- */

/* A barrier is complete; the running warp is the first to go on. */
static void pass_barrier(const Warp *w, uint32_t id, bool all)
{
    Seat *here = watch.here;
    uint32_t came = here->fresh.came[id], waits = here->fresh.waits[id];
    here->fresh.came[id] = here->fresh.waits[id] = 0;
    order_barrier(id, waits, all);
    if (!all) return;
    uint32_t first = __builtin_ctz(came), site = here->barrier_site[id][first];
    FOR_LANES(other, id ? 0 : came) /* PTX lets warps come to the others from different lines */
    if (here->barrier_site[id][other] != site)
        report_two_lines(w, (uint32_t[]){first, other},
                         (uint32_t[]){site, here->barrier_site[id][other]});
    uint32_t gone = watch.job->threads - w->worker->live_threads;
    if (gone) report_exited(&w->worker->warps[first], site, gone);
}

static uint32_t come(const Warp *w, uint32_t site, uint32_t id, uint32_t mask, uint32_t hints,
                     bool goes_on)
{
    uint32_t skip = hints & HINT_ALIGNED ? w->live & ~mask : 0;
    if (skip) report_skipped(w, site, mask, skip);
    if (id < BARRIERS) {
        watch.here->barrier_site[id][w->warp_id] = site;
        watch.here->fresh.came[id] |= 1u << w->warp_id;
        order_arrive(w->warp_id, id, goes_on);
    }
    return mask | skip;
}

uint32_t sg_sanitize_barrier(Warp *w, uint32_t site, uint32_t id, uint32_t threads, uint32_t mask,
                             uint32_t reduce, uint32_t predicate, uint32_t hints)
{
    mask = come(w, site, id, mask, hints, false);
    if (id < BARRIERS) watch.here->fresh.waits[id] |= 1u << w->warp_id;
    uint32_t result = 0;
    if (id || threads || reduce) result = sg_barrier(w, site, id, threads, mask, reduce, predicate);
    else sg_sync(w, site, mask);
    if (watch.here->fresh.came[id] >> w->warp_id & 1) pass_barrier(w, id, !threads);
    return result;
}

void sg_sanitize_barrier_arrive(Warp *w, uint32_t site, uint32_t id, uint32_t threads,
                                uint32_t mask, uint32_t hints)
{
    mask = come(w, site, id, mask, hints, true);
    sg_barrier_arrive(w, site, id, threads, mask);
    if (!w->worker->barriers[id].arrived) pass_barrier(w, id, !threads);
}
