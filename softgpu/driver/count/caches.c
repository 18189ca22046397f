/* The caches of a launch: one L1 per multiprocessor, an L2 in two halves, and memory after them.

   A profiled launch leaves a trace of what its warps touched. Here it runs once more, in the order
   in which a GPU would come to it: blocks in waves, the blocks of a wave side by side, instruction
   by instruction. Long launches keep a sample of memory's pages, and caches as much smaller.

   Terms: trace-driven cache simulation, spatial sampling (Waldspurger et al. 2015;
   docs/terms.md). */
#include "caches.h"

#include <stdlib.h>
#include <string.h>

#include "run/run.h"

#define ROOM (1u << 18)     /* touches that are kept: of a worker, and of all of them */
#define SPARSEST (1u << 24) /* pages of which one is kept */
#define PAGE 8              /* lines that memory opens together */
#define OPEN 4096           /* pages that are open at a time */
#define UNDER_WAY 4096      /* places for the lines that a GPC waits for; a new line replaces one */
#define TOGETHER 4          /* multiprocessors that one answer goes to at most (docs/clock.md) */

static Touches launch; /* of all workers together */

/* Spreads lines evenly. Plus one, or line 0 would stay 0 and be in every sample. */
static uint64_t scrambled(uint64_t line)
{
    line = (line + 1) * 0x9E3779B97F4A7C15u;
    return line ^ line >> 29;
}

/* A trace keeps all lines of a page or none. Which does not depend on the bits that choose a half
   of the L2. */
static bool kept(uint64_t line, uint64_t skip) { return !(scrambled(line / PAGE) >> 8 & skip); }

/* As sparse as `skip` says. */
static void thin(Touches *t, uint64_t skip)
{
    uint32_t left = 0;
    t->skip = skip;
    for (uint32_t i = 0; i < t->count; i++) {
        t->touches[left] = t->touches[i];
        left += kept(t->touches[i].line, skip); /* without a jump: no processor could guess it */
    }
    t->count = left;
}

bool touches_kept(uint64_t line, uint64_t skip) { return kept(line, skip); }

bool touches_make_room(Touches *t, uint64_t line)
{
    if (!t->touches && !(t->touches = malloc(ROOM * sizeof *t->touches))) return false;
    t->room = ROOM;
    while (t->count == ROOM && t->skip < SPARSEST) thin(t, 2 * t->skip + 1);
    return t->count < ROOM && kept(line, t->skip);
}

/* Of some sectors, those whose lines a trace keeps, as bits. */
VECTORISED static uint32_t kept_sectors(const Sectors *s, uint64_t skip)
{
    uint64_t bits = 0;
    for (uint64_t i = 0; i < LANES; i++)
        bits |= (uint64_t)kept(s->id[i] * SECTOR / LINE, skip) << i;
    return bits;
}

void touches_sectors(Touches *t, const Touch *who, const Sectors *s)
{
    uint32_t left = (1ull << s->count) - 1;
    if (t->skip) left &= kept_sectors(s, t->skip);
    while (left) {
        uint64_t line = s->id[__builtin_ctz(left)] * SECTOR / LINE;
        uint8_t sectors = 0, full = 0;
        FOR_LANES(i, left)
        {
            if (s->id[i] * SECTOR / LINE != line) {
                if (s->ascend) break;
                continue;
            }
            uint32_t bit = 1u << s->id[i] % (LINE / SECTOR);
            sectors |= bit;
            if (s->bytes[i] == UINT32_MAX) full |= bit;
            left &= ~(1u << i);
        }
        touches_add(t, *who, line, sectors, full);
    }
}

bool touches_again(Touches *t, uint32_t first, uint32_t count, const Touch *who)
{
    if (t->count + count > t->room) return false;
    for (const Touch *of = t->touches + first, *end = of + count; of < end; of++) {
        Touch *to = &t->touches[t->count++];
        *to = *who;
        to->line = of->line;
        to->sectors = of->sectors;
        to->full = of->full;
    }
    return true;
}

void touches_forget(Touches *next)
{
    if (next) *next = (Touches){.touches = launch.touches, .room = launch.room};
    else free(launch.touches);
    launch = (Touches){0};
}

