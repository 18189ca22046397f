/* Shared by the files of the sanitizer. Each file calls only files listed above it. */
#ifndef SOFTGPU_SANITIZE_H
#define SOFTGPU_SANITIZE_H

#include "contract.h"
#include "run/warpgroup.h"
#if SOFTGPU_ROOM != ROOM_WATCH
#error "private to watch/: no other room calls it"
#endif

/* ---- order.c: vector clocks and the happens-before relation ----

   Time is a counter that each synchronisation of a sanitized launch increments. Only one block
   runs at a time, so a time also identifies the block. */

/* An epoch: the last access to a few bytes, as time 32 | site 16 | warp 5 | lane 5 | flags 6
   bits. Times stay below 2^31, so marks compare like their times. 0: no access. */
typedef int64_t Mark;

enum { LANE_SHIFT = 6, WARP_SHIFT = 11, SITE_SHIFT = 16, TIME_SHIFT = 32 };
enum {
    MARK_ATOMIC = HINT_ATOMIC,
    MARK_VOLATILE = HINT_VOLATILE,
    MARK_POLLS = HINT_POLLS,
    MARK_IN_BLOCK = HINT_IN_BLOCK,
    MARK_FLAG = 16,          /* a volatile store that another thread polled */
    MARK_ASYNC = HINT_ASYNC, /* on a plain store: by the asynchronous proxy */
    MARK_READ_ONLY = HINT_READ_ONLY,
    MARK_BLIND = HINT_READ_ONLY, /* on an atomic: it stored without reading the old value */
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
    uint32_t stretch;           /* when the running block was last switched to */
    uint64_t running;           /* the running block's linear index */
    uint32_t interval;          /* when the block's last barrier of all threads completed */
    uint32_t synced[MAX_WARPS]; /* when all lanes of the warp last reconverged */
    bool lost;                  /* the counter is exhausted: order is no longer tracked */
} Order;

extern Order order;

bool order_begin_launch(const Job *job); /* true: time was reset, so older marks are void */
void order_end_launch(void);
/* The vector clocks of a seat's current block. */
typedef struct Past Past;
Past *order_new_past(void);
void order_free_past(Past *past);
void order_switch(Past *past); /* switch to the block in another seat */
void order_begin_block(uint64_t block);
bool order_same_block(Mark mark); /* whether the running block made the access */
/* Whether an access of this launch happened before the lane's current one. */
bool order_before(Mark mark, uint32_t warp, uint32_t lane);
uint64_t order_block_of(Mark mark); /* the linear index of the block that made the access */
/* Whether the lane has acquired any release of the other block. */
bool order_heard_of(uint64_t block, uint32_t warp, uint32_t lane);

void order_warp(uint32_t warp, uint32_t lanes, uint32_t live); /* synchronise lanes of a warp */
void order_arrive(uint32_t warp, uint32_t barrier, bool goes_on);
/* Complete a barrier: join the clocks of the warps that arrived into the `waiting`
   warps' clocks. all: every thread of the block has arrived. */
void order_barrier(uint32_t barrier, uint32_t waiting, bool all);
void order_fence(uint32_t warp, uint32_t lanes, bool device);
/* A proxy fence: whatever happened before it for these lanes is visible to the asynchronous
   proxy, also for threads that acquire from them later. */
void order_proxy_fence(uint32_t warp, uint32_t lanes, uint32_t live);
/* Make another warp's accesses before `until` happen before what the warp does from now on. */
void order_hear(uint32_t warp, uint32_t other, uint32_t until);
/* Whether the warp's clock for another warp differs between that warp's lanes. */
bool order_knows_lanes(uint32_t warp, uint32_t other);
/* Whether a proxy fence orders an access of the block before the warp's asynchronous ones. */
bool order_proxied(Mark mark, uint32_t warp);
/* Release to an address. `release`: the access itself releases, without a fence before it. */
void order_publish(uint32_t warp, uint32_t lane, uint64_t address, bool release);
/* Release by an arrival at an mbarrier, to threads of the block that wait for its phase: all
   that the lane did or acquired before, and what its warp's other lanes did before they last
   reconverged. */
void order_arrive_in_phase(uint32_t warp, uint32_t lane, uint64_t phase);
void order_learn(uint32_t warp, uint32_t lane, uint64_t address); /* acquire from an address */
void order_hush(uint64_t address); /* drop the releases to other blocks at an address */

/* ---- sanitize.c: types and state that all files use ---- */

