/* The counting half of "profile" builds: what an H200's counters would say of each access.

   Compiled kernels count executions of basic blocks and conflict-free accesses to shared memory
   themselves and call this for the rest. Each worker has counters of its own, which are added up
   after the launch. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "caches.h"
#include "run/run.h"
#include "run/mbarrier.h"
#include "rules.h"
#include "waves.h"

#define SITE(w, site) (&(w)->worker->job->kernel->sites[site])

#define MAX_EVENTS (1u << 20)
#define MAX_SAMPLES (1u << 13)
#define SAMPLES_A_SITE 128

/* Which sectors of one allocation a worker has touched, and how many turns atomics took at each.
   moved: from its addresses to those that the caches' model has. */
typedef struct TouchMap {
    struct TouchMap *next;
    uint64_t begin, end, moved;
    uint64_t line, count; /* the first that it has, moved, and how many */
    uint8_t *lines;       /* of each, the sectors that were READ and WRITTEN; NULL: none yet */
    uint32_t *turns;      /* of each sector; NULL: none yet */
} TouchMap;
enum { READ = 1, WRITTEN = 1 << LINE / SECTOR, ALL = WRITTEN - READ };

/* Warps that have arrived at one barrier of a block since it last opened. */
typedef struct {
    uint32_t arrived, counter; /* counter: index of the site's counters */
    /* of the instructions that each has done since its barrier before: */
    uint32_t most, busiest; /* busiest: how many warps did the most */
    uint64_t sum;
} Gathering;

/* The last access whose lanes may be anywhere. Others often follow that touch the same sectors. */
typedef struct {
    uint64_t address[LANES];
    uint32_t mask, bytes, kind;
    uint32_t counts[COUNT_NEAR + 1];
    TouchMap *in;
    uint32_t first, count; /* its touches in the trace, */
    uint64_t skip;         /* which was as sparse as this */
} Scattered;

#define HINTS 64
#define PLACE 512u /* bytes: a GPU's driver begins allocations at multiples of these */
/* What a worker remembers while it counts. */
typedef struct Counting {
    struct Counting *next;
    uint64_t block; /* from 1; 0: none yet */
    const uint64_t *counters;
    uint32_t at_barrier[MAX_WARPS]; /* instructions a warp had done at its last barrier */
    uint32_t begun[MAX_WARPS];      /* ... when its block began */
    Gathering gathering[BARRIERS];
    Rows rows;
    Touches trace;
    Scattered last;
    TouchMap *touched;
    TouchMap *hint[HINTS]; /* by site: what it last touched */
} Counting;

static _Thread_local Profile result;
static _Thread_local uint64_t wanted_block;
static Profile *active; /* the launch that runs, with the lock held */
static uint64_t watched_block;
static TouchMap *touch_maps; /* of all workers */
static pthread_mutex_t lists_mutex = PTHREAD_MUTEX_INITIALIZER;
static Counting *all_counting; /* all of them */
static uint16_t *site_samples;

/* ---- which sectors a launch touches ---- */

/* Where the caches' model has the launch's allocations: one after the other, in the order of its
   parameters, so that equal launches have equal counts wherever their arrays are. */
static uint64_t next_place;

static TouchMap *placed(const Allocation *a)
{
    TouchMap *s = touch_maps;
    while (s && s->begin != a->begin) s = s->next;
    if (s || !(s = calloc(1, sizeof *s))) return s;
    *s = (TouchMap){.next = touch_maps, .begin = a->begin, .end = a->end};
    s->moved = next_place + a->begin % LINE - a->begin;
    s->line = (s->begin + s->moved) / LINE;
    s->count = (s->end - 1 + s->moved) / LINE - s->line + 1;
    next_place += (a->begin % LINE + a->end - a->begin) / PLACE * PLACE + PLACE;
    return touch_maps = s;
}

static void place_arguments(const Job *job)
{
    next_place = PLACE;
    for (size_t at = 0; at + 8 <= job->kernel->param_bytes; at += 8) {
        uint64_t pointer;
        memcpy(&pointer, job->params + at, 8);
        const Allocation *found = memory_find(pointer);
        if (found) placed(found);
    }
}

static TouchMap *touch_map_at(Counting *own, uint64_t address)
{
    static TouchMap nowhere;
    TouchMap *s = own->touched, *common;
    while (s && address - s->begin >= s->end - s->begin) s = s->next;
    const Allocation *found = s ? NULL : memory_find(address);
    if (!found) return s ? s : &nowhere;
    pthread_mutex_lock(&lists_mutex);
    common = placed(found);
    pthread_mutex_unlock(&lists_mutex);
    if (!common || !(s = malloc(sizeof *s))) return &nowhere;
    *s = *common;
    s->next = own->touched;
    s->lines = map_pages(s->count);
    if (!s->lines) s->count = 0;
    return own->touched = s;
}

