/* The sanitizer (sanitize.c): what kernels of its build call instead of what others call; `hints` is
   what the compiler knows of the instruction, see the enums here. The recorder (record.c): what they
   call beside it. And what Python asks of both. */
#ifndef SOFTGPU_WATCH_CONTRACT_H
#define SOFTGPU_WATCH_CONTRACT_H

#include "runtime.h"

#pragma GCC visibility push(default)

/* Of an access. */
enum AccessHint {
    HINT_ATOMIC = 1,
    HINT_VOLATILE = 2,
    HINT_POLLS = 4,      /* an atomic that waits for others' volatile stores, or may meet them */
    HINT_IN_BLOCK = 8,   /* an atomic that is one for its block only */
    HINT_ASYNC = 16,     /* a plain store through the asynchronous proxy, by a bulk copy */
    HINT_READ_ONLY = 32, /* a load through the cache for what nobody writes (ld.global.nc) */
    HINT_RELEASE = 64,
    HINT_COPY = 128 /* a bulk copy tells an mbarrier of its bytes */
};
enum FenceHint { HINT_DEVICE = 1 };
enum BarrierHint { HINT_ALIGNED = 1 }; /* whole warps only */

void sg_sanitize_start(Warp *);
void sg_sanitize_load(Warp *, uint32_t site, const uint64_t *addr, uint32_t mask, void *data,
                      uint32_t hints);
void sg_sanitize_store(Warp *, uint32_t site, const uint64_t *addr, uint32_t mask, const void *data,
                       uint32_t hints);
void sg_sanitize_atomic(Warp *, uint32_t site, uint32_t op, uint32_t type, const uint64_t *addr,
                        uint32_t mask, const void *a, const void *b, void *out, uint32_t hints);
uint32_t sg_sanitize_barrier(Warp *, uint32_t site, uint32_t id, uint32_t threads, uint32_t mask,
                             uint32_t reduce, uint32_t predicate, uint32_t hints);
void sg_sanitize_barrier_arrive(Warp *, uint32_t site, uint32_t id, uint32_t threads, uint32_t mask,
                                uint32_t hints);
void sg_sanitize_mbarrier_init(Warp *, uint32_t site, const uint64_t *addr, uint32_t mask,
                               const uint32_t *arrivals, uint32_t hints);
void sg_sanitize_mbarrier_inval(Warp *, uint32_t site, const uint64_t *addr, uint32_t mask,
                                uint32_t hints);
void sg_sanitize_mbarrier_update(Warp *, uint32_t site, const uint64_t *addr, uint32_t mask,
                                 const uint32_t *arrivals, const uint32_t *bytes, uint32_t how,
                                 uint64_t *state, uint32_t hints);
uint32_t sg_sanitize_mbarrier_wait(Warp *, uint32_t site, const uint64_t *addr, uint32_t mask,
                                   const uint64_t *phase, uint32_t how, uint32_t hints);
void sg_sanitize_cluster_arrive(Warp *, uint32_t site, uint32_t mask, uint32_t hints);
void sg_sanitize_cluster_wait(Warp *, uint32_t site, uint32_t mask, uint32_t hints);
void sg_sanitize_copy_boxes(Warp *, uint32_t read, uint32_t written, uint32_t mask, uint32_t rank,
                            uint32_t how, const uint64_t *maps, const int32_t *at,
                            const int32_t *offsets, const uint64_t *shared, uint32_t *bytes,
                            uint32_t hints);
void sg_sanitize_copy_bulk(Warp *, uint32_t read, uint32_t written, uint32_t mask, uint32_t how,
                           const uint64_t *to, const uint64_t *from, const uint32_t *bytes,
                           uint32_t hints);
/* cp.async: lanes begin to copy to these places of shared memory; put all since then into a group;
   wait until of the groups at most so many are under way, UINT32_MAX: nothing is. */