/* The kinds of access that shadow memory records for each location. One write is enough: earlier
   writes happened before it, or raced with it. Of accesses that may be concurrent, two are kept
   that differ as much as possible: whatever races with any of them races with one of the two.
   Kinds that race with different accesses (a volatile store races with plain reads only) are
   kept apart. */
typedef enum {
    WRITE, /* plain or volatile */
    ATOMIC,
    ATOMIC_TOO, /* includes atomic stores */
    READ,
    READ_TOO,
    STRONG_READ, /* volatile or atomic */
    STRONG_READ_TOO,
    TOUCHES
} Touch;
enum { WRITES = READ }; /* the kinds below this one write */

/* Shadow memory: one mark per 4 bytes, or per byte where narrower accesses occur. */
typedef struct Planes {
    Mark *of[TOUCHES];
} Planes;

typedef struct Region {
    uint64_t begin, end;    /* begin is a multiple of 16 */
    Planes words, bytes;    /* bytes: allocated on demand */
    uint8_t *fine;          /* per page of 256 bytes: it has marks per byte */
    uint64_t room;          /* bytes that the planes cover */
    uint32_t last[TOUCHES]; /* time of the last access of each kind */
    uint32_t constant;      /* time of the last read-only load (ld.global.nc) */
    uint32_t prepared;      /* start time of the launch that the fields below are for */
    uint32_t since;         /* shared memory: when its block began */
    bool is_shared;         /* shared memory that only its own block can access */
    bool unchanging;        /* no store of this launch can go there: its reads collide with none */
    bool all_written, refined;
    const uint8_t *bits; /* one bit per byte: written before the launch */
    uint8_t *own_bits;
} Region;

/* One warp's access. */
typedef struct Access {
    Warp *w;
    const struct Site *site;
    uint32_t number, flags, bytes;
    bool load, store, atomic; /* an atomic may be both a load and a store */
    bool observes;            /* an atomic whose result orders it after earlier ones */
    bool row;                 /* consecutive lanes access consecutive elements */
    uint32_t from;            /* byte offset of this part within the instruction's access */
    Mark mark;                /* lane 0's mark */
} Access;

typedef struct Copies Copies;     /* see copies.c */
typedef struct Products Products; /* see products.c */
typedef struct Bulks Bulks;       /* see bulk.c */
typedef struct Begun Begun;       /* see phases.c */

/* The sanitizer's state for a seat's current block; blocks that follow in the seat reuse it. */
typedef struct Seat {
    struct Seat *next;
    uint32_t launch; /* start time of the launch that the rest belongs to */
    uint64_t block;  /* linear index of the running block + 1 */
    Past *past;
    Copies *copies;     /* NULL: the block has started none */
    Products *products; /* NULL: none */
    Bulks *bulks;       /* NULL: none */
    Begun *begun;       /* initialised mbarriers */
    uint32_t begun_count, begun_room;
    uint32_t fenced; /* bit mask of warps that have executed wgmma.fence */
    Region shared;
    uint8_t *local; /* one bit per byte of local memory: written */
    struct {
        uint32_t met[MAX_WARPS]; /* lanes that know that all blocks of the cluster have started */
        uint32_t polled[MAX_WARPS]; /* lanes that have polled a lock or a flag in this block */
        uint32_t came[BARRIERS], waits[BARRIERS]; /* warps, at barriers */
    } fresh;                                      /* zeros when a block begins */
    uint32_t met_since[MAX_WARPS], barrier_site[BARRIERS][MAX_WARPS];
} Seat;

/* The seat of a worker's block, if that has begun in this launch; or NULL. */
Seat *seat_of(const Worker *worker);

/* Ranges that a host thread has declared for its next launches. */
typedef struct {
    Range ranges[64];
    uint32_t count;
} Ranges;

/* The sanitized launch that is running; it holds the lock. */
typedef struct Watch {
    const Job *job;
    const Kernel *kernel;
    Seat *here; /* the running block's seat */
    const Ranges *unwritten, *bounds;
    uint32_t late_polls; /* polls that may still see a finished copy as unfinished */
} Watch;

extern Watch watch;

static inline const struct Site *site_of(uint32_t number)
{
    static const struct Site nowhere;
    return number < watch.kernel->site_count ? &watch.kernel->sites[number] : &nowhere;
}

/* Whether an earlier access (its mark) and the current one have the same size, or are not both
   atomics. */
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