/* What a site touches at an address; nothing, at no address, if no allocation is there. */
static inline TouchMap *touched_by(Counting *own, uint32_t site, uint64_t address)
{
    TouchMap **hint = &own->hint[site % HINTS], *s = *hint;
    if (!s || address - s->begin >= s->end - s->begin) *hint = s = touch_map_at(own, address);
    return s;
}

static inline uint32_t how_touched(uint32_t kind)
{
    return kind == SITE_LOAD || kind == IN_BULK ? READ
           : kind == SITE_STORE                 ? WRITTEN
                                                : READ | WRITTEN;
}

static inline void touch(const TouchMap *s, uint64_t line, uint32_t sectors, uint32_t how)
{
    if (line - s->line < s->count) s->lines[line - s->line] |= sectors * how;
}

/* From the first to the one before the last. */
static inline uint32_t bits(uint32_t first, uint32_t last)
{ return first < last ? (1u << last) - (1u << first) : 0; }

static inline void touch_line(Touches *trace, const TouchMap *s, Touch who, uint64_t line,
                              uint32_t sectors, uint32_t full)
{
    touch(s, line, sectors, how_touched(who.kind));
    touches_add(trace, who, line, sectors, full);
}

/* These bytes are read or written, in all sectors that they are in. */
static void touch_range(Touches *trace, const TouchMap *s, Touch who, uint64_t first,
                        uint64_t bytes)
{
    const uint64_t last = first + s->moved + bytes - 1;
    first += s->moved;
    for (uint64_t line = first / LINE; line <= last / LINE; line++) {
        uint64_t begin = line * LINE, from = first > begin ? first - begin : 0;
        uint64_t end = last - begin < LINE ? last - begin + 1 : LINE;
        touch_line(trace, s, who, line, bits(from / SECTOR, (end + SECTOR - 1) / SECTOR),
                   bits((from + SECTOR - 1) / SECTOR, end / SECTOR));
    }
}

/* Moves all addresses; says whether the mask's are all in the allocation. */
VECTORISED static bool move_all(const TouchMap *s, const uint64_t *address, uint32_t mask,
                                uint64_t *moved)
{
    const uint64_t begin = s->begin, size = s->end - begin, by = s->moved;
    uint64_t outside = 0;
    for (uint64_t lane = 0; lane < LANES; lane++) {
        outside |= (uint64_t)(address[lane] - begin >= size) & (uint64_t)mask >> lane;
        moved[lane] = address[lane] + by;
    }
    return !(outside & 1);
}

/* What the trace has beside its lines of an access by a warp that had `done` so many instructions. */
static Touch touch_of(const Counting *own, uint32_t warp, uint32_t done, uint32_t site,
                      uint32_t kind)
{
    const uint32_t at = done - own->begun[warp];
    return (Touch){.block = own->block - 1, .at = at, .site = site, .kind = kind};
}

/* Adds what is counted of bytes in a row. */
static inline void count_row(uint64_t *count, uint64_t first, uint64_t bytes)
{
    const uint64_t last = first + bytes - 1;
    count[COUNT_REQUESTS]++;
    count[COUNT_SECTORS] += last / SECTOR - first / SECTOR + 1;
    count[COUNT_IDEAL] += (bytes + SECTOR - 1) / SECTOR;
    count[COUNT_LINES] += last / LINE - first / LINE + 1;
    count[COUNT_NEAR] += (bytes + LINE - 1) / LINE;
}

/* What has been noted, before anything else of the block is traced. Most rows are one line. */
static void count_rows(Counting *own, uint64_t *counters)
{
    for (const Row *r = own->rows.of; r < own->rows.next; r++) {
        const Touch who = touch_of(own, r->warp, r->at, r->site, r->kind);
        const TouchMap *s = touched_by(own, r->site, r->first);
        if (r->first % LINE || r->bytes != LINE) {
            count_row(counters + r->counter, r->first, r->bytes);
            touch_range(&own->trace, s, who, r->first, r->bytes);
        } else {
            count_row(counters + r->counter, 0, LINE);
            touch_line(&own->trace, s, who, (r->first + s->moved) / LINE, ALL, ALL);
        }
    }
    own->rows.next = own->rows.of;
    own->rows.end = own->rows.of + sizeof own->rows.of / sizeof *own->rows.of;
}

void sg_profile_noted(Warp *w) { count_rows(w->worker->counting, w->counters); }

