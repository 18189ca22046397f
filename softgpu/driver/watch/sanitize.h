/* What the files of the sanitizer share. They stand in the order in which they may call each other:
   a later one calls earlier ones. */
#ifndef SOFTGPU_SANITIZE_H
#define SOFTGPU_SANITIZE_H

#include "run/warpgroup.h"
#if SOFTGPU_ROOM != ROOM_WATCH
#error "private to watch/: no other room calls it"
#endif

/* ---- order.c: time, and what happens before what ----

   Time counts the synchronisations of all sanitized launches; it stands still between them. One
   block runs at a time, so that a time also tells the block. */

/* Who last touched a few bytes, and when: time 32 | site 16 | warp 5 | lane 5 | flags 6 bits.
   Times stay below 2^31: marks compare as their times do. 0: nobody. */
typedef int64_t Mark;

enum { LANE_SHIFT = 6, WARP_SHIFT = 11, SITE_SHIFT = 16, TIME_SHIFT = 32 };
enum {
    MARK_ATOMIC = HINT_ATOMIC,
    MARK_VOLATILE = HINT_VOLATILE,
    MARK_POLLS = HINT_POLLS,
    MARK_IN_BLOCK = HINT_IN_BLOCK,
    MARK_FLAG = 16,          /* a volatile store that somebody waited for */
    MARK_ASYNC = HINT_ASYNC, /* of a plain store */
    MARK_READ_ONLY = HINT_READ_ONLY,
    MARK_BLIND = HINT_READ_ONLY, /* of an atomic: it stored, and did not ask what was there */
    HINTS_OF_MARKS = MARK_ATOMIC | MARK_VOLATILE | MARK_POLLS | MARK_IN_BLOCK | MARK_READ_ONLY |
        MARK_ASYNC
};
#define LANE_BITS (31ll << LANE_SHIFT)
#define WARP_BITS (31ll << WARP_SHIFT)
#define MARK_AT(time) ((Mark)(time) << TIME_SHIFT)

static inline uint32_t mark_time(Mark m) { return (uint32_t)(m >> TIME_SHIFT); }
static inline uint32_t mark_site(Mark m) { return m >> SITE_SHIFT & 0xffff; }
static inline uint32_t mark_warp(Mark m) { return m >> WARP_SHIFT & 31; }
static inline uint32_t mark_lane(Mark m) { return m >> LANE_SHIFT & 31; }
static inline Mark mark_of(uint32_t time, uint32_t site, uint32_t warp, uint32_t lane,
                           uint32_t flags)
{
    return MARK_AT(time) | (Mark)(site < 0xffff ? site : 0xffff) << SITE_SHIFT |
           warp << WARP_SHIFT | lane << LANE_SHIFT | flags;
}

typedef struct Order {
    uint32_t now;
    uint32_t launch, block;     /* when the launch and the running block began */
    uint32_t stretch;           /* since when that block has been running, without another */
    uint64_t running;           /* which it is: its linear index */
    uint32_t interval;          /* when the block's last barrier of all threads completed */
    uint32_t synced[MAX_WARPS]; /* when all lanes of a warp last met */
    bool lost; /* more happened than time can count: what comes first is no longer known */
} Order;

extern Order order;

bool order_begin_launch(const Job *job); /* true: times begin anew, older marks mean nothing */
void order_end_launch(void);
/* What blocks know that run in one seat, one after the other. */
typedef struct Past Past;
Past *order_new_past(void);
void order_free_past(Past *past);
void order_switch(Past *past); /* the block in another seat goes on, or begins */
void order_begin_block(uint64_t block);
bool order_same_block(Mark mark); /* whether it is of the running block */
/* Whether a mark of this launch happened before what a lane of a warp does now. */
bool order_before(Mark mark, uint32_t warp, uint32_t lane);
uint64_t order_block_of(Mark mark); /* linear index */
/* Whether a lane has learnt of anything that another block did. */
bool order_heard_of(uint64_t block, uint32_t warp, uint32_t lane);

void order_warp(uint32_t warp, uint32_t lanes, uint32_t live); /* these lanes meet */
void order_arrive(uint32_t warp, uint32_t barrier, bool goes_on);
/* The warps that arrived, of which `waiting` waited; all: every thread of the block was there. */
void order_barrier(uint32_t barrier, uint32_t waiting, bool all);
void order_fence(uint32_t warp, uint32_t lanes, bool device);
/* What lanes know of now is seen by the asynchronous proxy, and by whom they tell of it. */
void order_proxy_fence(uint32_t warp, uint32_t lanes, uint32_t live);
/* A warp learns what another one of its block did before some time. */
void order_hear(uint32_t warp, uint32_t other, uint32_t until);
bool order_knows_lanes(uint32_t warp, uint32_t other); /* more of some than of others */
bool order_proxied(Mark mark, uint32_t warp); /* whether that goes for an access of the block */
/* An atomic or volatile access makes known (release: without a fence before) or learns. */
void order_publish(uint32_t warp, uint32_t lane, uint64_t address, bool release);
/* An arrival makes known to those of the block that learn of its phase what the lane did before, and
   what it knows; of its warp's other lanes, what they did before they met. */
