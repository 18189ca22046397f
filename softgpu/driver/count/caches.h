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
    uint32_t count, room;
    uint64_t skip; /* 2^k - 1 */
} Touches;

bool touches_make_room(Touches *, uint64_t line); /* false: not for this line */
bool touches_kept(uint64_t line, uint64_t skip);

static inline void touches_add(Touches *t, const Touch *who, uint64_t line, uint8_t sectors,
                               uint8_t full)
{
    if (t->count == t->room && !touches_make_room(t, line)) return;
    Touch *to = &t->touches[t->count++]; /* field by field: fresh stores are slow to read as one */
    to->line = line;
    to->block = who->block;
    to->at = who->at;
    to->site = who->site;
    to->sectors = sectors;
    to->full = full;
    to->kind = who->kind;
}

/* From the first to the one before the last. */
static inline uint8_t touches_bits(uint32_t first, uint32_t last)
{ return first < last ? (1u << last) - (1u << first) : 0; }

/* An access's lines, of a range of bytes or of sectors; the touch says who, when and why. */
static inline void touches_range(Touches *t, const Touch *who, uint64_t first, uint64_t last)
{
    for (uint64_t line = first / LINE; line <= last / LINE; line++) {
        if (t->skip && !touches_kept(line, t->skip)) continue;
        uint64_t begin = line * LINE, from = first > begin ? first - begin : 0;
        uint64_t end = last - begin < LINE ? last - begin + 1 : LINE;
        touches_add(t, who, line, touches_bits(from / SECTOR, (end + SECTOR - 1) / SECTOR),
                    touches_bits((from + SECTOR - 1) / SECTOR, end / SECTOR));
    }
}

void touches_sectors(Touches *, const Touch *who, const Sectors *);
void touches_forget(Touches *); /* the launch's; its room goes to an empty one, or NULL */
void touches_keep(Touches *);   /* adds it to the launch's, and empties it */

#endif