/* How atomics are spread: over one line where they are all there, over n where n have as many. */
static void add_up_turns(const TouchMap *s, Touched *t)
{
    double squares = 0;
    for (const uint32_t *line = s->turns; line < s->turns + s->count * (LINE / SECTOR);) {
        uint64_t of_line = 0;
        for (const uint32_t *end = line + LINE / SECTOR; line < end; line++) {
            of_line += *line;
            if (*line > t->hottest) t->hottest = *line;
        }
        t->turns += of_line;
        squares += (double)of_line * of_line;
    }
    if (squares) t->spread = (double)t->turns * t->turns / squares;
}

static void count_touched(const TouchMap *s, Touched *t)
{
    const uint64_t *lines = (const uint64_t *)s->lines, all = UINT64_MAX / 0xff * ALL; /* 8 each */
    for (uint64_t i = 0; i < (s->count + 7) / 8; i++) {
        const uint64_t read = lines[i] / READ & all, written = lines[i] / WRITTEN & all;
        t->read += __builtin_popcountll(read);
        t->written += __builtin_popcountll(written);
        t->touched += __builtin_popcountll(read | written);
    }
}

static void unmap(TouchMap *s)
{
    if (s->lines) munmap(s->lines, s->count);
    if (s->turns) munmap(s->turns, s->count * (LINE / SECTOR) * sizeof *s->turns);
    free(s);
}

/* What a worker has touched goes to all workers' maps. */
static void gather_touched(Counting *own)
{
    for (TouchMap *s = own->touched, *next; s; s = next) {
        TouchMap *all = touch_maps;
        while (all->begin != s->begin) all = all->next;
        next = s->next;
        for (uint64_t i = 0; all->lines && s->lines && i < s->count; i++)
            if (s->lines[i]) all->lines[i] |= s->lines[i]; /* no page without need */
        for (uint64_t i = 0; all->turns && s->turns && i < s->count * (LINE / SECTOR); i++)
            if (s->turns[i]) all->turns[i] += s->turns[i];
        if (!all->lines) all->lines = s->lines, s->lines = NULL;
        if (!all->turns) all->turns = s->turns, s->turns = NULL;
        unmap(s);
    }
    own->touched = NULL;
}

static void add_up(Profile *p)
{
    size_t count = 0;
    for (TouchMap *s = touch_maps; s; s = s->next) count++;
    p->touched = calloc(count + 1, sizeof *p->touched);
    while (touch_maps) {
        TouchMap *s = touch_maps;
        Touched t = {.begin = s->begin, .end = s->end};
        if (s->lines) count_touched(s, &t);
        if (s->turns) add_up_turns(s, &t);
        if (p->touched && t.touched) p->touched[p->touched_count++] = t;
        touch_maps = s->next;
        unmap(s);
    }
}

/* ---- a trace of one block, for pictures ---- */

static void __attribute__((noinline)) record(uint32_t warp, uint32_t what, uint32_t mask,
                                             uint32_t at)
{
    if (active->event_count == MAX_EVENTS) {
        active->incomplete = 1;
        return;
    }
    if (!(active->event_count & (active->event_count - 1))) {
        size_t room = active->event_count ? 2 * active->event_count : 1;
        Step *more = realloc(active->events, room * sizeof *more);
        if (!more) return;
        active->events = more;
    }
    active->events[active->event_count++] = (Step){warp, what, mask, at};
}

static Sample *sample(Warp *w, uint32_t site, uint32_t mask, uint32_t bytes)
{
    if (!active->samples) active->samples = malloc(MAX_SAMPLES * sizeof *active->samples);
    if (!active->samples || active->sample_count == MAX_SAMPLES ||
        site_samples[site] == SAMPLES_A_SITE) {
        active->incomplete = 1;
        return NULL;
    }
    site_samples[site]++;
    Sample *s = &active->samples[active->sample_count++];
    *s = (Sample){site, w->warp_id, mask, bytes, {0}};
    return s;
}

static void sample_lanes(Warp *w, uint32_t site, const uint64_t *address, uint32_t mask,
                         int32_t delta, uint32_t bytes)
{
    Sample *s = sample(w, site, mask, bytes);
    if (!s) return;
    uint64_t shared = (uint64_t)w->shared;
    FOR_LANES(lane, mask)
    {
        uint64_t offset = address[lane] + delta - shared;
        s->lanes[lane] = offset < w->shared_bytes ? offset : address[lane] + delta;
    }
}

static void sample_row(Warp *w, uint32_t site, uint64_t first, uint32_t step, uint32_t mask)
{
    Sample *s = sample(w, site, mask, SITE(w, site)->bytes);
    FOR_LANES(lane, s ? mask : 0) s->lanes[lane] = first + (uint64_t)lane * step;
}

void sg_profile_step(Warp *w, uint32_t block, uint32_t mask, uint32_t at)
{ record(w->warp_id, block, mask, at); }

