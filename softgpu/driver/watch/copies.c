/* Asynchronous copies (cp.async) that are under way: nobody may touch what they write until the
   thread that began them has waited. Then it counts as written, by that thread, there and then. */
#include <stdlib.h>
#include <string.h>

#include "sanitize.h"

/* One instruction of a warp. */
typedef struct {
    uint32_t site, mask; /* the lanes whose copies are under way */
    uint32_t commits[LANES];
    uint64_t to[LANES];
} Copy;

/* Of one warp, in order. */
typedef struct {
    Copy *of;
    size_t count, room;
} Queue;

/* Of the block in a seat; under: who copies to each 4 bytes of shared memory. */
struct Copies {
    Queue queues[MAX_WARPS];
    Mark under[SM_SHARED / 4];
};

void copies_free(Copies *copies)
{
    for (uint32_t warp = 0; copies && warp < MAX_WARPS; warp++) free(copies->queues[warp].of);
    free(copies);
}

void copies_collide(const Access *a, const uint64_t *addr, uint32_t mask)
{
    const Copies *copies = watch.here->copies;
    if (!copies) return;
    FOR_LANES(lane, mask)
    {
        uint64_t first = addr[lane] - (uint64_t)a->w->shared;
        if (!in_shared(a->w, a->site, addr[lane]) || first + a->bytes > SM_SHARED) continue;
        for (uint64_t word = first / 4; word <= (first + a->bytes - 1) / 4; word++) {
            if (!copies->under[word]) continue;
            report_copying(a, lane, addr[lane], copies->under[word]);
            break;
        }
    }
}

static void set_under(const Warp *w, const Copy *copy, uint32_t lane, Mark mark)
{
    uint64_t first = (copy->to[lane] - (uint64_t)w->shared) / 4;
    for (uint32_t word = 0; word < site_of(copy->site)->bytes / 4; word++)
        watch.here->copies->under[first + word] = mark;
}

void sg_sanitize_copy(Warp *w, uint32_t site, const uint64_t *addr, uint32_t mask)
{
    Copy copy = {.site = site};
    if (!watch.here->copies) watch.here->copies = calloc(1, sizeof(Copies));
    if (!watch.here->copies) return;
    Queue *queue = &watch.here->copies->queues[w->warp_id];
    if (!GROW(queue->of, queue->count, queue->room, 16)) return;
    FOR_LANES(lane, mask)
    {
        uint32_t bytes = site_of(site)->bytes;
        uint64_t first = addr[lane] - (uint64_t)w->shared;
        if (first % bytes || first + bytes > w->shared_bytes) continue;
        copy.mask |= 1u << lane;
        copy.to[lane] = addr[lane];
        set_under(w, &copy, lane, mark_of(order.now, site, w->warp_id, lane, 0));
    }
    queue->of[queue->count++] = copy;
}

void sg_sanitize_copy_commit(Warp *w, uint32_t mask)
{
    if (!watch.here->copies) return;
    Queue *queue = &watch.here->copies->queues[w->warp_id];
    for (size_t n = 0; n < queue->count; n++)
        FOR_LANES(lane, queue->of[n].mask & mask) queue->of[n].commits[lane]++;
}

/* Of a copy, those lanes that need not be waited for any longer. */
static uint32_t done(const Copy *copy, uint32_t mask, uint32_t groups)
{
    uint32_t lanes = copy->mask & mask, waiting = 0;
    if (groups == UINT32_MAX) return lanes;
    FOR_LANES(lane, lanes) if (copy->commits[lane] <= groups) waiting |= 1u << lane;
    return lanes & ~waiting;
}

bool copies_take(const Warp *w, uint32_t mask, uint32_t groups, Taken *taken)
{
    if (!watch.here->copies) return false;
    Queue *queue = &watch.here->copies->queues[w->warp_id];
    for (size_t n = 0; n < queue->count; n++) {
        Copy *copy = &queue->of[n];
        const uint32_t lanes = done(copy, mask, groups);
        if (!lanes) continue;
        FOR_LANES(lane, lanes) set_under(w, copy, lane, 0);
        *taken = (Taken){.site = copy->site, .lanes = lanes};
        memcpy(taken->to, copy->to, sizeof copy->to);
        copy->mask &= ~lanes;
        if (!copy->mask) memmove(copy, copy + 1, (--queue->count - n) * sizeof *copy);
        return true;
    }
    return false;
}
