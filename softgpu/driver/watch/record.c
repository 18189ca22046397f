/* The other half of "record" builds: what each warp does, in the order in which it happens. */
#include <stdlib.h>
#include <string.h>

#include "sanitize.h"

#define MAX_EVENTS (1u << 15)
enum { KEPT = 16 }; /* bytes of a lane's value */

static struct {
    Recorded *events;
    uint32_t count, room;
} recorded;

static Recorded *new_event(const Warp *w, uint32_t kind, uint32_t place, uint32_t mask)
{
    if (recorded.count == recorded.room) {
        uint32_t room = recorded.room ? 2 * recorded.room : 64;
        Recorded *more = room <= MAX_EVENTS ? realloc(recorded.events, room * sizeof *more) : NULL;
        if (!more) return NULL;
        recorded.events = more;
        recorded.room = room;
    }
    Recorded *e = &recorded.events[recorded.count++];
    memset(e, 0, sizeof *e);
    e->kind = kind;
    e->place = place;
    e->warp = w->warp_id;
    e->mask = mask;
    memcpy(e->block, w->ctaid, sizeof e->block);
    return e;
}

void sg_record_step(Warp *w, uint32_t step, uint32_t mask) { new_event(w, EVENT_STEP, step, mask); }

void sg_record_value(Warp *w, uint32_t variable, uint32_t mask, uint32_t bytes, const void *values)
{
    Recorded *e = mask ? new_event(w, EVENT_VALUE, variable, mask) : NULL;
    if (!e) return;
    e->bytes = bytes;
    FOR_LANES(lane, mask)
    memcpy(e->values + lane * KEPT, (const char *)values + lane * bytes, bytes);
}

/* Shared memory: offsets. data[component][lane], of which the first 16 bytes are kept. */
void sg_record_access(Warp *w, uint32_t site, const uint64_t *addr, uint32_t mask, const void *data)
{
    const struct Site *s = &w->worker->job->kernel->sites[site];
    if (s->space == SPACE_PARAM || s->space == SPACE_CONST || !mask) return;
    Recorded *e = new_event(w, EVENT_ACCESS, site, mask);
    if (!e) return;
    uint32_t size = s->bytes / s->elements, kept = MIN(s->bytes, KEPT);
    e->bytes = s->bytes;
    e->size = size;
    FOR_LANES(lane, mask)
    {
        uint64_t offset = addr[lane] - (uint64_t)w->shared;
        bool shared = s->space == SPACE_SHARED || offset < w->shared_bytes;
        uint64_t local = addr[lane] - (uint64_t)w->local;
        bool is_local = s->space == SPACE_LOCAL || local < w->local_stride * LANES;
        e->space = shared ? SPACE_SHARED : is_local ? SPACE_LOCAL : SPACE_GLOBAL;
        e->lanes[lane] = shared ? offset : is_local ? local % w->local_stride : addr[lane];
        for (uint32_t at = 0; at < kept; at += size)
            memcpy(e->values + lane * KEPT + at,
                   (const char *)data + (at / size * LANES + lane) * size, size);
    }
}

void sg_record_shuffle(Warp *w, uint32_t site, uint32_t mode, const uint32_t *b, const uint32_t *c,
                       uint32_t mask)
{
    Recorded *e = mask ? new_event(w, EVENT_SHUFFLE, site, mask) : NULL;
    if (!e) return;
    uint32_t lanes[LANES], source[LANES], inside;
    for (uint32_t i = 0; i < LANES; i++) lanes[i] = source[i] = i;
    sg_shuffle(mode, lanes, b, c, mask, source, &inside);
    for (uint32_t i = 0; i < LANES; i++) e->lanes[i] = source[i];
}

void sg_record_barrier(Warp *w, uint32_t site, uint32_t mask)
{ new_event(w, EVENT_BARRIER, site, mask); }

/* What was recorded since sg_sanitize(BUILD_RECORD); it stays until the next. */
const Recorded *sg_recorded(uint32_t *count, uint32_t *incomplete)
{
    *count = recorded.count;
    *incomplete = recorded.count >= MAX_EVENTS;
    return recorded.events;
}

void record_forget(void)
{
    free(recorded.events);
    memset(&recorded, 0, sizeof recorded);
}
