/* How blocks that differ keep a GPU busy. They come to its multiprocessors in the order of their
   numbers, one to each and round again while there is room; then each to where one has ended.

   Terms: list scheduling, tail effect (Graham 1969; docs/terms.md). */
#include "waves.h"

#include <math.h>
#include <stdlib.h>

#include "contract.h"
#include "run/run.h"

#define MOST 64 /* blocks on a multiprocessor */

static uint32_t *work; /* of each block: instructions of its warps */
static uint64_t count;

void waves_begin(uint64_t blocks)
{
    free(work);
    work = calloc(blocks, sizeof *work);
    count = work ? blocks : 0;
}

void waves_note(uint64_t block, uint32_t instructions)
{
    if (block < count) work[block] = instructions;
}

/* Blocks on a multiprocessor get done the same amount at a time. */
typedef struct {
    double done, now;    /* what each block has got so far, and when that was */
    double ends[MOST];   /* when `done` is so much, a block ends */
    double next_end;     /* the time when the first of them does */
    uint32_t busy, next; /* blocks; which of them ends first */
} Processor;

/* After its blocks have changed; shared: they share a speed of one. */
static void look_ahead(Processor *p, bool shared)
{
    p->next = 0;
    for (uint32_t i = 1; i < p->busy; i++)
        if (p->ends[i] < p->ends[p->next]) p->next = i;
    double left = p->ends[p->next] - p->done;
    p->next_end = p->busy ? p->now + left * (shared ? p->busy : 1) : INFINITY;
}

static double last_end(Processor *all, const CacheShape *shape, bool shared)
{
    uint64_t waiting = 0;
    uint32_t processors = shape->multiprocessors;
    for (uint32_t i = 0; i < processors; i++) all[i] = (Processor){0};
    for (uint32_t at = 0; at < shape->resident; at++)
        for (uint32_t i = 0; i < processors && waiting < count; i++)
            all[i].ends[all[i].busy++] = work[waiting++];
    for (uint32_t i = 0; i < processors; i++) look_ahead(&all[i], shared);
    for (double now = 0;;) {
        Processor *p = all;
        for (uint32_t i = 1; i < processors; i++)
            if (all[i].next_end < p->next_end) p = &all[i];
        if (!p->busy) return now;
        now = p->now = p->next_end;
        p->done = p->ends[p->next];
        if (waiting < count) p->ends[p->next] = p->done + work[waiting++];
        else p->ends[p->next] = p->ends[--p->busy];
        look_ahead(p, shared);
    }
}

static double rounds(uint64_t seats) { return (double)((count + seats - 1) / seats); }

/* Of this thread's last profiled launch; 0 if there is no memory for it. */
int sg_waves(const CacheShape *shape, Waves *found)
{
    double total = 0;
    bool alike = true;
    CacheShape of = *shape;
    Processor *all = calloc(of.multiprocessors, sizeof *all);
    if (of.resident > MOST) of.resident = MOST;
    for (uint64_t i = 0; i < count; i++) {
        total += work[i];
        alike &= work[i] == work[0];
    }
    int done = all && count && of.resident;
    if (done && alike) {
        found->shared = rounds(of.multiprocessors) * of.multiprocessors / count;
        found->seated = rounds((uint64_t)of.multiprocessors * of.resident);
    } else if (done) {
        found->shared = last_end(all, &of, true) * of.multiprocessors / total;
        found->seated = last_end(all, &of, false) * count / total;
    }
    free(all);
    return done;
}
