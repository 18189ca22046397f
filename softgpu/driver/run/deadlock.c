/* A block of which no warp can go on: who waits where for what.

   Terms: deadlock detection (Coffman et al. 1971; docs/terms.md). */
#include <stdio.h>
#include <string.h>

#include "internal.h"
#include "mbarrier.h"

/* "12", or "0-3,7" */
static size_t print_set(char *text, size_t room, uint32_t set)
{
    size_t at = 0;
    text[0] = 0;
    while (set && at + 16 < room) {
        uint32_t first = __builtin_ctz(set), last = first;
        while (last < 31 && set >> (last + 1) & 1) last++;
        at += snprintf(text + at, room - at, at ? ",%u" : "%u", first);
        if (last > first) at += snprintf(text + at, room - at, "-%u", last);
        set &= last == 31 ? 0 : UINT32_MAX << (last + 1);
    }
    return at;
}

static enum FaultKind describe_mbarrier(Worker *worker, uint64_t address, char *text, size_t room)
{
    const Mbarrier *m = (const Mbarrier *)address;
    int at = snprintf(text, room, "mbarrier: %u of %u arrivals are to come", (uint32_t)m->pending,
                      (uint32_t)m->expected);
    const uint32_t *told = mbarrier_told(worker, address);
    if (!m->bytes || !told) return FAULT_MBARRIER_ARRIVALS_MISSING;
    snprintf(text + at, room - at, "; %d of %u bytes have arrived", (int)(*told - m->bytes), *told);
    return FAULT_MBARRIER_BYTES_MISSING;
}

static enum FaultKind describe_barrier(Worker *worker, const Warp *w, char *text, size_t room)
{
    const Barrier *b = &worker->barriers[w->waiting_id];
    const Cluster *cluster = worker->cluster;
    if (w->waiting_id == MBARRIER) return describe_mbarrier(worker, w->waiting_word, text, room);
    if (w->waiting_id == REGISTERS) {
        snprintf(text, room, "setmaxnreg: %d more registers than the other warps have given",
                 (int)w->waiting_word - w->more_registers - worker->spare_registers);
        return FAULT_REGISTERS_MISSING;
    }
    if (w->waiting_id == PRODUCTS)
        snprintf(text, room, "wgmma: the other warps of its warpgroup have not begun the products");
    else if (w->waiting_id == CLUSTER_BARRIER)
        snprintf(text, room, "the barrier of its cluster has %u of %u threads", cluster->arrived,
                 cluster_threads(cluster));
    else
        snprintf(text, room, "barrier %u has %u of %u threads", w->waiting_id, b->arrived,
                 b->expected ? b->expected : worker->live_threads);
    return FAULT_DEADLOCK;
}

/* The warps of a set that wait in the same way as the first of it. */
static uint32_t alike(const Worker *worker, uint32_t set)
{
    const Warp *first = &worker->warps[__builtin_ctz(set)];
    uint32_t same = 0;
    FOR_LANES(i, set)
    {
        const Warp *w = &worker->warps[i];
        if (w->waiting_site == first->waiting_site && w->waiting_id == first->waiting_id &&
            w->waiting_word == first->waiting_word && w->waiting_mask == first->waiting_mask &&
            w->live == first->live)
            same |= 1u << i;
    }
    return same;
}

enum FaultKind deadlock_describe(Worker *worker, uint32_t *site, char *text, size_t room)
{
    char place[600], lanes[128];
    const Job *job = worker->job;
    enum FaultKind kind = FAULT_DEADLOCK;
    size_t at = snprintf(text, room, "block (%u,%u,%u) waits at a barrier that can never complete",
                         worker->ctaid[0], worker->ctaid[1], worker->ctaid[2]);
    uint32_t left = worker->at_mbarriers;
    FOR_LANES(id, worker->busy_barriers) left |= worker->barriers[id].waiting;
    *site = left ? worker->warps[__builtin_ctz(left)].waiting_site : NO_SITE;
    while (left) {
        const Warp *first = &worker->warps[__builtin_ctz(left)];
        uint32_t same = alike(worker, left);
        left &= ~same;
        fault_place(job->kernel, first->waiting_site, place, sizeof place);
        const char *comma = strrchr(place, ' ');
        at += snprintf(text + at, room - at, "; at %s: warp%s ",
                       strchr(place, ',') ? comma + 1 : "an unknown line",
                       same & (same - 1) ? "s" : "");
        if (at + 200 > room) break;
        at += print_set(text + at, room - at, same);
        if (first->waiting_mask != first->live) {
            print_set(lanes, sizeof lanes, first->waiting_mask);
            at += snprintf(text + at, room - at, " with lanes %s only", lanes);
        }
        kind = MAX(kind, describe_barrier(worker, first, lanes, sizeof lanes));
        at += snprintf(text + at, room - at, " (%s)", lanes);
        if (at + 700 > room) break;
    }
    return kind;
}
