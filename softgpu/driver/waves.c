/* How blocks that differ keep a GPU busy. They come to its multiprocessors in the order of their
   numbers, one to each and round again while there is room; then each to where one has ended. */
#include "waves.h"

#include <stdlib.h>

#include "driver.h"

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
    uint32_t busy, next; /* blocks; which of them ends next */
} Processor;

static void choose_next(Processor *p)
{
    p->next = 0;
    for (uint32_t i = 1; i < p->busy; i++)
        if (p->ends[i] < p->ends[p->next]) p->next = i;
}

static void seat(Processor *p, uint32_t at, uint64_t block)
{
    p->ends[at] = p->done + work[block];
    choose_next(p);
}

/* The time of the next end on a multiprocessor; shared: its blocks share a speed of one. */
static double next_end(const Processor *p, bool shared)
{
    if (!p->busy) return 1e300;
    return p->now + (p->ends[p->next] - p->done) * (shared ? p->busy : 1);
}

static double last_end(Processor *all, const CacheShape *shape, bool shared)
{
    uint64_t waiting = 0;
    uint32_t processors = shape->multiprocessors;
    double now = 0;
    for (uint32_t i = 0; i < processors; i++) all[i] = (Processor){0};
    for (uint32_t at = 0; at < shape->resident; at++)
        for (uint32_t i = 0; i < processors && waiting < count; i++) {
            all[i].busy++;
            seat(&all[i], at, waiting++);
        }
    for (;;) {
        uint32_t first = 0;
        for (uint32_t i = 1; i < processors; i++)
            if (next_end(&all[i], shared) < next_end(&all[first], shared)) first = i;
        Processor *p = &all[first];
        if (!p->busy) return now;
        now = p->now = next_end(p, shared);
        p->done = p->ends[p->next];
        if (waiting < count) {
            seat(p, p->next, waiting++);
        } else {
            p->ends[p->next] = p->ends[--p->busy];
            choose_next(p);
        }
    }
}

/* Of this thread's last profiled launch; 0 if there is no memory for it. */
int sg_waves(const CacheShape *shape, Waves *found)
{
    double total = 0;
    CacheShape of = *shape;
    Processor *all = calloc(of.multiprocessors, sizeof *all);
    if (of.resident > MOST) of.resident = MOST;
    for (uint64_t i = 0; i < count; i++) total += work[i];
    int done = all && total > 0 && of.resident;
    if (done) {
        found->shared = last_end(all, &of, true) * of.multiprocessors / total;
        found->seated = last_end(all, &of, false) * count / total;
    }
    free(all);
    return done;
}