void sg_profile_shuffle(Warp *w, uint32_t site, uint32_t mode, const uint32_t *b, const uint32_t *c,
                        uint32_t mask)
{
    Sample *s = sample(w, site, mask, 4);
    if (!s) return;
    uint32_t lanes[LANES], source[LANES], inside;
    for (uint32_t i = 0; i < LANES; i++) lanes[i] = source[i] = i;
    sg_shuffle(mode, lanes, b, c, mask, source, &inside);
    for (uint32_t i = 0; i < LANES; i++) s->lanes[i] = source[i];
}

/* ---- global and local memory ---- */

static inline void add_counts(uint64_t *count, const uint32_t *more)
{
    for (uint32_t i = 0; i <= COUNT_NEAR; i++) count[i] += more[i];
}

/* Whether an access touches the sectors that the last one did, each lane as far on as the others:
   then it counts as much. */
VECTORISED static bool is_alike(const Scattered *last, const uint64_t *address, uint32_t mask)
{
    const uint64_t first = __builtin_ctz(mask), on = address[first] - last->address[first];
    uint64_t differ = on & 3; /* words may begin elsewhere */
    for (uint64_t i = 0; i < LANES; i++) {
        const uint64_t before = last->address[i], active = -((uint64_t)mask >> i & 1);
        differ |= ((address[i] - before - on) | (address[i] ^ before) / SECTOR) & active;
    }
    return !differ;
}

static bool count_alike(Counting *own, uint64_t *count, const uint64_t *address, uint32_t mask,
                        uint32_t bytes, const Touch *who)
{
    const Scattered *last = &own->last;
    if (mask != last->mask || bytes != last->bytes || who->kind != last->kind) return false;
    if (own->trace.skip != last->skip || !is_alike(last, address, mask)) return false;
    if (!touches_again(&own->trace, last->first, last->count, who)) return false;
    own->hint[who->site % HINTS] = last->in;
    add_counts(count, last->counts);
    return true;
}

static void count_global(Warp *w, uint64_t *count, uint32_t site, const uint64_t *address,
                         uint32_t mask, uint32_t bytes, uint32_t kind)
{
    _Alignas(64) uint64_t moved[LANES];
    Counting *own = w->worker->counting;
    const Touch who = touch_of(own, w->warp_id, w->counters[w->warp_id], site, kind);
    count_rows(own, w->counters);
    if (count_alike(own, count, address, mask, bytes, &who)) return;
    const TouchMap *common = own->hint[site % HINTS]; /* what it last touched */
    if (common && !move_all(common, address, mask, moved)) common = NULL;
    const uint32_t how = how_touched(kind);
    FOR_LANES(lane, common ? 0 : mask)
    {
        const TouchMap *in = touched_by(own, site, address[lane]);
        moved[lane] = address[lane] + in->moved;
        touch(in, moved[lane] / LINE, 1u << moved[lane] / SECTOR % (LINE / SECTOR), how);
    }
    Sectors s = rules_sectors(moved, mask, bytes);
    for (uint32_t i = 0; common && i < s.count; i++)
        touch(common, s.id[i] * SECTOR / LINE, 1u << s.id[i] % (LINE / SECTOR), how);
    Scattered *last = &own->last;
    last->first = own->trace.count;
    last->skip = own->trace.skip;
    touches_sectors(&own->trace, &who, &s);
    last->count = own->trace.count - last->first;
    last->mask = own->trace.skip == last->skip ? mask : 0;
    last->bytes = bytes;
    last->kind = kind;
    last->in = own->hint[site % HINTS];
    memcpy(last->address, address, sizeof last->address);
    last->counts[COUNT_REQUESTS] = 1;
    last->counts[COUNT_SECTORS] = s.count;
    last->counts[COUNT_LINES] = rules_lines(&s);
    last->counts[COUNT_IDEAL] = rules_ideal_sectors(&s);
    last->counts[COUNT_NEAR] = rules_near(moved, mask, bytes, &s);
    add_counts(count, last->counts);
}

static void count_local(Warp *w, uint64_t *count, const uint64_t *address, uint32_t mask,
                        uint32_t bytes)
{
    uint64_t offset[LANES];
    FOR_LANES(lane, mask)
    offset[lane] = address[lane] - (uint64_t)w->local - lane * w->local_stride;
    count[COUNT_LOCAL] += (bytes + 3) / 4;
    count[COUNT_LOCAL_SECTORS] += rules_local_sectors(offset, mask, bytes);
}

/* ---- shared memory ---- */

/* Of addresses plus `delta`, in the block's shared memory. */
VECTORISED static void offsets_of(const Warp *w, const uint64_t *address, int32_t delta,
                                  uint32_t *offset)
{
    const uint64_t begin = (uint64_t)w->shared - delta;
    for (uint32_t i = 0; i < LANES; i++) offset[i] = address[i] - begin;
}