/* Record that these lanes know that all blocks of their cluster have started. */
static inline void note_met(const Warp *w, uint32_t lanes)
{
    if (!watch.here->fresh.met[w->warp_id]) watch.here->met_since[w->warp_id] = order.now;
    watch.here->fresh.met[w->warp_id] |= lanes;
}

/* ---- meant.c: the memory that an access was intended for, by pointer provenance ---- */

const Origin *origin_of(uint32_t site);
/* Return the shared variable that the address was computed from: the access must stay inside it. */
Range meant_shared(const Access *a);
/* Return the array that a global address was computed from; if unknown, the array that contains
   it. */
Range meant_array(uint32_t site, uint64_t address);
/* Whether some store of this launch may go to an allocation. */
bool meant_to_change(const Allocation *allocation);
/* Whether the access is to memory that was freed before the launch. */
bool meant_freed(uint32_t site, uint64_t address, Range *freed);
/* Return the global memory that an access with this note was intended for, or the nearest. */
Range meant_memory(uint32_t note, uint32_t site, uint64_t address);

/* ---- report.c: recording a launch's findings ---- */

void report_begin(const Job *job);
/* Report the findings of a launch whose caller does not collect them. Return the launch's
   result. */
CUresult report_tell(CUresult result);
void report_forget(void);
/* Record a finding about a lane's access. Always return false, which callers return for the
   lane. */
bool report_place(const Access *a, uint32_t kind, uint32_t lane, uint64_t address, uint32_t note);
/* Record a race with another access. */
void report_collision(const Access *a, uint32_t kind, uint32_t lane, uint64_t address, Mark other,
                      bool other_wrote);
/* Record a race with the destination of a cp.async in flight. */
void report_copying(const Access *a, uint32_t lane, uint64_t address, Mark copy);
/* Record a race with an operand of a wgmma in flight. */
void report_multiplying(const Access *a, uint32_t lane, uint64_t address, Mark product);
/* Record a race with the source (reads) or the destination of a bulk copy in flight. */
void report_bulk(const Access *a, uint32_t lane, uint64_t address, Mark copy, bool reads);
/* A wgmma or a bulk copy reads a store without a proxy fence in between. */
void report_unproxied(const Access *a, uint32_t lane, uint64_t address, Mark store);
/* A bulk copy signals an mbarrier whose initialisation need not be visible to it. */
void report_hidden(const Access *a, uint32_t lane, uint64_t address, Mark begun);
/* Add to the exposed bytes of bulk copies, modulo 2^64. */
void report_exposed(uint64_t more);
/* A block has ended while a bulk copy may still read (reads) or write its shared memory. */
void report_copying_at_end(uint64_t block, Mark copy, bool reads);
/* No wgmma.fence since site `written` wrote the wgmma's registers; written == product: none at
   all. */
void report_unfenced(const Warp *w, uint32_t product, uint32_t written);
/* A register of a wgmma in flight is accessed. */
void report_unfinished(const Warp *w, uint32_t site, uint32_t product, uint32_t lane, bool writes);
/* A lane reads uninitialised bytes (a bit mask). */
void report_unwritten(const Access *a, uint32_t lane, uint64_t address, uint32_t bytes);
/* A lane's result depends on an undefined value: `first` computes with it, `needed` uses the
   result. */
void report_undefined(const Warp *w, uint32_t first, uint32_t needed, uint32_t lane);
/* A lane of a warp does not do what another lane relies on. */
void report_lanes(const Warp *w, uint32_t kind, uint32_t note, uint32_t site, uint32_t lane,
                  uint32_t other);
/* Barrier divergence: the lanes in `skip` do not execute a barrier that the lanes in `came` do. */
void report_skipped(const Warp *w, uint32_t site, uint32_t came, uint32_t skip);
/* Two warps wait at the same barrier, but at different source lines. */
void report_two_lines(const Warp *w, const uint32_t warps[2], const uint32_t sites[2]);
/* `count` threads had returned when the others, one of them in warp `there`, came to a barrier. */
void report_exited(const Warp *there, uint32_t site, uint32_t count);

/* ---- shadow.c: shadow memory and race detection ---- */

bool shadow_make(Region *region, uint64_t begin, uint64_t end);
void shadow_free(Region *region);
void shadow_coarsen(Region *region); /* return to one mark per 4 bytes, between launches */
/* Clear the marks between two addresses, which are multiples of 16. */
void shadow_clear(Region *region, uint64_t begin, uint64_t end);
/* Whether a load can neither collide with another access of the launch nor read what is unwritten. */
static inline bool shadow_idle(const Region *region)
{ return region->unchanging && region->all_written; }

