/* The interface of run/: launches, the jobs and workers that run them, and what instrumented builds do
   around a launch and in place of an access. */
#ifndef SOFTGPU_RUN_H
#define SOFTGPU_RUN_H

#include "modules/modules.h"
#if SOFTGPU_ROOM < ROOM_RUN
#error "run/ is above this room, which may call only rooms below it (driver.h)"
#endif

#define BARRIERS 16 /* named barriers of a block */

struct Worker;

/* One launch, over threads. */
typedef struct Job {
    const Kernel *kernel;
    Entry entry;
    uint32_t grid[3], block[3];
    uint32_t threads, warps; /* of a block */
    uint32_t cluster[3];     /* blocks of one */
    uint32_t cluster_blocks; /* in all */
    bool has_clusters;       /* the kernel or its launch specifies them, if only of one block */
    uint32_t static_shared, dynamic_shared;
    uint64_t local_stride;
    uint32_t counter_count;
    uint32_t grid_id;
    uint32_t workers;   /* threads that may take part */
    bool alone;         /* nothing but its one worker touches memory meanwhile */
    bool in_order;      /* one block after the other, unless they wait for each other */
    bool cooperative;   /* blocks count on running side by side */
    uint32_t resident;  /* blocks that may run side by side */
    uint64_t workspace; /* of a grid that synchronises, or 0 */
    char *params;
    uint64_t *counters;     /* sum over workers, or NULL */
    uint64_t blocks, chunk; /* how many blocks run; how many are dealt out at once */
    const Range *only;      /* numbers of the blocks that run; NULL: all */
    uint32_t only_count;
    uint64_t seed;                  /* of the order in which they run; 0: by number */
    uint64_t next_block;            /* atomic: how many have been dealt out */
    uint32_t seats;                 /* atomic: in use, see block.c */
    bool (*enter)(struct Worker *); /* NULL, or called whenever a seat gets its turn */
    void *task;                     /* the task that runs it, beside others; or NULL */
    bool waits;                     /* such a task was seen to wait for others */
    uint32_t waits_at;              /* line of the loop in which it last did, or 0 */
    double since, limit;            /* seconds: when it began, and how long it may take */
    bool length_told;               /* the user was told that it takes long */
    struct Job *watched;            /* the next that runs */
    volatile int stop;
    uint32_t stopped_at; /* line of the loop that ran then, or 0 */
    char others[300];    /* if the time limit stopped it: who else waited */
    int interrupted;
    int fault; /* CUresult; the first fault wins */
    char fault_text[3000];
} Job;

typedef struct {
    uint32_t arrived;  /* threads */
    uint32_t waiting;  /* warps, as bits */
    uint32_t expected; /* threads, 0: all */
    uint32_t reduce, count, any_true, any_false;
} Barrier;

/* Blocks that run side by side on one thread; a block without a cluster is a cluster of its own. */
typedef struct Cluster {
    struct Cluster *next; /* in the ring of those that the thread runs in turn, or idle */
    uint32_t blocks;
    uint32_t arrived; /* threads, at its barrier */
    uint64_t phase;   /* how often all threads have arrived */
    char *shared;     /* of block 0; that of the others follows, CLUSTER_STEP apart */
    struct Worker *seats[MOST_CLUSTER];
} Cluster;