void order_arrive_in_phase(uint32_t warp, uint32_t lane, uint64_t phase);
void order_learn(uint32_t warp, uint32_t lane, uint64_t address);
void order_hush(uint64_t address); /* nothing was made known there to other blocks */

/* ---- sanitize.c: what they all look at ---- */

/* Who touched a place. One write is enough: those before it happened before it, or collided with it.
   Of what may happen side by side two are kept, which differ as much as possible: whoever collides
   with any of them collides with one of these. What collides with some of them only, as a volatile
   store does with plain reads, has them apart. */
typedef enum {
    WRITE, /* plain or volatile */
    ATOMIC,
    ATOMIC_TOO, /* atomic stores, too */
    READ,
    READ_TOO,
    STRONG_READ, /* volatile or atomic */
    STRONG_READ_TOO,
    TOUCHES
} Touch;
enum { WRITES = READ }; /* the first so many are of those that write */

/* Shadow memory: marks for each 4 bytes, or for each byte where narrower accesses go. */
typedef struct Planes {
    Mark *of[TOUCHES];
} Planes;

typedef struct Region {
    uint64_t begin, end;    /* begin is a multiple of 16 */
    Planes words, bytes;    /* bytes: made when needed */
    uint8_t *fine;          /* a page of 256 bytes has marks for each byte */
    uint64_t room;          /* bytes that the planes are made for */
    uint32_t last[TOUCHES]; /* when that last happened */
    uint32_t constant;      /* when it was last read as what nobody writes */
    uint32_t prepared;      /* time of the launch that what follows is for */
    uint32_t since;         /* of shared memory: when its block began */
    bool is_shared;         /* and no other block reaches it */
    bool all_written, refined;
    const uint8_t *bits; /* a bit per byte: written before the launch */
    uint8_t *own_bits;
} Region;

/* One access of one warp. */
typedef struct Access {
    Warp *w;
    const struct Site *site;
    uint32_t number, flags, bytes;
    bool load, store, atomic; /* an atomic may be both */
    bool observes;            /* an atomic whose result tells it of those before it */
    bool row;                 /* consecutive lanes access consecutive places */
    uint32_t from;            /* where the part at hand begins of what the instruction accesses */
    Mark mark;                /* of lane 0 */
} Access;

typedef struct Copies Copies;     /* see copies.c */
typedef struct Products Products; /* see products.c */
typedef struct Bulks Bulks;       /* see bulk.c */
typedef struct Begun Begun;       /* see phases.c */

/* What there is for the blocks that run in one seat, one after the other. */
typedef struct Seat {
    struct Seat *next;
    uint32_t launch; /* that the rest is made for: when it began */
    uint64_t block;  /* that runs: index + 1 */
    Past *past;
    Copies *copies;     /* NULL: the block has begun none */
    Products *products; /* likewise */
    Bulks *bulks;       /* likewise */
    Begun *begun;       /* mbarriers */
    uint32_t begun_count, begun_room;
    uint32_t fenced; /* warps that have executed wgmma.fence */
    Region shared;
    uint8_t *local; /* a bit per byte of local memory: written */
    uint32_t met[MAX_WARPS],
        met_since[MAX_WARPS];   /* lanes that know that the cluster's blocks run */
    uint32_t polled[MAX_WARPS]; /* lanes that have waited for a lock or a flag in this block */
    uint32_t barrier_site[BARRIERS][MAX_WARPS], barrier_came[BARRIERS], barrier_waits[BARRIERS];
} Seat;

/* What one thread said of memory before its next launches. */
typedef struct {
    Range ranges[64];
    uint32_t count;
} Ranges;

/* The launch that runs, with the lock held. */
typedef struct Watch {
    const Job *job;
    const Kernel *kernel;
    Seat *here; /* of the running block */
    const Ranges *unwritten, *bounds;
    uint32_t late_polls; /* that may yet find a copy on its way which has come */
} Watch;

extern Watch watch;

