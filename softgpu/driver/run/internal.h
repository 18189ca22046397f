/* Shared by the files of run/. Each file calls only files listed above it. */
#ifndef SOFTGPU_RUN_INTERNAL_H
#define SOFTGPU_RUN_INTERNAL_H

#include "fault_words.h"
#include "run.h"
#if SOFTGPU_ROOM != ROOM_RUN
#error "private to run/: include run/run.h"
#endif

/* ---- fiber.c: fibers, each with a stack, and switching between them ---- */

typedef struct Fiber {
    void *sp; /* saved stack pointer while it is suspended */
    char *stack, *top;
    struct Fiber *next; /* in its worker's list of idle fibers */
} Fiber;

#define STACK_BYTES (8u << 20)   /* reserved; uses memory only for pages that are touched */
#define STACK_RESERVE (2u << 20) /* room for one function's frame below the limit that is checked */

Fiber *fiber_new(unsigned index);
/* Make a fiber start at main(argument) when it is next switched to. */
void fiber_reset(Fiber *fiber, void (*main)(void *), void *argument);

/* ---- fault.c: errors that stop a launch ---- */

/* Stop the launch with an error of a kind, which fault_words.h has the words of, at a site, by
   a lane. Never returns. */
#define fault_at(warp, site, lane, code, kind, ...)                                                \
    fault_by_lane(warp, site, lane, code, FAULT_##kind, WORDS_##kind __VA_OPT__(, ) __VA_ARGS__)
void fault_by_lane(Warp *warp, uint32_t site, uint32_t lane, CUresult code, enum FaultKind kind,
                   const char *format, ...) __attribute__((noreturn, format(printf, 6, 7)));
/* Record an error without leaving the kernel. */
void fault_record(Job *job, CUresult code, enum FaultKind kind, uint32_t site, const char *format,
                  ...) __attribute__((format(printf, 5, 6)));
/* Leave the kernel without recording an error, because the launch is being abandoned. */
void fault_leave(Worker *worker) __attribute__((noreturn));
void fault_place(const Kernel *kernel, uint32_t site, char *text, size_t room);
/* An address for a fault's words, unless it is to be hidden. */
typedef struct {
    char text[24];
} AddressText;
AddressText address_text(uint64_t address);
bool addresses_hidden(void);
/* Fail with the words on the fault that ended a launch, which sg_last_fault returns until the next
   launch begins. */
void fault_tell(const Job *job, CUresult result);
void fault_forget(void);

/* ---- access.c, atomic.c ---- */

/* Reduce a bulk copy's elements into memory, one after the other; the memory has been checked. */
void atomic_reduce(const Warp *warp, uint32_t op, uint32_t type, uint64_t address, const void *data,
                   uint32_t bytes);
/* Return the end of the readable memory that contains the lane's address; 0: not readable. */
uint64_t access_readable_end(Warp *warp, uint32_t lane, uint64_t address);

/* ---- printf.c ---- */

void printf_flush(void);
/* Return the length of a string in device memory; SIZE_MAX if it cannot be read. */
size_t string_length(Warp *warp, uint32_t lane, uint64_t address);

/* ---- dealing.c: which blocks run, and in which order ---- */

CUresult dealing_begin(Job *job);
bool dealing_is_asked_for(void); /* this thread has chosen blocks or an order for its launches */
/* Map a turn to the index of its block or cluster. If only some blocks run, chunks have one
   block. */
uint64_t dealt_block(const Job *job, uint64_t turn);
uint64_t dealt_cluster(const Job *job, uint64_t turn);
bool dealt_runs(const Job *job, uint64_t cluster); /* whether any block of the cluster is to run */
/* Return the linear index of the block of this rank in a cluster, and its coordinates. */
uint64_t dealt_block_of(const Job *job, uint64_t cluster, uint32_t rank, uint32_t ctaid[3]);

/* ---- deadlock.c ---- */

enum {
    MBARRIER = BARRIERS,
    CLUSTER_BARRIER,
    PRODUCTS,
    REGISTERS
}; /* what else a warp may wait at: numbers after the barriers' */

/* Describe where each warp of a deadlocked block waits, and for what. */
enum FaultKind deadlock_describe(Worker *worker, uint32_t *site, char *text, size_t room);

/* ---- cluster.c ---- */

bool cluster_goes_on(const Cluster *cluster);        /* whether any of its warps is runnable */
uint32_t cluster_threads(const Cluster *cluster);    /* threads that have not returned */
void cluster_count_exits(Warp *warp, uint32_t live); /* the lanes outside `live` have returned */
void cluster_recheck(Cluster *cluster);              /* end the phase if all threads have arrived */
void cluster_wake(Worker *worker); /* wake warps: a phase has ended that they may wait for */

/* ---- block.c: the warps of a block ---- */

bool block_prepare(Worker *worker, Job *job); /* allocate memory and warps; false: out of memory */
/* Run warps until the block ends or steps aside. If the worker is alone in its ring, take
   further blocks until none are left. False: out of memory. */
bool block_run(Worker *worker);
/* Set up the worker's next block. */
void block_begin(Worker *worker, uint64_t block, const uint32_t ctaid[3]);
void block_step_aside(Worker *worker);   /* suspend the running warp and let other blocks run */
void block_forget(Worker *worker);       /* drop an unfinished block */
void block_look_again(Worker *worker);   /* clear cached ranges if memory was freed */
bool block_ends_round(const Warp *warp); /* whether all other warps have had their turn */
void block_pass_turn(Warp *warp);        /* let the other warps run, then return */
/* Run other warps until a phase ends that warps of the block wait for. `what` is MBARRIER (at
   `word`), CLUSTER_BARRIER, PRODUCTS or REGISTERS. */
void block_wait(Warp *warp, uint32_t site, uint32_t mask, uint32_t what, uint64_t word);
void block_count_exits(Warp *warp);

/* ---- seats.c: several resident blocks on one thread ---- */

void seats_run(Worker *home); /* run blocks until none are left */
void seats_enter(Worker *worker);
void seats_leave(Worker *worker);
/* Whether the thread's blocks may be waiting for a block that has not begun, but could. */
bool seats_another_is_due(const Worker *home);

/* ---- clusters.c ---- */

void clusters_run(Worker *home); /* seats_run for a launch with clusters */

/* ---- workers.c ---- */

/* Run the job on all threads; needs the lock, unless it is a task. Return its fault (0: none). */
CUresult workers_run(Job *job);

/* ---- launch_check.c, launch.c, launch_calls.c: the steps of a launch (see launch.c) ---- */

enum { END_OF_OPTIONS, BUFFER_POINTER, BUFFER_SIZE }; /* CU_LAUNCH_PARAM_... */

/* A launch's configuration: everything but the kernel and its arguments. */
typedef struct {
    const uint32_t *grid, *block;
    uint32_t shared;
    CUstream stream;
    Together together;
    const StreamPlace *place; /* set for a graph launch; NULL: the stream's place */
} Shape;

typedef struct {
    const void *at;
    size_t bytes;
} Packed;

/* Return the cluster's size along an axis, in blocks. */
uint32_t launch_cluster(const Kernel *kernel, const Shape *shape, int axis);
/* Fail unless the kernel may be launched in the current context on the stream. */
CUresult launch_check_device(const Kernel *kernel, CUstream stream);
const uint32_t *launch_block(const Kernel *kernel, const Shape *shape); /* its threads */
CUresult launch_check(const Kernel *kernel, const Shape *shape, size_t argument_bytes);
CUresult launch_accept(CUfunction function, const Shape *shape, void **params, void **extra);

#endif