void sg_sanitize_copy(Warp *, uint32_t site, const uint64_t *addr, uint32_t mask);
void sg_sanitize_copy_commit(Warp *, uint32_t mask);
void sg_sanitize_copy_wait(Warp *, uint32_t mask, uint32_t groups);
/* cp.async.bulk with a bulk_group: these lanes' copies since then are a group; they wait. */
void sg_sanitize_bulk_commit(Warp *, uint32_t mask);
void sg_sanitize_bulk_wait(Warp *, uint32_t mask, uint32_t groups);
/* wgmma: what is touched by a warp whose product at another site may be under way yet. */
void sg_sanitize_wgmma(Warp *, uint32_t site, uint32_t type, uint32_t n, uint32_t how,
                       const uint32_t *a, const uint64_t *where_a, const uint64_t *where_b,
                       uint32_t adds, uint32_t *d, uint32_t hints);
void sg_sanitize_products_commit(Warp *);
void sg_sanitize_products_wait(Warp *, uint32_t groups);
void sg_sanitize_products_fence(Warp *);
/* A product whose registers may have been written at another place since the last wgmma.fence. */
void sg_sanitize_product_unfenced(Warp *, uint32_t product, uint32_t written, uint32_t mask);
void sg_sanitize_product_touch(Warp *, uint32_t site, uint32_t product, uint32_t writes,
                               uint32_t mask);
/* Lanes that need a value which nothing has made, and at which place one was computed with first.
   Places are numbered beyond the sites. */
void sg_sanitize_undefined(Warp *, uint32_t first, uint32_t needed, uint32_t mask);
void sg_sanitize_fence(Warp *, uint32_t mask, uint32_t hints);
void sg_sanitize_proxy_fence(Warp *, uint32_t mask);
void sg_sanitize_mbarriers_shown(Warp *, uint32_t mask); /* fence.mbarrier_init */
void sg_sanitize_malloc(Warp *, uint32_t mask, const uint64_t *size, uint64_t *out);
/* b, c, members: a value per lane; chosen: the result gets on only where a condition lets it. */
void sg_sanitize_shuffle(Warp *, uint32_t site, uint32_t mode, const uint32_t *b, const uint32_t *c,
                         const uint32_t *members, uint32_t mask, uint32_t chosen);
void sg_sanitize_whole_warp(Warp *, uint32_t site, uint32_t mask); /* an instruction .aligned */
void sg_sanitize_meet(Warp *, uint32_t site, const uint32_t *members, uint32_t mask,
                      uint32_t shuffle);

enum FindingKind {
    OUT_OF_BOUNDS,
    MISALIGNED,
    UNINITIALISED,
    RACE,
    MISSING_SYNCWARP,
    DOUBLE_WRITE,
    DIVERGENT_BARRIER,
    INACTIVE_SHUFFLE,
    STALE_READ,
    MISSING_PROXY_FENCE,
    UNFINISHED_PRODUCT,
    MISSING_PRODUCT_FENCE,
    UNFINISHED_COPY
};
enum Note {
    NO_NOTE,
    AT_NULL,
    IN_HEAP,
    FREED,
    OTHER_DEVICE,
    CONSTANT,
    WRONG_ARRAY,
    RETURNED,
    NOT_BEGUN, /* out of bounds */
    MOVED,     /* uninitialised: of something that is only copied, which may be a gap in a struct */
    VALUE,     /* uninitialised: a register */
    UPDATE,
    ATOMIC_AND_PLAIN,
    VOLATILE,
    OTHER_BLOCK,
    SCOPE,
    TWO_SIZES,
    UNFENCED,
    COPYING,
    MULTIPLYING,
    BULK_WRITING,
    BULK_READING,
    BULK_OVERWRITING, /* races */
    HIDDEN,           /* missing fence of proxies: of one that was begun */
    EXITED,
    TWO_LINES,
    NOT_NAMED,
    ABSENT,
    NO_THREAD,
    WHOLE_WARP /* barriers and shuffles */
};

