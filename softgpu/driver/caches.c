/* The caches of a launch: one L1 per multiprocessor, an L2 in two halves, and memory after them.

   A profiled launch leaves a trace of what its warps touched. Here it runs once more, in the order
   in which a GPU would come to it: blocks in waves, the blocks of a wave side by side, instruction
   by instruction. Long launches keep a sample of memory's pages, and caches as much smaller. */
#include "caches.h"

#include <stdlib.h>
#include <string.h>

#include "driver.h"

#define ROOM (1u << 17) /* touches that a worker keeps */
#define NONE UINT32_MAX
#define PAGE 8    /* lines that memory opens together */
#define OPEN 4096 /* pages that are open at a time */

static Trace launch; /* of all workers together */
static uint32_t launch_room;

static uint64_t scrambled(uint64_t line)
{
    line *= 0x9E3779B97F4A7C15u;
    return line ^ line >> 29;
}

/* A trace keeps all lines of a page or none. Which is not to depend on the bits that choose a half of the L2. */
static bool kept(uint64_t line, uint64_t skip) { return !(scrambled(line / PAGE) >> 8 & skip); }

/* Twice as sparse, until it has room for one more. */
static void thin(Trace *t, uint64_t skip)
{
    uint32_t left = 0;
    t->skip = skip;
    for (uint32_t i = 0; i < t->count; i++)
        if (kept(t->touches[i].line, skip)) t->touches[left++] = t->touches[i];
    t->count = left;
}

static void keep(Trace *t, Touch touch)
{
    if (!t->touches && !(t->touches = malloc(ROOM * sizeof *t->touches))) return;
    while (t->count == ROOM && t->skip < 1u << 24) thin(t, 2 * t->skip + 1);
    if (t->count < ROOM && kept(touch.line, t->skip)) t->touches[t->count++] = touch;
}

void trace_range(Trace *t, Touch touch, uint64_t first, uint64_t last)
{
    for (touch.line = first / LINE; touch.line <= last / LINE; touch.line++) {
        if (!kept(touch.line, t->skip)) continue;
        touch.sectors = touch.full = 0;
        for (uint32_t i = 0; i < LINE / SECTOR; i++) {
            uint64_t begin = touch.line * LINE + i * SECTOR, end = begin + SECTOR - 1;
            touch.sectors |= (begin <= last && first <= end) << i;
            touch.full |= (begin >= first && end <= last) << i;
        }
        keep(t, touch);
    }
}

void trace_sectors(Trace *t, Touch touch, const Sectors *s)
{
    uint32_t left = s->count == 32 ? UINT32_MAX : (1u << s->count) - 1;
    while (left) {
        touch.line = s->id[__builtin_ctz(left)] * SECTOR / LINE;
        touch.sectors = touch.full = 0;
        FOR_LANES(i, left)
        {
            if (s->id[i] * SECTOR / LINE != touch.line) continue;
            uint32_t bit = 1u << s->id[i] % (LINE / SECTOR);
            touch.sectors |= bit;
            if (s->bytes[i] == UINT32_MAX) touch.full |= bit;
            left &= ~(1u << i);
        }
        if (kept(touch.line, t->skip)) keep(t, touch);
    }
}

void trace_forget(void)
{
    free(launch.touches);
    launch = (Trace){0};
    launch_room = 0;
}

void trace_keep(Trace *t)
{
    if (t->skip > launch.skip) thin(&launch, t->skip);
    if (t->skip < launch.skip) thin(t, launch.skip);
    if (launch.count + t->count > launch_room) {
        launch_room = launch.count + t->count;
        Touch *more = realloc(launch.touches, launch_room * sizeof *more);
        if (!more) return;
        launch.touches = more;
    }
    if (t->count) memcpy(launch.touches + launch.count, t->touches, t->count * sizeof(Touch));
    launch.count += t->count;
    free(t->touches);
    *t = (Trace){0};
}

/* ---- caches: fully associative, what was not used for longest goes first ---- */

typedef struct {
    uint64_t line;
    uint32_t cache;
    uint32_t before, after; /* in order of use */
    uint32_t next;          /* of the same hash */
    uint8_t there, dirty, full;
} Line;

typedef struct {
    uint32_t first, last, count, most;
} Cache;

