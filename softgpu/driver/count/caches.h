/* What a profiled launch touches, kept for its caches to be replayed (caches.c). */
#ifndef SOFTGPU_CACHES_H
#define SOFTGPU_CACHES_H

#include "rules.h"

#define LINE 128 /* bytes of a cache's line: four sectors */

/* A warp's access to one line of global memory. */
typedef struct {
    uint64_t line;
    uint32_t block, at; /* at: instructions that the warp had done */
    uint32_t site;
    uint8_t sectors, full; /* bits; full: those that a store fills */
    uint8_t kind;          /* SITE_..., or IN_BULK: a load that passes by the L1 */
} Touch;

#define IN_BULK 0xffu

/* The accesses of one worker to every 2^k-th page, chosen by a hash so that there is room. */
typedef struct {
    Touch *touches;
    uint32_t count;
    uint64_t skip; /* 2^k - 1 */
} Touches;

/* An access's lines, of a range of bytes or of sectors; the touch says who, when and why. */
void touches_range(Touches *, const Touch *, uint64_t first, uint64_t last);
void touches_sectors(Touches *, const Touch *, const Sectors *);
void touches_forget(Touches *); /* the launch's; its room goes to an empty one, or NULL */
void touches_keep(Touches *); /* adds it to the launch's, and empties it */

#endif