void touches_keep(Touches *t)
{
    if (!launch.touches) {
        Touch *room = realloc(t->touches, ROOM * sizeof *room);
        if (room) launch = (Touches){room, t->count, ROOM, t->skip};
        else free(t->touches);
        *t = (Touches){0};
        return;
    }
    if (t->skip > launch.skip) thin(&launch, t->skip);
    if (t->skip < launch.skip) thin(t, launch.skip);
    while (launch.count + t->count > ROOM && launch.skip < SPARSEST) {
        thin(&launch, 2 * launch.skip + 1);
        thin(t, launch.skip);
    }
    if (t->count && launch.count + t->count <= ROOM) {
        memcpy(launch.touches + launch.count, t->touches, t->count * sizeof(Touch));
        launch.count += t->count;
    }
    free(t->touches);
    *t = (Touches){0};
}

/* ---- numbers of lines, in the order in which their pages are first touched ---- */

typedef struct {
    uint64_t *pages; /* by number: which page of memory it is */
    uint32_t count;
    uint32_t *slots, mask; /* by a page's hash: its number, plus 1 */
} Numbers;

static uint32_t number_of(Numbers *n, uint64_t line)
{
    uint64_t page = line / PAGE;
    uint32_t at = scrambled(page) >> 40 & n->mask;
    while (n->slots[at] && n->pages[n->slots[at] - 1] != page) at = (at + 1) & n->mask;
    if (!n->slots[at]) {
        n->pages[n->count++] = page;
        n->slots[at] = n->count;
    }
    return (n->slots[at] - 1) * PAGE + line % PAGE;
}

/* ---- caches: fully associative, what was not used for longest goes first ---- */

typedef struct {
    uint32_t last;        /* its last use, if it is there: not before the cache was emptied */
    uint32_t since, site; /* when, and for which site, the cache last asked for what it had not */
    uint8_t there, dirty, full;
} Line;

typedef struct {
    Line *lines;      /* by their numbers */
    uint32_t *uses;   /* of which line each was, one after the other */
    uint32_t oldest;  /* of the uses that may be a line's last */
    uint32_t begun;   /* the first since the cache was emptied */
    uint32_t now;     /* the next */
    uint32_t cleaned; /* lines with a last use before this one are clean */
    uint32_t count, dirty, most;
} Cache;

/* What a GPC, a cluster of multiprocessors, has asked the L2 for and not got yet: its request
   coalescer (LRC) gives the same answer to others of the GPC that want it meanwhile. */
typedef struct {
    uint32_t step, line; /* step: when; 0: never */
    uint8_t sectors, takers;
} Asked;

typedef struct {
    const CacheShape *shape;
    CacheCounts *counts;
    Numbers numbers;
    uint32_t *line, *order, *by_processor; /* line: of each touch; touches, in two orders */
    uint64_t *key;                         /* of each touch, to sort by */
    uint8_t *missed;                       /* of each load, sectors that its L1 does not have */
    Cache l1, l2[2];
    Asked *asked;    /* UNDER_WAY of each GPC, by their lines */
    uint32_t blocks; /* of the launch */
    uint32_t step;   /* of the replay: touches that come at the same time are of one */
    uint32_t wave;   /* blocks of a wave */
    uint64_t *open;  /* by a page's hash: which one is, plus 1 */
    uint32_t open_mask;
} Chip;

/* How many sectors of a line's four a set has: a digit for each of the sixteen sets. */
static uint32_t count_of(uint32_t sectors) { return 0x4332322132212110u >> 4 * sectors & 7; }

static uint32_t home_of(uint64_t line) { return scrambled(line) & 1; }

static uint32_t processor_of(const Chip *c, const Touch *t)
{ return t->block % c->shape->multiprocessors; }

/* Blocks that follow each other go to one GPC, as many to each as to the others. */
static uint32_t gpc_of(const Chip *c, const Touch *t)
{
    uint32_t most = c->shape->multiprocessors, at_once = c->blocks < most ? c->blocks : most;
    return t->block % at_once * c->shape->gpcs / at_once;
}

/* Which half of the L2 is a GPC's own: two that get blocks one after the other share one. */
static uint32_t half_of(uint32_t gpc) { return gpc / 2 & 1; }

/* The sectors of a line that a multiprocessor's GPC does not wait for yet. Blocks that do not stay
   in step ask too late for another's answer. */