static void count_shared(const Warp *w, uint64_t *count, const uint64_t *address, int32_t delta,
                         uint32_t mask, uint32_t bytes, bool load)
{
    _Alignas(64) uint32_t offset[LANES];
    offsets_of(w, address, delta, offset);
    Wavefronts found = rules_wavefronts(offset, mask, bytes, load);
    count[COUNT_SHARED]++;
    count[COUNT_WAVEFRONTS] += found.taken;
    count[COUNT_CONFLICTS] += found.taken - found.least;
}

/* ---- loads and stores ---- */

static uint64_t place_of(const uint64_t *address, uint32_t mask, uint64_t begin, uint64_t size)
{
    uint32_t inside = 0;
    FOR_LANES(lane, mask) inside |= (uint32_t)(address[lane] - begin < size) << lane;
    return inside;
}

/* The lanes whose generic addresses are in the shared memory of other blocks, which no counter is of. */
static uint32_t in_other_blocks(const Warp *w, const uint64_t *address, uint32_t mask)
{
    const uint64_t blocks = w->worker->cluster->blocks, all = blocks * CLUSTER_STEP;
    if (blocks == 1) return 0;
    return place_of(address, mask, (uint64_t)w->cluster_shared, all) &
           ~place_of(address, mask, (uint64_t)w->shared, SM_SHARED);
}

static void count_lanes(Warp *w, uint64_t *count, uint32_t site, const uint64_t *address,
                        uint32_t mask, bool joins)
{
    const struct Site *s = SITE(w, site);
    uint32_t shared = 0, local = 0, elsewhere = 0;
    if (s->space == SPACE_SHARED) shared = mask;
    if (s->space == SPACE_LOCAL) local = mask;
    if (s->space == SPACE_GENERIC) {
        shared = place_of(address, mask, (uint64_t)w->shared, SM_SHARED);
        local = place_of(address, mask, (uint64_t)w->local, w->local_stride * LANES);
        elsewhere = in_other_blocks(w, address, mask);
    }
    if (shared) count_shared(w, count, address, 0, shared, s->bytes, joins);
    if (local) count_local(w, count, address, local, s->bytes);
    mask &= ~(shared | local | elsewhere);
    if (mask && (s->space == SPACE_GLOBAL || s->space == SPACE_GENERIC))
        count_global(w, count, site, address, mask, s->bytes, s->kind);
}

void sg_profile_lanes(Warp *w, uint64_t *count, uint32_t site, const uint64_t *address,
                      uint32_t mask)
{
    if (!mask) return;
    count_lanes(w, count, site, address, mask, SITE(w, site)->kind == SITE_LOAD);
    if (w->watched) sample_lanes(w, site, address, mask, 0, SITE(w, site)->bytes);
}

/* Unlike loads of 16 bytes, matrices never share a wavefront. */
void sg_profile_rows(Warp *w, uint64_t *count, uint32_t site, const uint64_t *address,
                     uint32_t rows)
{
    if (!rows) return;
    count_lanes(w, count, site, address, rows, false);
    if (w->watched) sample_lanes(w, site, address, rows, 0, SITE(w, site)->bytes);
}

/* Active lane l accesses first + l * step. */
void sg_profile_row(Warp *w, uint64_t *count, uint32_t site, uint64_t first, uint32_t step,
                    uint32_t mask)
{
    if (!mask) return;
    const struct Site *s = SITE(w, site);
    uint32_t low = __builtin_ctz(mask), high = 31 - __builtin_clz(mask);
    uint32_t run = mask >> low;
    bool one_turn = step ? !(run & (run + 1)) : s->bytes <= 8; /* else that of each lane counts */
    if (s->space == SPACE_GLOBAL && one_turn) {
        uint64_t begin = first + (uint64_t)low * step, last = first + (uint64_t)high * step;
        last += s->bytes - 1;
        Rows *rows = w->rows;
        *rows->next++ = (Row){.first = begin,
                              .at = w->counters[w->warp_id],
                              .site = site,
                              .counter = count - w->counters,
                              .warp = w->warp_id,
                              .kind = s->kind,
                              .bytes = last - begin + 1};
        if (rows->next == rows->end) sg_profile_noted(w);
        if (w->watched) sample_row(w, site, first, step, mask);
        return;
    }
    uint64_t address[LANES];
    for (uint32_t lane = 0; lane < LANES; lane++) address[lane] = first + (uint64_t)lane * step;
    sg_profile_lanes(w, count, site, address, mask);
}