enum Limit { LIMIT_FINDINGS = 256, LIMIT_PARAMETER_BYTES = 4096 }; /* kept of a launch */

/* What happened `count` times at a line, or between two lines; the rest is of the first time. */
typedef struct Finding {
    uint32_t kind, note;
    uint32_t site, other_site;     /* UINT32_MAX: none */
    uint32_t access, other_access; /* 0 read, 1 write, 2 atomic */
    uint32_t block[3], thread[3], other_block[3], other_thread[3];
    uint32_t space, bytes; /* SPACE_GLOBAL, _SHARED or _LOCAL */
    uint32_t meant[2];     /* the shared variables that were meant; [1] 0: unknown */
    uint32_t lanes;        /* threads that skipped a barrier */
    uint32_t unwritten;    /* bit i: byte i of what was read */
    uint32_t warps;        /* of collisions. bit i: warp i of a block; all of them: volatile */
    uint64_t count;
    uint64_t address, begin, end; /* of the memory that it is in, or was meant to be in */
} Finding;

typedef int (*ReportCallback)(void);
/* Called after a launch with findings, where SOFTGPU_SANITIZE is set; returns what it returns. */
void sg_set_reporter(ReportCallback);
/* The launches of this thread; findings start anew. on: BUILD_RECORD: they are recorded, too. */
void sg_sanitize(int on);
/* What they write stays, until sg_sanitize: nobody puts the arguments back. */
void sg_sanitize_stay(void);
void sg_sanitize_all(int on); /* the launches of all threads, as if SOFTGPU_SANITIZE were set */
/* What the next launches of this thread are told, until sg_sanitize: memory that counts as never
   written, and an array that ends here although the allocation around it goes on. */
void sg_sanitize_unwritten(uint64_t address, size_t bytes);
void sg_sanitize_bounds(uint64_t address, size_t bytes);
/* The kernel of this thread's last sanitized launch, or NULL. threads: gets how many a block has. */
const char *sg_sanitize_kernel(void **module, uint32_t *threads);
/* How many there are of that launch; lost: whether more happened than its order can be told of, from
   where on no races were looked for; params: gets its parameters. */
uint32_t sg_sanitize_findings(Finding *out, uint32_t room, uint64_t *dropped, uint32_t *lost,
                              char *params);

/* The bytes of bulk copies into shared memory that it had nothing to read beside, of what others had
   brought. */
uint64_t sg_sanitize_exposed(void);

/* ---- the recorder (record.c): what kernels of its build call beside the sanitizer ---- */

enum EventKind { EVENT_STEP, EVENT_VALUE, EVENT_ACCESS, EVENT_SHUFFLE, EVENT_BARRIER };
/* What some lanes of a warp do at once. */
typedef struct Recorded {
    uint32_t kind, place; /* place: a step, a variable or a site */
    uint32_t warp, mask, block[3];
    uint32_t bytes, size;  /* of what one lane accesses, and of each of its elements */
    uint32_t space;        /* SPACE_GLOBAL, _SHARED or _LOCAL */
    uint64_t lanes[LANES]; /* addresses; shared and local memory: offsets; shuffles: source lane */
    uint8_t values[512];   /* 16 of each lane */
} Recorded;

void sg_record_step(Warp *, uint32_t step, uint32_t mask);
void sg_record_value(Warp *, uint32_t variable, uint32_t mask, uint32_t bytes, const void *values);
void sg_record_access(Warp *, uint32_t site, const uint64_t *addr, uint32_t mask, const void *data);
void sg_record_shuffle(Warp *, uint32_t site, uint32_t mode, const uint32_t *b, const uint32_t *c,
                       uint32_t mask);
void sg_record_barrier(Warp *, uint32_t site, uint32_t mask);
const Recorded *sg_recorded(uint32_t *count, uint32_t *incomplete);

#pragma GCC visibility pop

#endif