static inline const struct Site *site_of(uint32_t number)
{
    static const struct Site nowhere;
    return number < watch.kernel->site_count ? &watch.kernel->sites[number] : &nowhere;
}

/* Whether two accesses, told by a mark and as they happen, are of one size if both are atomics. */
static inline bool same_size(Mark before, const Access *a)
{
    const struct Site *other = site_of(mark_site(before));
    bool other_updates = other->kind == SITE_ATOMIC || other->kind == SITE_RED;
    return !a->atomic || !other_updates || other->bytes == a->bytes;
}

static inline bool in_shared(const Warp *w, const struct Site *site, uint64_t address)
{ return site->space == SPACE_SHARED || address - (uint64_t)w->shared < SM_SHARED; }

static inline bool in_local(const Warp *w, const struct Site *site, uint64_t address)
{
    return site->space == SPACE_LOCAL ||
           address - (uint64_t)w->worker->local < w->worker->local_room;
}

/* These lanes know from now on that all blocks of their cluster have begun. */
static inline void note_met(const Warp *w, uint32_t lanes)
{
    if (!watch.here->met[w->warp_id]) watch.here->met_since[w->warp_id] = order.now;
    watch.here->met[w->warp_id] |= lanes;
}

/* ---- meant.c: which memory an access was meant for ---- */

const Origin *origin_of(uint32_t site);
/* Where an access to shared memory may go: to the variable that its address was computed from. */
Range meant_shared(const Access *a);
/* The array that an address in global memory was computed from, else the one that it is in. */
Range meant_array(uint32_t site, uint64_t address);
/* Whether an access is of memory that was freed before the launch. */
bool meant_freed(uint32_t site, uint64_t address, Range *freed);
/* The global memory that an access with a finding's note was meant for, or the nearest. */
Range meant_memory(uint32_t note, uint32_t site, uint64_t address);

/* ---- report.c: what a launch did wrong ---- */

void report_begin(const Job *job);
/* After a launch that nobody asks for findings of: tells them. Returns what the launch returns. */
CUresult report_tell(CUresult result);
void report_forget(void);
/* What a lane's access did at a place; false, so that its caller can say so of the lane. */
bool report_place(const Access *a, uint32_t kind, uint32_t lane, uint64_t address, uint32_t note);
/* The same, of an access that collides with another one. */
void report_collision(const Access *a, uint32_t kind, uint32_t lane, uint64_t address, Mark other,
                      bool other_wrote);
/* The same, of what an asynchronous copy writes. */
void report_copying(const Access *a, uint32_t lane, uint64_t address, Mark copy);
/* The same, of what a product under way reads. */
void report_multiplying(const Access *a, uint32_t lane, uint64_t address, Mark product);
/* The same, of what a bulk copy reads or else writes. */
void report_bulk(const Access *a, uint32_t lane, uint64_t address, Mark copy, bool reads);
/* A product or a bulk copy reads what was stored, without a fence of proxies between. */
void report_unproxied(const Access *a, uint32_t lane, uint64_t address, Mark store);
/* A bulk copy tells an mbarrier that it need not know to be begun. */
void report_hidden(const Access *a, uint32_t lane, uint64_t address, Mark begun);
/* So many more bytes of bulk copies, modulo 2^64, are exposed. */
void report_exposed(uint64_t more);
/* A block has ended while a bulk copy may read its shared memory, or else write there. */
void report_copying_at_end(uint64_t block, Mark copy, bool reads);
/* No wgmma.fence since a place at which registers of a product were written; product: at all. */
void report_unfenced(const Warp *w, uint32_t product, uint32_t written);
/* A register of a product under way is touched. */
void report_unfinished(const Warp *w, uint32_t site, uint32_t product, uint32_t lane, bool writes);
/* A lane reads bytes, as bits, that nothing has written. */
void report_unwritten(const Access *a, uint32_t lane, uint64_t address, uint32_t bytes);
/* A lane computes with a value that nothing has made, and needs what comes of it. */
void report_undefined(const Warp *w, uint32_t first, uint32_t needed, uint32_t lane);
/* Two lanes of a warp, of which one does not do what the other counts on. */
void report_lanes(const Warp *w, uint32_t kind, uint32_t note, uint32_t site, uint32_t lane,
                  uint32_t other);
/* Lanes that pass by a barrier at which lanes of `came` are. */
void report_skipped(const Warp *w, uint32_t site, uint32_t came, uint32_t skip);
/* Two warps that are at a barrier, but not at one line. */
void report_two_lines(const Warp *w, const uint32_t warps[2], const uint32_t sites[2]);
/* Threads that had returned when the others, one of them in `there`, came to a barrier. */
void report_exited(const Warp *there, uint32_t site, uint32_t count);