/* What runs a block. A thread has one of these, and more while blocks wait for each other. */
typedef struct Worker {
    Job *job;
    struct Worker *home;          /* the thread's own, to which blocks are dealt out */
    struct Worker *next;          /* in the ring of those that the thread runs in turn, or idle */
    void *native_sp;              /* the thread's own stack */
    struct Fiber *running, *idle; /* running: NULL between two blocks */
    Warp *warps;
    Cluster *cluster, alone;   /* alone: its cluster if the block has no other */
    struct Seat *watching;     /* sanitize.c's own */
    struct Counting *counting; /* profile.c's own */
    /* the block being run */
    uint32_t ctaid[3];
    uint64_t block;   /* linear index + 1 */
    bool steps_aside; /* all that it can do is wait for another block */
    bool has_block;
    bool is_stuck;         /* no warp can go on, unless another block of its cluster helps */
    uint32_t next_warp;    /* the first that has not started */
    uint32_t unfinished;   /* warps, as bits */
    uint32_t ready;        /* suspended warps that can go on, as bits */
    uint64_t phase;        /* how many barriers all warps have arrived at, by sg_arrive */
    uint32_t behind;       /* warps that have arrived at no more than these, as bits */
    uint32_t ahead;        /* warps that wait for those, as bits */
    uint32_t at_mbarriers; /* warps that wait for a phase, of an mbarrier or the cluster, as bits */
    uint32_t busy_barriers; /* barriers at which a warp has arrived, as bits */
    uint32_t live_threads;
    Barrier barriers[BARRIERS];
    /* memory of the block, kept from launch to launch */
    char *shared, *local;
    size_t local_room;
    Range *sites;
    size_t site_room;
    uint64_t removals; /* memory_removals() when the sites were found */
    uint64_t *counters;
    size_t counter_room;
    uint32_t *told_bytes; /* per mbarrier, how many bytes its phase waits for; NULL: none */
    /* what the warps were last prepared for */
    uint32_t prepared_block[3];
    bool opens_reserved; /* the launch's blocks use the shared memory reserved for libraries */
    struct Fiber *fibers[MAX_WARPS + 1]; /* all of them, to drop those that a fault left in use */
    unsigned fiber_count;
    unsigned index; /* of the thread */
    /* of a thread's own worker only */
    uint64_t dealt, dealt_end; /* what is left of the dealt chunk of blocks */
    uint32_t dealt_ctaid[3];
    uint32_t seats;       /* in the ring */
    uint32_t in_vain;     /* turns since something last happened in which blocks could only wait */
    uint32_t waited;      /* the same, since the launch began */
    uint32_t line;        /* of a loop that waits */
    struct Worker *spare; /* out of the ring */
    Cluster *spare_clusters;
} Worker;

/* ---- launch.c: launches, and the tools that they run under (profile.c, sanitize.c) ---- */

typedef struct Instrument {
    uint32_t build;              /* which build of the kernel launches run */
    CUresult (*begin)(Job *job); /* with the lock held, before the first block */
    void (*end)(Job *job);       /* with the lock held, after the last */
    /* without the lock; may be NULL; returns what the launch returns */
    CUresult (*report)(CUresult result);
} Instrument;

extern _Thread_local const Instrument *instrument; /* of this thread's launches, or NULL */
extern const Instrument *instrument_of_all;        /* of all other launches, or NULL */

/* Checks the launch of a kernel's node and copies its arguments; *out NULL: it has none. */
CUresult launch_prepare(const KernelNode *node, NodeArguments **out);
/* Binds a kernel's node to the context of the kernel's module. */
void launch_bind(Node *node);
CUresult launch_node(const Node *node, const StreamPlace *place); /* runs it, as the place's task */

/* ---- access.c: a warp's accesses ---- */

#define NO_SITE UINT32_MAX

/* The bytes of a lane's access that its program uses, as bits; 0: all of its site's. */
uint32_t access_used(const Warp *warp, const struct Site *site, uint32_t lane);
/* Faults unless every lane of the mask may do what the site does at its address. */
void access_check(Warp *warp, uint32_t site, const uint64_t *addr, uint32_t mask);
/* Move the lanes' values without any check. */
void access_read(const uint64_t *addr, uint32_t mask, const struct Site *site, void *data);
void access_write(const uint64_t *addr, uint32_t mask, const struct Site *site, const void *data);
/* The shared memory that libraries have for themselves, if the block uses it. */
Range access_reserved_shared(const Warp *warp);

/* ---- heap.c: malloc and free inside kernels ---- */

typedef enum { NOT_IN_HEAP, NOT_IN_BLOCK, IN_BLOCK } HeapAnswer;
HeapAnswer heap_range(Context *context, uint64_t address, Range *range); /* the block there */
bool heap_before(Context *context, uint64_t address, Range *range); /* the block that it follows */
Range heap_whole(Context *context); /* empty: there is no heap yet */
void heap_free(Context *context);

/* ---- cluster.c ---- */

/* The worker of the block, in the same cluster, whose shared memory has the address; or NULL. */
Worker *cluster_owner(const Worker *worker, uint64_t address);

#endif