/* An access to shared memory that ptxas makes wider: `bytes` from `delta` past each address. */
void sg_profile_wide(Warp *w, uint64_t *count, uint32_t site, const uint64_t *address,
                     uint32_t mask, int32_t delta, uint32_t bytes)
{
    if (!mask) return;
    count_shared(w, count, address, delta, mask, bytes, SITE(w, site)->kind == SITE_LOAD);
    if (w->watched) sample_lanes(w, site, address, mask, delta, bytes);
}

void sg_profile_wide_row(Warp *w, uint64_t *count, uint32_t site, uint64_t first, uint32_t step,
                         uint32_t mask, int32_t delta, uint32_t bytes)
{
    uint64_t address[LANES];
    for (uint32_t lane = 0; lane < LANES; lane++) address[lane] = first + (uint64_t)lane * step;
    sg_profile_wide(w, count, site, address, mask, delta, bytes);
}

/* cp.async: a load from global memory. to: NULL where it does not pass by the L1 cache. */
void sg_profile_copy(Warp *w, uint64_t *count, uint32_t site, const uint64_t *from,
                     const uint64_t *to, uint32_t mask)
{
    if (!mask) return;
    uint64_t sectors = count[COUNT_SECTORS];
    count_lanes(w, count, site, from, mask, true);
    if (w->watched) sample_lanes(w, site, from, mask, 0, SITE(w, site)->bytes);
    if (!to) return;
    _Alignas(64) uint32_t offset[LANES];
    offsets_of(w, to, 0, offset);
    count[COUNT_SECTORS] = sectors + rules_copy_sectors(from, offset, mask);
}

/* ---- bulk copies ---- */

/* Bytes of global memory, one after the other, that a bulk copy moves. */
static _Thread_local struct {
    uint64_t first, end;
    uint32_t site, kind;
} stretch;

static void end_stretch(Warp *w)
{
    if (stretch.first == stretch.end) return;
    Counting *own = w->worker->counting;
    count_rows(own, w->counters);
    uint32_t kind = stretch.kind == SITE_LOAD ? IN_BULK : stretch.kind;
    Touch who = touch_of(own, w->warp_id, w->counters[w->warp_id], stretch.site, kind);
    touch_range(&own->trace, touched_by(own, stretch.site, stretch.first), who, stretch.first,
                stretch.end - stretch.first);
    stretch.first = stretch.end = 0;
}

static void moves(Warp *w, uint32_t site, const uint64_t *address, uint32_t mask)
{
    const struct Site *s = SITE(w, site);
    if (s->space != SPACE_GLOBAL) return;
    FOR_LANES(lane, mask)
    {
        if (address[lane] != stretch.end || site != stretch.site) {
            end_stretch(w);
            stretch.first = address[lane];
            stretch.site = site;
            stretch.kind = s->kind;
        }
        stretch.end = address[lane] + s->bytes;
    }
}

static void load_counted(Warp *w, uint32_t site, const uint64_t *address, uint32_t mask, void *data)
{
    moves(w, site, address, mask);
    sg_load(w, site, address, mask, data);
}

static void store_counted(Warp *w, uint32_t site, const uint64_t *address, uint32_t mask,
                          const void *data)
{
    moves(w, site, address, mask);
    sg_store(w, site, address, mask, data);
}

static bool reduce_counted(Warp *w, uint32_t site, const uint64_t *address, uint32_t mask)
{
    access_check(w, site, address, mask);
    moves(w, site, address, mask);
    return true;
}

static const Accesses counted = {load_counted, store_counted, reduce_counted};

void sg_profile_copy_bulk(Warp *w, uint32_t read, uint32_t written, uint32_t mask, uint32_t how,
                          const uint64_t *to, const uint64_t *from, const uint32_t *bytes)
{
    copy_bulk(w, read, written, mask, how, to, from, bytes, &counted);
    end_stretch(w);
}

void sg_profile_copy_boxes(Warp *w, uint32_t read, uint32_t written, uint32_t mask, uint32_t rank,
                           uint32_t how, const uint64_t *maps, const int32_t *at,
                           const int32_t *offsets, const uint64_t *shared, uint32_t *bytes)
{
    copy_boxes(w, read, written, mask, rank, how, maps, at, offsets, shared, bytes, &counted);
    end_stretch(w);
}

/* ---- atomics ---- */

static void count_loop(uint64_t *count, Wavefronts loads)
{
    count[COUNT_LOOP_LOADS] += loads.taken;
    count[COUNT_LOOP_MORE] += loads.taken - loads.least;
}

static Wavefronts shared_loop(const uint64_t *address, const uint32_t *offset, uint32_t mask,
                              uint32_t bytes, uint32_t how, const uint64_t *operand)
{
    uint64_t now[LANES];
    if (how & (AS_LOOP_MIN | AS_LOOP_MAX))
        FOR_LANES(lane, mask) memcpy(&now[lane], (void *)address[lane], 8);
    return rules_shared_loop(offset, mask, bytes, how, now, operand);
}