/* ---- shadow.c: who touched each piece of memory, and whether that collides ---- */

bool shadow_make(Region *region, uint64_t begin, uint64_t end);
void shadow_free(Region *region);
void shadow_coarsen(Region *region); /* between launches */
/* Nobody has touched what lies between two addresses, multiples of 16. */
void shadow_clear(Region *region, uint64_t begin, uint64_t end);
/* Lanes first .. first + lanes - 1 access consecutive places from an address on. */
void shadow_row(Access *a, Region *region, uint64_t address, uint32_t first, uint32_t lanes,
                const void *data);
/* One lane's access; data: what all lanes store. */
void shadow_lane(Access *a, Region *region, uint64_t address, uint32_t lane, const void *data);

/* The last store to some bytes that came before a lane's access, but that the asynchronous proxy need
   not see yet; 0: there is none. */
Mark shadow_unproxied(const Access *a, const Region *region, uint64_t address, uint32_t lane);

/* ---- copies.c: what cp.async has under way ---- */

/* Copies of lanes of a warp that have come to their end. */
typedef struct {
    uint32_t site, lanes;
    uint64_t to[LANES];
} Taken;

void copies_free(Copies *copies);
/* An access of what a copy writes. */
void copies_collide(const Access *a, const uint64_t *addr, uint32_t mask);
/* Some that these lanes need not wait for any longer, if of their groups the last `groups` may be
   under way yet (UINT32_MAX: none at all); false: there are no more. */
bool copies_take(const Warp *w, uint32_t mask, uint32_t groups, Taken *taken);

/* ---- bulk.c: what cp.async.bulk has under way ---- */

void bulks_free(Bulks *bulks);
/* A lane begins one that writes or, by its site, reads so much of shared memory. */
void bulks_begin(const Warp *w, uint32_t site, uint32_t lane, Range range);
/* Of what a lane has begun, this phase counts the bytes; it has ended; a lane knows that. A copy of
   another block may end it. */
void bulks_told(const Warp *w, uint32_t lane, uint64_t mbarrier, uint32_t phase);
void bulks_end_phase(const Cluster *cluster, uint64_t mbarrier, uint32_t phase);
void bulks_waited(const Warp *w, uint32_t lane, uint64_t mbarrier, uint32_t parity);
/* The lanes that do not see an end of their phase yet, as a copy is late: of those whose wait has
   another way out, which they must not take. */
uint32_t bulks_late(const Warp *w, const uint64_t *mbarrier, uint32_t mask, const uint64_t *phase);
/* Tells of those that nobody had waited for when the block of a seat ended. */
void bulks_end_block(const Seat *seat);
/* An access of what one writes, or a store to what one reads. */
void bulks_collide(const Access *a, const uint64_t *addr, uint32_t mask);

/* ---- products.c: what wgmma has under way ---- */

/* What one warp reads of shared memory for one instruction, its number-th. */
typedef struct {
    uint32_t site, number, commits, count;
    uint16_t chunks[WGMMA_CHUNKS];
} Product;

void products_free(Products *products);
void products_begin(const Warp *w, Product *product);
/* One that this warp need not wait for any longer; false: there are no more. It knows then that the
   others of its warpgroup have begun it, and who has waited for it. */
bool products_take(const Warp *w, uint32_t groups, Product *taken);
/* The share that another warp of its warpgroup has in a product, if nobody has waited for that. */
bool products_share(const Warp *w, uint32_t other, uint32_t number, Product *taken);
/* An access to what a product that is under way reads. */
void products_collide(const Access *a, const uint64_t *addr, uint32_t mask);

/* ---- regions.c: the shadows of allocations ---- */

Region *region_of(const Allocation *allocation); /* NULL: no memory for it */
/* The shadow of all memory for malloc in kernels; NULL: there is none. What malloc gave out in
   earlier launches counts as written. */
Region *region_of_heap(void);
void regions_forget(void); /* all of them: what they know means nothing any more */
void regions_drop(void);   /* of allocations that are gone; of all, where they take too much */
void regions_keep_written(void); /* what the launch wrote stays written */

/* ---- sanitize.c: accesses, blocks, launches ---- */

/* Looks at an access of another kind than loads, stores and atomics; data: what it stores, or NULL.
   Returns the lanes that may do it. */
uint32_t sanitize_access(Warp *w, uint32_t site, const uint64_t *addr, uint32_t mask,
                         const void *data, uint32_t hints);

/* ---- record.c: the other half of "record" builds ---- */

void record_forget(void);

#endif