static uint32_t not_asked(Chip *c, uint32_t i, const Touch *t, uint32_t sectors)
{
    if (t->kind != IN_BULK && !c->shape->in_step) return sectors;
    uint32_t line = c->line[i];
    Asked *asked = &c->asked[gpc_of(c, t) * UNDER_WAY + scrambled(t->line) % UNDER_WAY];
    if (asked->step != c->step || asked->line != line || asked->takers == TOGETHER)
        *asked = (Asked){.step = c->step, .line = line};
    uint32_t new = sectors & ~asked->sectors;
    asked->sectors |= sectors;
    asked->takers++;
    return new;
}

/* How many pages memory has to open for a line: one or none. */
static uint32_t open_page(Chip *c, uint32_t number)
{
    uint64_t page = c->numbers.pages[number / PAGE];
    uint64_t *open = &c->open[scrambled(page) >> 20 & c->open_mask];
    bool closed = *open != page + 1;
    *open = page + 1;
    return closed;
}

/* What is dirty goes to memory; a sector that was written in part is read for the rest. */
static void write_back(Chip *c, Cache *of, uint32_t number)
{
    Line *l = &of->lines[number];
    if (!l->dirty) return;
    uint32_t fill = l->dirty & ~l->full & ~l->there;
    c->counts->dram_writes += count_of(l->dirty);
    c->counts->dram_reads += count_of(fill);
    if (fill) c->counts->read_pages += open_page(c, number);
    c->counts->write_pages += fill ? 1 : open_page(c, number);
    l->there |= l->dirty;
    l->dirty = 0;
    of->dirty--;
}

/* Passes by uses that are not a line's last; the line of the first that is. */
static uint32_t next_in_use(const Cache *of, uint32_t *use)
{
    while (of->lines[of->uses[*use]].last != *use) ++*use;
    return of->uses[(*use)++];
}

static void evict(Chip *c, Cache *of)
{
    uint32_t number = next_in_use(of, &of->oldest);
    write_back(c, of, number);
    of->lines[number].last = 0;
}

/* Sectors of a line are changed. No more than half of a cache is dirty. */
static void make_dirty(Chip *c, Cache *of, Line *l, uint32_t sectors)
{
    if (!l->dirty) of->dirty++;
    l->dirty |= sectors;
    if (of->cleaned < of->oldest) of->cleaned = of->oldest;
    while (of->dirty > (of->most + 1) / 2) write_back(c, of, next_in_use(of, &of->cleaned));
}

/* The line in a cache, made the newest; put there, empty, if it is not. */
static Line *use(Chip *c, Cache *of, uint32_t number)
{
    Line *l = &of->lines[number];
    if (l->last < of->begun) {
        if (of->count == of->most) evict(c, of);
        else of->count++;
        *l = (Line){0};
    }
    of->uses[of->now] = number;
    l->last = of->now++;
    return l;
}

static void empty(Cache *of)
{
    of->oldest = of->begun = of->now;
    of->count = 0;
}

/* Memory is read 64 bytes at a time. */
static uint32_t pairs(uint32_t sectors)
{ return sectors | (sectors & 5) << 1 | (sectors & 10) >> 1; }

/* Whether a block of the first wave wants a line that another has just asked memory for. Blocks of
   later waves don't begin together. */
static bool is_under_way(const Chip *c, uint32_t i, const Touch *t)
{
    const Cache *home = &c->l2[home_of(t->line)];
    const Line *line = &home->lines[c->line[i]];
    return t->block < c->wave && line->last >= home->begun && line->since == c->step;
}

/* Sectors come to the L2: a multiprocessor asks its own half, which asks the line's if it must. */
static void read_l2(Chip *c, uint32_t i, const Touch *t, uint32_t sectors)
{
    uint32_t own = half_of(gpc_of(c, t)), home = home_of(t->line);
    CacheSite *site = &c->counts->sites[t->site];
    site->under_way_lines += is_under_way(c, i, t);
    if (!sectors) return;
    Line *copy = use(c, &c->l2[own], c->line[i]);
    c->counts->l2_reads += count_of(sectors);
    if (own != home) {
        sectors &= ~copy->there;
        copy->there |= sectors;
        if (!sectors) return;
        c->counts->l2_reads += count_of(sectors);
        copy = use(c, &c->l2[home], c->line[i]);
    }
    uint32_t missing = sectors & ~copy->there & ~copy->full;
    if (!missing) return;
    site->missed_lines++;
    c->counts->read_pages += open_page(c, c->line[i]);
    missing = pairs(missing) & ~copy->there & ~copy->full;
    copy->there |= missing;
    copy->since = c->step;
    c->counts->dram_reads += count_of(missing);
    site->misses += count_of(missing & sectors);
}