/* Check and record lanes first .. first + lanes - 1, which access consecutive elements from
   `address`. */
void shadow_row(Access *a, Region *region, uint64_t address, uint32_t first, uint32_t lanes,
                const void *data);
/* The same of lanes that load from one address. */
void shadow_same(Access *a, Region *region, uint64_t address, uint32_t first, uint32_t lanes);
/* Check and record one lane's access; data: the values that all lanes store. */
void shadow_lane(Access *a, Region *region, uint64_t address, uint32_t lane, const void *data);

/* Return the last store that happened before the lane's access but may not be visible to the
   asynchronous proxy; 0: none. */
Mark shadow_unproxied(const Access *a, const Region *region, uint64_t address, uint32_t lane);

/* ---- copies.c: cp.async in flight ---- */

/* Completed copies of a warp's lanes. */
typedef struct {
    uint32_t site, lanes;
    uint64_t to[LANES];
} Taken;

void copies_free(Copies *copies);
/* Report an access to the destination of a copy in flight. */
void copies_collide(const Access *a, const uint64_t *addr, uint32_t mask);
/* Take some copies that a wait completes for these lanes: all but their last `groups` groups
   (UINT32_MAX: the copies of every group, and uncommitted ones). False: no more. */
bool copies_take(const Warp *w, uint32_t mask, uint32_t groups, Taken *taken);

/* ---- bulk.c: cp.async.bulk in flight ---- */

void bulks_free(Bulks *bulks);
/* A lane starts a copy that writes a range of shared memory or (depending on its site) reads it. */
void bulks_begin(const Warp *w, uint32_t site, uint32_t lane, Range range);
/* An mbarrier phase counts the bytes of the copies that a lane has started; the phase ends,
   perhaps by another block's copy; a lane sees that it has ended. */
void bulks_told(const Warp *w, uint32_t lane, uint64_t mbarrier, uint32_t phase);
void bulks_end_phase(const Cluster *cluster, uint64_t mbarrier, uint32_t phase);
void bulks_waited(const Warp *w, uint32_t lane, uint64_t mbarrier, uint32_t parity);
/* Return the polling lanes that shall not see the end of their phase yet, as if a copy were
   late: this exposes loops that go on without it. */
uint32_t bulks_late(const Warp *w, const uint64_t *mbarrier, uint32_t mask, const uint64_t *phase);
/* Report the copies that nobody had waited for when the seat's block ended. */
void bulks_end_block(const Seat *seat);
/* Report an access to the destination of a copy in flight, or a store to its source. */
void bulks_collide(const Access *a, const uint64_t *addr, uint32_t mask);

/* ---- products.c: wgmma in flight ---- */

/* The shared memory that a warp's number-th wgmma reads. */
typedef struct {
    uint32_t site, number, commits, count;
    uint16_t chunks[WGMMA_CHUNKS];
} Product;

void products_free(Products *products);
void products_begin(const Warp *w, Product *product);
/* Take a product that a wait for all but the last `groups` groups completes; false: no more. The
   warp then knows that the other warps of its warpgroup have started it, and which of them have
   waited for it. */
bool products_take(const Warp *w, uint32_t groups, Product *taken);
/* Take another warp's share of a product of the warpgroup, unless someone has waited for that
   share. */
bool products_share(const Warp *w, uint32_t other, uint32_t number, Product *taken);
/* Report an access to the operands of a product in flight. */
void products_collide(const Access *a, const uint64_t *addr, uint32_t mask);

/* ---- regions.c: the shadow memory of allocations ---- */

Region *region_of(const Allocation *allocation); /* NULL: out of memory */
/* Return the shadow of the device heap (malloc in kernels); NULL: there is none. Blocks
   allocated in earlier launches count as written. */
Region *region_of_heap(void);
void regions_forget(void); /* free all shadows, because their marks are void */
void regions_drop(void);   /* free the shadows of freed allocations; if they take too much, all */
void regions_keep_written(void); /* remember what the launch has written */

/* ---- sanitize.c: accesses, blocks, launches ---- */

/* Check an access other than a plain load, store or atomic; data: what it stores, or NULL.
   Return the lanes that may perform it. */
uint32_t sanitize_access(Warp *w, uint32_t site, const uint64_t *addr, uint32_t mask,
                         const void *data, uint32_t hints);

/* ---- record.c: runtime support for "record" builds ---- */

void record_forget(void);

#endif
