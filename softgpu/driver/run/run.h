/* The interface of run/: launches, the jobs and workers that run them, and what instrumented
   builds do around a launch and in place of an access. */
#ifndef SOFTGPU_RUN_H
#define SOFTGPU_RUN_H

#include "modules/modules.h"
#if SOFTGPU_ROOM < ROOM_RUN
#error "run/ is above this room, which may call only rooms below it (driver.h)"
#endif

#define BARRIERS 16 /* named barriers of a block */

struct Worker;

/* One launch, executed by several worker threads. */
typedef struct Job {
    const Kernel *kernel;
    Entry entry;
    uint32_t grid[3], block[3];
    uint32_t threads, warps; /* per block */
    uint32_t cluster[3];     /* cluster shape, in blocks */
    uint32_t cluster_blocks; /* blocks per cluster */
    bool has_clusters;       /* the kernel or its launch specifies clusters, even of one block */
    uint32_t static_shared, dynamic_shared;
    uint64_t local_stride;
    uint32_t counter_count;
    uint32_t grid_id;
    uint32_t workers;   /* most worker threads that may take part */
    bool alone;         /* its only worker is the only thread that accesses memory */
    bool in_order;      /* run blocks one at a time, unless they wait for each other */
    bool cooperative;   /* a cooperative launch: all blocks must be resident */
    uint32_t resident;  /* most blocks resident at the same time */
    uint64_t workspace; /* for grid synchronisation, or 0 */
    char *params;
    uint64_t *counters;     /* summed over all workers, or NULL */
    uint64_t blocks, chunk; /* blocks to run; blocks handed to a worker at a time */
    const Range *only;      /* linear indices of the blocks to run; NULL: all */
    uint32_t only_count;
    uint64_t seed;                  /* shuffles the order of the blocks; 0: by index */
    uint64_t next_block;            /* atomic: blocks handed out so far */
    uint32_t seats;                 /* atomic: seats in use, see seats.c */
    bool (*enter)(struct Worker *); /* called whenever a seat is scheduled, or NULL */
    void *task;                     /* the task that runs this launch concurrently, or NULL */
    bool waits;                     /* the task was seen waiting for other tasks */
    uint32_t waits_at;              /* line of the loop in which it last waited, or 0 */
    double since, limit;            /* seconds: start time; time limit, of a thread's computing */
    struct Clock *clocks;           /* of the threads that take part */
    bool length_told;               /* the user has been warned that it takes long */
    struct Job *watched;            /* the next job in the watchdog's list */
    volatile int stop;
    uint32_t stopped_at; /* line of the loop that was running when it was stopped, or 0 */
    char others[300];    /* if the time limit stopped it: the other launches that waited */
    int interrupted;
    int fault;    /* CUresult; the first fault wins */
    Fault reason; /* its fields are set if there is one */
} Job;

typedef struct {
    uint32_t arrived;  /* threads */
    uint32_t waiting;  /* bit mask of warps */
    uint32_t expected; /* threads; 0: all of the block */
    uint32_t reduce, count, any_true, any_false;
} Barrier;

/* The blocks of a cluster, interleaved on one thread. A block without a cluster gets one of its
   own. */
typedef struct Cluster {
    struct Cluster *next; /* in the thread's ring, or in its list of idle clusters */
    uint32_t blocks;
    uint32_t arrived; /* threads at the cluster barrier */
    uint64_t phase;   /* completed phases of the cluster barrier */
    char *shared;     /* block 0's shared memory; the other blocks' follows, CLUSTER_STEP apart */
    struct Worker *seats[MOST_CLUSTER];
} Cluster;

/* The state of a block that runs (a seat). Each thread has one, and more while blocks wait for each
   other. */