typedef struct {
    Line *lines;
    uint32_t *heads, used, spare, mask;
    Cache *caches;
    uint64_t *open; /* by a page's hash: which one is, plus 1 */
    uint32_t open_mask;
    CacheCounts *counts;
} Chip;

static uint32_t *head_of(Chip *c, uint32_t cache, uint64_t line)
{ return &c->heads[scrambled(line + 0x5851F42D4C957F2Du * cache) >> 20 & c->mask]; }

static void unlink_line(Chip *c, uint32_t i)
{
    Line *l = &c->lines[i];
    Cache *of = &c->caches[l->cache];
    *(l->before == NONE ? &of->first : &c->lines[l->before].after) = l->after;
    *(l->after == NONE ? &of->last : &c->lines[l->after].before) = l->before;
}

static void link_last(Chip *c, uint32_t i)
{
    Line *l = &c->lines[i];
    Cache *of = &c->caches[l->cache];
    l->before = of->last;
    l->after = NONE;
    *(of->last == NONE ? &of->first : &c->lines[of->last].after) = i;
    of->last = i;
}

/* How many pages memory has to open for a line: one or none. */
static uint32_t open_page(Chip *c, uint64_t line)
{
    uint64_t page = line / PAGE, *open = &c->open[scrambled(page) >> 20 & c->open_mask];
    bool closed = *open != page + 1;
    *open = page + 1;
    return closed;
}

/* What is dirty goes to memory; a sector that was written in part is read for the rest. */
static void evict(Chip *c, Cache *of)
{
    uint32_t i = of->first;
    Line *l = &c->lines[i];
    c->counts->dram_writes += __builtin_popcount(l->dirty);
    uint32_t fill = l->dirty & ~l->full & ~l->there;
    c->counts->dram_reads += __builtin_popcount(fill);
    if (fill) c->counts->read_pages += open_page(c, l->line);
    if (l->dirty) c->counts->write_pages += fill ? 1 : open_page(c, l->line);
    unlink_line(c, i);
    uint32_t *at = head_of(c, l->cache, l->line);
    while (*at != i) at = &c->lines[*at].next;
    *at = l->next;
    l->next = c->spare;
    c->spare = i;
    of->count--;
}

/* The line in a cache, made the newest; put there, empty, if it is not. */
static Line *use(Chip *c, uint32_t cache, uint64_t line)
{
    uint32_t *head = head_of(c, cache, line), i = *head;
    while (i != NONE && (c->lines[i].line != line || c->lines[i].cache != cache))
        i = c->lines[i].next;
    if (i != NONE) {
        unlink_line(c, i);
    } else {
        Cache *of = &c->caches[cache];
        if (of->count == of->most) evict(c, of);
        if (c->spare != NONE) {
            i = c->spare;
            c->spare = c->lines[i].next;
        } else {
            i = c->used++;
        }
        head = head_of(c, cache, line);
        c->lines[i] = (Line){line, cache, NONE, NONE, *head, 0, 0, 0};
        *head = i;
        of->count++;
    }
    link_last(c, i);
    return &c->lines[i];
}

/* Memory is read 64 bytes at a time. */
static uint32_t pairs(uint32_t sectors)
{ return sectors | (sectors & 5) << 1 | (sectors & 10) >> 1; }

/* Sectors come to the L2: a multiprocessor asks its own half, which asks the line's if it must. */
static void read_l2(Chip *c, uint32_t sm, uint32_t l2, const Touch *t, uint32_t sectors)
{
    uint32_t own = sm & 1, home = scrambled(t->line) & 1, count = __builtin_popcount(sectors);
    Line *copy = use(c, l2 + own, t->line);
    c->counts->l2_reads += count;
    if (own != home) {
        sectors &= ~copy->there;
        copy->there |= sectors;
        if (!sectors) return;
        c->counts->l2_reads += __builtin_popcount(sectors);
        copy = use(c, l2 + home, t->line);
    }
    uint32_t missing = sectors & ~copy->there & ~copy->full;
    if (!missing) return;
    c->counts->sites[t->site].missed_lines++;
    c->counts->read_pages += open_page(c, t->line);
    missing = pairs(missing) & ~copy->there & ~copy->full;
    copy->there |= missing;
    c->counts->dram_reads += __builtin_popcount(missing);
    c->counts->sites[t->site].misses += __builtin_popcount(missing & sectors);
}