static void write_l2(Chip *c, uint32_t i, const Touch *t)
{
    uint32_t own = half_of(gpc_of(c, t)), home = home_of(t->line);
    uint32_t count = count_of(t->sectors);
    c->counts->l2_writes += own == home ? count : 2 * count;
    Line *line = use(c, &c->l2[home], c->line[i]);
    line->full |= t->full;
    make_dirty(c, &c->l2[home], line, t->sectors);
    c->counts->stored_lines++;
}

/* Atomics work in the line's half of the L2. */
static void change_l2(Chip *c, uint32_t i, const Touch *t)
{
    Cache *home = &c->l2[home_of(t->line)];
    CacheSite *site = &c->counts->sites[t->site];
    site->l2_lines++;
    site->under_way_lines += is_under_way(c, i, t);
    Line *line = use(c, home, c->line[i]);
    uint32_t missing = t->sectors & ~line->there & ~line->full;
    if (missing) site->missed_lines++, line->since = c->step;
    c->counts->dram_reads += count_of(missing);
    if (missing) c->counts->read_pages += open_page(c, c->line[i]);
    line->there |= missing;
    make_dirty(c, home, line, t->sectors);
}

/* The sectors of a load that the multiprocessor's L1 does not have. */
static uint32_t read_l1(Chip *c, uint32_t i, const Touch *t)
{
    Line *near = use(c, &c->l1, c->line[i]);
    uint32_t missing = t->sectors & ~near->there;
    near->there |= missing;
    if (missing) {
        near->since = c->step;
        near->site = t->site;
        c->counts->sites[t->site].l2_lines++;
        c->counts->sites[t->site].l2_sectors += count_of(missing);
    } else if (near->since == c->step && near->site == t->site) {
        c->counts->sites[t->site].late_lines++;
    }
    return missing;
}

/* ---- the order of a GPU ---- */

#define DIGIT 11 /* bits */

/* Touches in the order of one digit of their keys, those that are alike as they were. */
static void sort_by(const uint64_t *key, uint32_t shift, const uint32_t *from, uint32_t *to)
{
    uint32_t places[(1 << DIGIT) + 1] = {0}, mask = (1 << DIGIT) - 1;
    for (uint32_t i = 0; i < launch.count; i++) places[(key[i] >> shift & mask) + 1]++;
    for (uint32_t i = 0; i < mask; i++) places[i + 1] += places[i];
    for (uint32_t i = 0; i < launch.count; i++)
        to[places[key[from[i]] >> shift & mask]++] = from[i];
}

/* Sorts `order` by `key`, whose largest is `last`; what is alike stays as it was. */
static void sort(Chip *c, uint64_t last)
{
    for (uint32_t shift = 0; shift < 64 && last >> shift; shift += DIGIT) {
        sort_by(c->key, shift, c->order, c->by_processor);
        uint32_t *sorted = c->by_processor;
        c->by_processor = c->order;
        c->order = sorted;
    }
}

/* By waves of blocks and, in a wave, by how far a warp was, then by block, whichever worker ran it;
   then, in by_processor, the same on each multiprocessor. */
static void put_in_order(Chip *c)
{
    uint32_t resident = c->shape->resident ? c->shape->resident : 1, farthest = 0;
    uint64_t wave = c->wave = c->shape->multiprocessors * resident, last = 0;
    for (uint32_t i = 0; i < launch.count; i++)
        if (launch.touches[i].at > farthest) farthest = launch.touches[i].at;
    for (uint32_t i = 0; i < launch.count; i++) {
        c->order[i] = i;
        c->key[i] = launch.touches[i].block;
        if (c->key[i] > last) last = c->key[i];
    }
    c->blocks = last + 1;
    sort(c, last);
    last = 0;
    for (uint32_t i = 0; i < launch.count; i++) {
        const Touch *t = &launch.touches[i];
        c->key[i] = t->block / wave * (farthest + 1ull) + t->at;
        if (c->key[i] > last) last = c->key[i];
    }
    sort(c, last);
    for (uint32_t i = 0; i < launch.count; i++) c->key[i] = processor_of(c, &launch.touches[i]);
    sort_by(c->key, 0, c->order, c->by_processor);
}

