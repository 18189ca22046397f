/* What the files of run/ share, in an order in which each calls only those above it. */
#ifndef SOFTGPU_RUN_INTERNAL_H
#define SOFTGPU_RUN_INTERNAL_H

#include "run.h"
#if SOFTGPU_ROOM != ROOM_RUN
#error "private to run/: include run/run.h"
#endif

/* ---- fiber.c: stacks and switching between them ---- */

typedef struct Fiber {
    void *sp; /* while it does not run */
    char *stack, *top;
    struct Fiber *next; /* in its worker's list of idle fibers */
} Fiber;

#define STACK_BYTES (8u << 20)   /* uses memory only as far as it is touched */
#define STACK_RESERVE (2u << 20) /* room for one function's frame below where it is checked */

Fiber *fiber_new(unsigned index);
/* Makes a fiber start at main(argument) when it is next switched to. */
void fiber_reset(Fiber *fiber, void (*main)(void *), void *argument);

/* ---- fault.c: errors that stop a launch ---- */

/* Stops the launch with an error at a site, whose message begins "kernel k, file:line: " and names the
   lane. Never returns. */
void fault_at(Warp *warp, uint32_t site, uint32_t lane, CUresult code, const char *format, ...)
    __attribute__((noreturn, format(printf, 5, 6)));
void fault_plain(Worker *worker, CUresult code, const char *format, ...)
    __attribute__((noreturn, format(printf, 3, 4)));
/* Records an error without leaving the kernel (for the watchdog). */
void fault_record(Job *job, CUresult code, const char *text);
/* Leaves the kernel without recording anything: the launch is being abandoned. */
void fault_leave(Worker *worker) __attribute__((noreturn));
void fault_place(const Kernel *kernel, uint32_t site, char *text, size_t room);

/* ---- access.c, atomic.c ---- */

/* Reduces the elements that a copy brings, one after the other; the memory has been checked. */
void atomic_reduce(const Warp *warp, uint32_t op, uint32_t type, uint64_t address, const void *data,
                   uint32_t bytes);
/* The end of the memory around an address that a lane may read, 0: none. */
uint64_t access_readable_end(Warp *warp, uint32_t lane, uint64_t address);

/* ---- printf.c ---- */

void printf_flush(void);
/* The length of a string in the GPU's memory; SIZE_MAX when no string can be read there. */
size_t string_length(Warp *warp, uint32_t lane, uint64_t address);

/* ---- dealing.c: which blocks run, and in what order ---- */

CUresult dealing_begin(Job *job);
bool dealing_is_asked_for(void); /* by this thread, for its launches */
/* The number of the block, or cluster, of a turn; where only some blocks run, chunks are of one. */
uint64_t dealt_block(const Job *job, uint64_t turn);
uint64_t dealt_cluster(const Job *job, uint64_t turn);
bool dealt_runs(const Job *job, uint64_t cluster); /* whether any of its blocks was chosen */
/* The number and the coordinates of one of its blocks. */
uint64_t dealt_block_of(const Job *job, uint64_t cluster, uint32_t rank, uint32_t ctaid[3]);

/* ---- deadlock.c ---- */

enum {
    MBARRIER = BARRIERS,
    CLUSTER_BARRIER,
    PRODUCTS
}; /* what a warp waits at, besides barriers */

/* Which warps wait where for what, in a block of which no warp can go on. */
void deadlock_describe(Worker *worker, char *text, size_t room);

/* ---- cluster.c ---- */

bool cluster_goes_on(const Cluster *cluster);        /* whether any of its warps can */
uint32_t cluster_threads(const Cluster *cluster);    /* that have not returned */
void cluster_count_exits(Warp *warp, uint32_t live); /* all but these lanes have returned */
void cluster_recheck(Cluster *cluster);              /* whether all have arrived */
void cluster_wake(Worker *worker); /* a phase has ended that its warps may wait for */

/* ---- block.c: the warps of a block ---- */

bool block_prepare(Worker *worker, Job *job); /* memory and warps; false: out of memory */
/* Runs warps until the block has ended or steps aside; alone in the ring, takes blocks until none
   are left. False: out of memory. */
bool block_run(Worker *worker);
void block_begin(Worker *worker, uint64_t block, const uint32_t ctaid[3]); /* makes it the next */
void block_step_aside(Worker *worker);   /* other blocks run; the running warp pauses meanwhile */
void block_forget(Worker *worker);       /* drops a block that has not finished */
void block_look_again(Worker *worker);   /* forgets what it knows of memory, if some was freed */
bool block_ends_round(const Warp *warp); /* whether all other warps have had their turn */
void block_pass_turn(Warp *warp);        /* runs the others, then returns */
/* Runs other warps until any phase ends that warps of the block wait for; `what`: MBARRIER, at this
   word, CLUSTER_BARRIER or PRODUCTS. */
void block_wait(Warp *warp, uint32_t site, uint32_t mask, uint32_t what, uint64_t word);
void block_count_exits(Warp *warp);

/* ---- seats.c: blocks side by side ---- */

void seats_run(Worker *home); /* takes blocks until none are left */
void seats_enter(Worker *worker);
void seats_leave(Worker *worker);
/* Whether the thread's blocks may wait for a block that has not begun, and can. */
bool seats_another_is_due(const Worker *home);

/* ---- clusters.c ---- */

void clusters_run(Worker *home); /* as seats_run, for a launch with clusters */

/* ---- workers.c ---- */

/* Runs the job on all threads; needs the lock, unless it is a task. Returns its fault (0: none). */
CUresult workers_run(Job *job);

/* ---- launch_check.c, launch.c, launch_calls.c: the steps of a launch (see launch.c) ---- */

enum { END_OF_OPTIONS, BUFFER_POINTER, BUFFER_SIZE }; /* CU_LAUNCH_PARAM_... */

/* What a call specifies besides the arguments. */
typedef struct {
    const uint32_t *grid, *block;
    uint32_t shared;
    CUstream stream;
    Together together;
    const StreamPlace *place; /* of a graph's launch; NULL: the stream's */
} Shape;

typedef struct {
    const void *at;
    size_t bytes;
} Packed;

uint32_t launch_cluster(const Kernel *kernel, const Shape *shape, int axis); /* blocks along it */
/* Fails unless the kernel may be launched in the current context on the stream. */
CUresult launch_check_device(const Kernel *kernel, CUstream stream);
CUresult launch_check(const Kernel *kernel, const Shape *shape, size_t argument_bytes);
CUresult launch_accept(CUfunction function, const Shape *shape, void **params, void **extra);

#endif