static Traffic half_loop(const uint64_t *address, uint32_t mask, uint32_t how,
                         const uint16_t *compare, const uint16_t *swap)
{
    uint32_t now[LANES];
    FOR_LANES(lane, mask) memcpy(&now[lane], (void *)(address[lane] & ~3ull), 4);
    return rules_half_loop(address, mask, how, now, compare, swap);
}

/* Turns of atomics in the L2, which also learn where they are. */
static uint32_t take_turns(Warp *w, uint32_t site, const uint64_t *address, uint32_t mask)
{
    TouchMap *in = w->worker->counting->hint[site % HINTS];
    uint32_t turns[LANES], total = 0;
    Sectors s = rules_atomic_turns(address, mask, turns);
    for (uint32_t i = 0; i < s.count; i++) {
        total += turns[i];
        if (!in || !in->count) continue;
        if (!in->turns) in->turns = map_pages(in->count * (LINE / SECTOR) * sizeof *in->turns);
        const uint64_t at = (s.id[i] * SECTOR + in->moved) / SECTOR - in->line * (LINE / SECTOR);
        if (in->turns && at / (LINE / SECTOR) < in->count) in->turns[at] += turns[i];
    }
    return total;
}

static void count_atomic(Warp *w, uint64_t *count, uint32_t site, const uint64_t *address,
                         uint32_t mask, uint32_t how, const void *a, const void *b)
{
    const struct Site *s = SITE(w, site);
    uint32_t shared = 0, lanes = mask;
    if (how & AS_ONE_LANE || (how & AS_ONE_LANE_IF_FULL && mask == UINT32_MAX))
        lanes = 1u << __builtin_ctz(mask);
    if (s->space == SPACE_SHARED) shared = lanes;
    if (s->space == SPACE_GENERIC) {
        shared = place_of(address, lanes, (uint64_t)w->shared, SM_SHARED);
        const uint32_t elsewhere = in_other_blocks(w, address, mask);
        lanes &= ~elsewhere;
        mask &= ~elsewhere;
    }
    if (shared) {
        uint32_t offset[LANES];
        uint32_t bytes = s->bytes < 4 ? 4 : s->bytes;
        for (uint32_t i = 0; i < LANES; i++)
            offset[i] = (address[i] - (uint64_t)w->shared) & ~(uint64_t)(bytes - 1);
        count[COUNT_SHARED]++;
        count[COUNT_ATOMS] += rules_atomic_wavefronts(offset, shared);
        if (how & AS_LOOP) count_loop(count, shared_loop(address, offset, shared, bytes, how, a));
        else if (how & AS_LOOP_HALF) count_loop(count, rules_wavefronts(offset, shared, 4, true));
        lanes &= ~shared;
        mask &= ~shared;
    }
    if (!lanes || (s->space != SPACE_GLOBAL && s->space != SPACE_GENERIC)) return;
    uint64_t before[2] = {count[COUNT_REQUESTS], count[COUNT_SECTORS]};
    count_global(w, count, site, address, mask, s->bytes, s->kind);
    count[COUNT_SECTORS] = before[1];
    if (how & AS_LOOP_HALF) {
        Traffic swaps = half_loop(address, lanes, how, a, b);
        count[COUNT_LOOP_LOADS]++;
        count[COUNT_LOOP_MORE] += rules_sectors(address, lanes, s->bytes).count;
        count[COUNT_REQUESTS] = before[0] + swaps.requests;
        count[COUNT_SECTORS] += swaps.sectors;
    } else {
        count[COUNT_SECTORS] += take_turns(w, site, address, lanes);
    }
}

void sg_profile_atomic(Warp *w, uint64_t *count, uint32_t site, const uint64_t *address,
                       uint32_t mask, uint32_t how, const void *a, const void *b)
{
    if (!mask) return;
    count_atomic(w, count, site, address, mask, how, a, b);
    if (w->watched) sample_lanes(w, site, address, mask, 0, SITE(w, site)->bytes);
}

/* ---- barriers: who waits for whom ---- */

/* All warps that will have arrived: those that did less since their last barrier have waited. */
static void open_barrier(Gathering *g, uint64_t *counters)
{
    uint32_t warps = __builtin_popcount(g->arrived);
    counters[g->counter + COUNT_WAITS] += warps - g->busiest;
    counters[g->counter + COUNT_IDLE] += (uint64_t)warps * g->most - g->sum;
    *g = (Gathering){0};
}

static void gather(Gathering *g, uint32_t done)
{
    if (done > g->most) g->most = done, g->busiest = 0;
    g->busiest += done == g->most;
    g->sum += done;
}