/* A copy by the tensor memory accelerator asks the L2 for all of it. */
static uint32_t read_in_bulk(Chip *c, const Touch *t)
{
    c->counts->sites[t->site].bulk_lines++;
    c->counts->sites[t->site].bulk_sectors += count_of(t->sectors);
    return t->sectors;
}

static void replay(Chip *c)
{
    uint32_t processor = 0, before = 0;
    for (uint32_t n = 0; n < launch.count; n++) {
        uint32_t i = c->by_processor[n];
        const Touch *t = &launch.touches[i];
        c->step += !n || t->at != before || processor_of(c, t) != processor;
        before = t->at;
        if (processor_of(c, t) != processor) empty(&c->l1);
        processor = processor_of(c, t);
        c->counts->sites[t->site].lines++;
        if (t->kind != IN_BULK) c->counts->sites[t->site].sectors += count_of(t->sectors);
        if (t->kind == SITE_LOAD) c->missed[i] = read_l1(c, i, t);
        else if (t->kind == IN_BULK) c->missed[i] = read_in_bulk(c, t);
    }
    for (uint32_t n = 0; n < launch.count; n++) {
        uint32_t i = c->order[n];
        const Touch *t = &launch.touches[i];
        c->step += !n || t->at != before;
        before = t->at;
        if (t->kind == SITE_STORE) write_l2(c, i, t);
        else if (t->kind != SITE_LOAD && t->kind != IN_BULK) change_l2(c, i, t);
        else if (c->missed[i]) read_l2(c, i, t, not_asked(c, i, t, c->missed[i]));
    }
}

static bool make_cache(Cache *of, uint32_t pages, uint32_t bytes)
{
    uint32_t most = bytes / LINE / (launch.skip + 1);
    *of = (Cache){.oldest = 1, .now = 1, .begun = 1, .most = most ? most : 1};
    of->lines = calloc((size_t)pages * PAGE, sizeof *of->lines);
    of->uses = malloc((launch.count + 1) * sizeof *of->uses);
    return of->lines && of->uses;
}

static bool make_chip(Chip *c)
{
    size_t count = launch.count + 1;
    uint32_t sample = launch.skip + 1;
    Numbers *n = &c->numbers;
    for (n->mask = 1023; n->mask < 2 * count; n->mask = 2 * n->mask + 1) {}
    n->pages = malloc(count * sizeof *n->pages);
    n->slots = calloc(n->mask + 1, sizeof *n->slots);
    c->line = malloc(count * sizeof *c->line);
    c->order = malloc(count * sizeof *c->order);
    c->by_processor = malloc(count * sizeof *c->by_processor);
    c->key = malloc(count * sizeof *c->key);
    c->missed = malloc(count);
    c->open = calloc(OPEN, sizeof *c->open);
    c->asked = calloc((size_t)c->shape->gpcs * UNDER_WAY, sizeof *c->asked);
    c->open_mask = OPEN > sample ? OPEN / sample - 1 : 0;
    if (!n->pages || !n->slots || !c->line || !c->order || !c->by_processor || !c->key)
        return false;
    if (!c->missed || !c->open || !c->asked) return false;
    for (uint32_t i = 0; i < launch.count; i++) c->line[i] = number_of(n, launch.touches[i].line);
    return make_cache(&c->l1, n->count, c->shape->l1_bytes) &&
           make_cache(&c->l2[0], n->count, c->shape->l2_bytes / 2) &&
           make_cache(&c->l2[1], n->count, c->shape->l2_bytes / 2);
}

static void free_chip(Chip *c)
{
    Cache *caches[] = {&c->l1, &c->l2[0], &c->l2[1]};
    for (uint32_t i = 0; i < 3; i++) {
        free(caches[i]->lines);
        free(caches[i]->uses);
    }
    free(c->numbers.pages);
    free(c->numbers.slots);
    free(c->line);
    free(c->order);
    free(c->by_processor);
    free(c->key);
    free(c->missed);
    free(c->open);
    free(c->asked);
}

/* What the caches of a GPU would have done in this thread's last profiled launch. They count
   the sample: `sample` times as many are expected. Returns 0 if there is no memory for it. */
int sg_caches_replay(const CacheShape *shape, CacheCounts *counts)
{
    Chip chip = {.shape = shape, .counts = counts};
    int done = launch.touches && make_chip(&chip);
    if (done) {
        put_in_order(&chip);
        replay(&chip);
    }
    counts->sample = launch.skip + 1;
    free_chip(&chip);
    return done;
}
