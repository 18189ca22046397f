/* What a profiled launch touches, kept for its caches to be replayed (caches.c). */
#ifndef SOFTGPU_CACHES_H
#define SOFTGPU_CACHES_H

#include "rules.h"

#define LINE 128 /* bytes of a cache's line: four sectors */

/* A warp's access to one line of global memory. */
typedef struct {
    uint32_t line, block, at;       /* at: instructions that the warp had done */
    uint32_t site : 20, kind : 4;   /* kind: SITE_..., or IN_BULK: a load that passes by the L1 */
    uint32_t sectors : 4, full : 4; /* bits; full: those that a store fills */
} Touch;

#define IN_BULK 0xfu

/* The accesses of one worker to every 2^k-th page, chosen by a hash so that there is room. */
typedef struct {
    Touch *touches;
    uint32_t count, room;
    uint64_t skip; /* 2^k - 1 */
} Touches;

bool touches_make_room(Touches *, uint64_t line); /* false: not for this line */
bool touches_kept(uint64_t line, uint64_t skip);

/* The touch says who, when and why. */
static inline void touches_add(Touches *t, Touch who, uint32_t line, uint32_t sectors,
                               uint32_t full)
{
    if (t->skip && !touches_kept(line, t->skip)) return;
    if (t->count == t->room && !touches_make_room(t, line)) return;
    who.line = line;
    who.sectors = sectors;
    who.full = full;
    t->touches[t->count++] = who;
}

void touches_sectors(Touches *, const Touch *who, const Sectors *);
/* Adds those from `first` on again, as somebody else's; false: there is no room. */
bool touches_again(Touches *, uint32_t first, uint32_t count, const Touch *who);
void touches_forget(Touches *); /* the launch's; its room goes to an empty one, or NULL */
void touches_keep(Touches *);   /* adds it to the launch's, and empties it */

#endif