static void open_barriers(Counting *own, uint64_t *counters)
{
    for (uint32_t id = 0; id < BARRIERS; id++)
        if (own->gathering[id].arrived) open_barrier(&own->gathering[id], counters);
}

void sg_profile_barrier(Warp *w, uint32_t counter, uint32_t site, uint32_t id, uint32_t mask)
{
    Counting *own = w->worker->counting;
    Gathering *g = &own->gathering[id % BARRIERS];
    uint32_t warp = w->warp_id, done = w->counters[warp];
    if (g->arrived >> warp & 1) open_barrier(g, w->counters);
    w->counters[counter + COUNT_ARRIVALS]++;
    g->counter = counter;
    g->arrived |= 1u << warp;
    gather(g, done - own->at_barrier[warp]);
    own->at_barrier[warp] = done;
    if (w->watched && !id) record(warp, site | BARRIER_STEP, mask, done);
}

/* ---- launches ---- */

static Counting *counting_of(Worker *worker)
{
    if (worker->counting) return worker->counting;
    Counting *own = worker->counting = calloc(1, sizeof *own);
    pthread_mutex_lock(&lists_mutex);
    own->next = all_counting;
    all_counting = own;
    pthread_mutex_unlock(&lists_mutex);
    return own;
}

/* The block that a worker ran has ended. */
static void end_block(const Counting *own)
{
    uint32_t instructions = 0;
    if (!own->block) return;
    for (uint32_t warp = 0; warp < MAX_WARPS; warp++)
        instructions += own->counters[warp] - own->begun[warp];
    waves_note(own->block - 1, instructions);
}

/* A warp begins; says whether its block is watched. */
uint32_t sg_profile_enter(Warp *w)
{
    Worker *worker = w->worker;
    Counting *own = counting_of(worker);
    if (own->block != worker->block) {
        count_rows(own, w->counters);
        open_barriers(own, w->counters);
        end_block(own);
    }
    own->block = worker->block;
    own->counters = w->counters;
    own->begun[w->warp_id] = own->at_barrier[w->warp_id] = w->counters[w->warp_id];
    w->rows = &own->rows;
    return w->watched = worker->block - 1 == watched_block;
}

static void forget(Profile *p)
{
    free(p->counters);
    free(p->touched);
    free(p->events);
    free(p->samples);
    memset(p, 0, sizeof *p);
}

static CUresult begin(Job *job)
{
    uint32_t launches = result.launches;
    forget(&result);
    result.launches = launches + 1;
    result.module = job->kernel->module->handle;
    result.kernel = job->kernel->name;
    memcpy(result.grid, job->grid, sizeof result.grid);
    memcpy(result.block, job->block, sizeof result.block);
    result.static_shared = job->static_shared;
    result.dynamic_shared = job->dynamic_shared;
    result.counter_count = job->counter_count;
    result.counters = job->counters = calloc(job->counter_count, sizeof *job->counters);
    site_samples = calloc(job->kernel->site_count + 1, sizeof *site_samples);
    if (!job->counters || !site_samples) return CUDA_ERROR_OUT_OF_MEMORY;
    for (Counting *own = all_counting, *next; own; own = next) {
        next = own->next;
        free(own->trace.touches);
        memset(own, 0, sizeof *own);
        own->next = next;
    }
    watched_block = wanted_block;
    touches_forget(all_counting ? &all_counting->trace : NULL);
    waves_begin((uint64_t)job->grid[0] * job->grid[1] * job->grid[2]);
    place_arguments(job);
    active = &result;
    return CUDA_SUCCESS;
}

static void end(Job *job)
{
    for (Counting *own = all_counting; own; own = own->next) {
        count_rows(own, job->counters);
        open_barriers(own, job->counters);
        end_block(own);
        touches_keep(&own->trace);
        gather_touched(own);
    }
    add_up(&result);
    free(site_samples);
    site_samples = NULL;
    active = NULL;
}

static ProfiledCallback on_profiled;

static CUresult tell(CUresult launch_result)
{
    int told = on_profiled(&result);
    return launch_result || !told ? launch_result : fail_as_told(told);
}

static const Instrument profiler = {BUILD_PROFILE, begin, end, NULL};
static const Instrument profiler_of_all = {BUILD_PROFILE, begin, end, tell};

/* This thread's launches are profiled until sg_profile_end, which gives the last one's profile;
   it stays until the next sg_profile_begin. Events and samples are of one block of the grid. */
void sg_profile_begin(uint64_t block)
{
    forget(&result);
    wanted_block = block;
    instrument = &profiler;
}

Profile *sg_profile_end(void)
{
    instrument = NULL;
    return &result;
}

void sg_profile_all(ProfiledCallback callback)
{
    on_profiled = callback;
    instrument_of_all = callback ? &profiler_of_all : NULL;
}