typedef struct Worker {
    Job *job;
    struct Worker *home;          /* the thread's first worker, which takes new blocks */
    struct Worker *next;          /* in the thread's ring, or in its list of idle workers */
    void *native_sp;              /* the thread's own stack */
    struct Fiber *running, *idle; /* running: NULL between two blocks */
    Warp *warps;
    Cluster *cluster, alone;   /* alone: used as the cluster of a block without one */
    struct Seat *watching;     /* private to watch/ */
    struct Counting *counting; /* private to count/ */
    /* the block being run */
    uint32_t ctaid[3];
    uint64_t block;   /* linear index + 1 */
    bool steps_aside; /* blocked: it can only wait for another block */
    bool has_block;
    bool is_stuck;          /* no warp is runnable until another block of the cluster acts */
    uint32_t next_warp;     /* the first warp that has not started */
    uint32_t unfinished;    /* bit mask of warps */
    uint32_t ready;         /* bit mask of suspended warps that are runnable */
    uint64_t phase;         /* split barriers (sg_arrive) that all warps have arrived at */
    uint32_t behind;        /* bit mask of warps that have arrived at no later barrier */
    uint32_t ahead;         /* bit mask of warps that wait for the warps in `behind` */
    uint32_t at_mbarriers;  /* bit mask of warps waiting for an mbarrier or cluster phase */
    uint32_t busy_barriers; /* bit mask of barriers at which a warp has arrived */
    uint32_t spinning;      /* bit mask of warps in waiting loops since their last barrier */
    uint32_t live_threads;
    int32_t spare_registers; /* that warps have given, of each thread */
    Barrier barriers[BARRIERS];
    /* the block's memory, reused by later launches */
    char *shared, *local;
    size_t local_room;
    Range *sites;
    size_t site_room;
    uint64_t removals; /* memory_removals() when `sites` was filled */
    uint64_t *counters;
    size_t counter_room;
    uint32_t *told_bytes; /* per mbarrier: bytes that its phase expects; NULL: none */
    /* the block shape that the warps were last prepared for */
    uint32_t prepared_block[3];
    bool opens_reserved; /* the launch's blocks use the shared memory reserved for libraries */
    struct Fiber *fibers[MAX_WARPS + 1]; /* all of them, to free those in use at a fault */
    unsigned fiber_count;
    unsigned index; /* the thread's index */
    /* used in a thread's home worker only */
    uint64_t dealt, dealt_end; /* the rest of the thread's current chunk of blocks */
    uint32_t dealt_ctaid[3];
    uint32_t seats;       /* workers in the ring */
    uint32_t in_vain;     /* consecutive turns in which blocks only waited */
    uint32_t waited;      /* turns in which blocks only waited, since the launch began */
    uint32_t line;        /* line of a loop that waits */
    struct Worker *spare; /* idle workers */
    Cluster *spare_clusters;
} Worker;

/* ---- launch.c: launches, and the instruments that observe them (profile.c, sanitize.c) ---- */

typedef struct Instrument {
    uint32_t build;              /* the build of the kernel to launch */
    CUresult (*begin)(Job *job); /* called before the first block, with the lock held */
    void (*end)(Job *job);       /* called after the last block, with the lock held */
    /* Called without the lock; may be NULL. Returns the result of the launch. */
    CUresult (*report)(CUresult result);
} Instrument;

extern _Thread_local const Instrument *instrument; /* for this thread's launches, or NULL */
extern const Instrument *instrument_of_all;        /* for all other launches, or NULL */

/* Check the launch of a kernel node and copy its arguments; *out is NULL if it has none. */
CUresult launch_prepare(const KernelNode *node, NodeArguments **out);
/* Bind a kernel node to the context of the kernel's module. */
void launch_bind(Node *node);
/* Run a kernel node as a task of the stream at `place`. */
CUresult launch_node(const Node *node, const StreamPlace *place);

/* ---- access.c: a warp's accesses ---- */

#define NO_SITE UINT32_MAX

/* Return the bytes of a lane's access that the program uses, as a bit mask; 0: all of them. */
uint32_t access_used(const Warp *warp, const struct Site *site, uint32_t lane);
/* Fault unless every lane of the mask may perform the site's access at its address. */
void access_check(Warp *warp, uint32_t site, const uint64_t *addr, uint32_t mask);
/* Load or store the lanes' values without any check. */
void access_read(const uint64_t *addr, uint32_t mask, const struct Site *site, void *data);
void access_write(const uint64_t *addr, uint32_t mask, const struct Site *site, const void *data);
/* Return the shared memory reserved for libraries; empty if the block does not use it. */
Range access_reserved_shared(const Warp *warp);

/* ---- heap.c: malloc and free inside kernels ---- */

typedef enum { NOT_IN_HEAP, NOT_IN_BLOCK, IN_BLOCK } HeapAnswer;
/* Get the heap block that contains the address. */
HeapAnswer heap_range(Context *context, uint64_t address, Range *range);
/* Get the last heap block that ends at or before the address; false: none. */
bool heap_before(Context *context, uint64_t address, Range *range);
Range heap_whole(Context *context); /* empty before the first malloc */
void heap_free(Context *context);

/* ---- cluster.c ---- */

/* Return the worker in the same cluster whose shared memory contains the address, or NULL. */
Worker *cluster_owner(const Worker *worker, uint64_t address);

#endif