static void write_l2(Chip *c, uint32_t sm, uint32_t l2, const Touch *t)
{
    uint32_t home = scrambled(t->line) & 1, count = __builtin_popcount(t->sectors);
    c->counts->l2_writes += (sm & 1) == home ? count : 2 * count;
    Line *line = use(c, l2 + home, t->line);
    line->dirty |= t->sectors;
    line->full |= t->full;
    c->counts->stored_lines++;
}

static void replay(Chip *c, const CacheShape *shape, const Touch *t)
{
    uint32_t sm = t->block % shape->multiprocessors, l2 = shape->multiprocessors;
    CacheSite *site = &c->counts->sites[t->site];
    uint32_t count = __builtin_popcount(t->sectors), sectors = t->sectors;
    site->sectors += count;
    if (t->kind == SITE_STORE) {
        write_l2(c, sm, l2, t);
    } else if (t->kind == SITE_LOAD) {
        Line *near = use(c, sm, t->line);
        sectors &= ~near->there;
        near->there |= sectors;
        if (!sectors) return;
        site->l2_sectors += __builtin_popcount(sectors);
        site->l2_lines++;
        read_l2(c, sm, l2, t, sectors);
    } else { /* atomics work in the line's half of the L2 */
        uint32_t home = scrambled(t->line) & 1;
        Line *line = use(c, l2 + home, t->line);
        uint32_t missing = sectors & ~line->there & ~line->full;
        c->counts->dram_reads += __builtin_popcount(missing);
        if (missing) c->counts->read_pages += open_page(c, t->line);
        line->there |= missing;
        line->dirty |= sectors;
    }
}

/* ---- the order of a GPU ---- */

typedef struct {
    uint64_t when; /* its wave, and how far its warp was */
    uint32_t touch;
} Turn;

static int earlier(const void *a, const void *b)
{
    const Turn *x = a, *y = b;
    if (x->when != y->when) return x->when < y->when ? -1 : 1;
    return x->touch < y->touch ? -1 : x->touch > y->touch;
}

static bool make_chip(Chip *c, const CacheShape *shape, uint32_t touches)
{
    uint32_t count = shape->multiprocessors + 2, sample = launch.skip + 1;
    for (c->mask = 1023; c->mask < 2 * touches; c->mask = 2 * c->mask + 1) {}
    c->heads = malloc((c->mask + 1) * sizeof *c->heads);
    c->lines = malloc((3 * (size_t)touches + 1) * sizeof *c->lines);
    c->caches = calloc(count, sizeof *c->caches);
    c->open = calloc(OPEN, sizeof *c->open);
    if (!c->heads || !c->lines || !c->caches || !c->open) return false;
    memset(c->heads, 0xff, (c->mask + 1) * sizeof *c->heads);
    c->open_mask = OPEN > sample ? OPEN / sample - 1 : 0;
    c->used = 0;
    c->spare = NONE;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t bytes = i < shape->multiprocessors ? shape->l1_bytes : shape->l2_bytes / 2;
        uint32_t most = bytes / LINE / sample;
        c->caches[i] = (Cache){NONE, NONE, 0, most ? most : 1};
    }
    return true;
}

/* What the caches of a GPU would have done in this thread's last profiled launch. Counts are those
   of the sample: `sample` times as many are expected. Returns 0 if there is no memory for it. */
int sg_caches_replay(const CacheShape *shape, CacheCounts *counts)
{
    Chip chip = {.counts = counts};
    Turn *turns = malloc((launch.count + 1) * sizeof *turns);
    uint32_t wave = shape->multiprocessors * (shape->resident ? shape->resident : 1);
    int done = turns && make_chip(&chip, shape, launch.count);
    for (uint32_t i = 0; done && i < launch.count; i++) {
        const Touch *t = &launch.touches[i];
        turns[i] = (Turn){(uint64_t)(t->block / wave) << 32 | t->at, i};
    }
    if (done) qsort(turns, launch.count, sizeof *turns, earlier);
    for (uint32_t i = 0; done && i < launch.count; i++)
        replay(&chip, shape, &launch.touches[turns[i].touch]);
    counts->sample = launch.skip + 1;
    free(chip.heads);
    free(chip.lines);
    free(chip.caches);
    free(chip.open);
    free(turns);
    return done;
}
