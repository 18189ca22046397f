/* The warps of a block: each runs on a fiber of its own until it waits at a barrier or ends.

   A fiber takes warps that have not started, one after the other, and then whole blocks, so that
   kernels without barriers never switch. A warp that waits switches straight to the next one.

   Blocks run to their end, one after the other, unless they wait for each other: a block that can
   only wait steps aside, and its thread opens a further seat, where it runs another one. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "internal.h"

/* ---- preparing a worker for a launch ---- */

static void set_thread_indices(Worker *worker, const uint32_t block[3])
{
    uint32_t threads = block[0] * block[1] * block[2];
    uint32_t x = 0, y = 0, z = 0;
    for (uint32_t t = 0; t < MAX_WARPS * LANES; t++) {
        Warp *w = &worker->warps[t / LANES];
        uint32_t lane = t % LANES;
        w->tid[0][lane] = x;
        w->tid[1][lane] = y;
        w->tid[2][lane] = z;
        if (lane == 0) w->existing = 0;
        if (t < threads) w->existing |= 1u << lane;
        if (++x == block[0]) x = 0, y++;
        if (y == block[1]) y = 0, z++;
    }
    memcpy(worker->prepared_block, block, sizeof worker->prepared_block);
}

static bool make_room(void **memory, size_t *room, size_t bytes, size_t step)
{
    if (bytes <= *room) return true;
    bytes = (bytes + step - 1) / step * step;
    if (*memory) munmap(*memory, *room);
    *memory = map_pages(bytes);
    *room = *memory ? bytes : 0;
    return *memory;
}

/* Local memory, whose window, and as much again, has nothing else in it. */
static bool make_room_for_local(Worker *worker, size_t bytes)
{
    const size_t apart = 2 * LOCAL_WINDOW;
    if (bytes + apart <= worker->local_room) return true;
    return make_room((void **)&worker->local, &worker->local_room, bytes + apart, 1u << 20) &&
           !mprotect(worker->local + worker->local_room - apart, apart, PROT_NONE);
}

bool block_prepare(Worker *worker, Job *job)
{
    worker->job = job;
    worker->opens_reserved = false;
    worker->next_warp = job->warps;
    worker->unfinished = worker->ready = 0;
    if (!worker->warps) {
        worker->warps = map_pages(MAX_WARPS * sizeof(Warp));
        if (!worker->shared) worker->shared = map_window(SM_SHARED);
        if (!worker->warps || !worker->shared) return false;
    }
    if (!worker->cluster) {
        worker->alone = (Cluster){.shared = worker->shared, .blocks = 1, .seats = {worker}};
        worker->cluster = &worker->alone;
    }
    size_t local = job->local_stride * LANES * job->warps;
    size_t counters = job->counter_count * sizeof(uint64_t);
    size_t sites = job->kernel->site_count * sizeof(Range);
    if (!make_room_for_local(worker, local) ||
        !make_room((void **)&worker->sites, &worker->site_room, sites, 4096) ||
        !make_room((void **)&worker->counters, &worker->counter_room, counters, 4096))
        return false;
    if (sites) memset(worker->sites, 0, sites);
    worker->removals = memory_removals();
    if (counters) memset(worker->counters, 0, counters);
    if (memcmp(worker->prepared_block, job->block, sizeof job->block))
        set_thread_indices(worker, job->block);
    for (uint32_t i = 0; i < job->warps; i++) {
        Warp *w = &worker->warps[i];
        w->warp_id = i;
        w->shared_bytes = job->static_shared + job->dynamic_shared;
        memcpy(w->ntid, job->block, sizeof w->ntid);
        memcpy(w->nctaid, job->grid, sizeof w->nctaid);
        w->shared = worker->shared;
        w->cluster_shared = worker->cluster->shared;
        w->window = w->shared - w->cluster_shared;
        memcpy(w->cluster, job->cluster, sizeof w->cluster);
        w->local = worker->local + job->local_stride * LANES * i;
        w->local_stride = job->local_stride;
        w->params = job->params;
        w->module = job->kernel->module->base;
        w->stop = &job->stop;
        w->sites = worker->sites;
        w->counters = counters ? worker->counters : NULL;
        w->dynamic_shared = job->dynamic_shared;
        w->static_shared = job->static_shared;
        w->grid_id = job->grid_id;
        w->workspace = job->workspace;
        w->worker = worker;
        w->lengths = NULL;
    }
    return true;
}

/* ---- running ---- */

static void start_barriers(Worker *worker)
{
    if (worker->busy_barriers) memset(worker->barriers, 0, sizeof worker->barriers);
    worker->busy_barriers = worker->at_mbarriers = 0;
}

/* Moves a place in the grid on by one block. */
static inline void step(uint32_t ctaid[3], const uint32_t grid[3])
{
    if (++ctaid[0] < grid[0]) return;
    ctaid[0] = 0;
    if (++ctaid[1] < grid[1]) return;
    ctaid[1] = 0;
    ctaid[2]++;
}

static inline void begin(Worker *worker, uint64_t block, const uint32_t ctaid[3])
{
    memcpy(worker->ctaid, ctaid, sizeof worker->ctaid);
    worker->block = block + 1;
    worker->has_block = true;
    worker->is_stuck = false;
    worker->next_warp = 0;
    worker->unfinished = worker->behind = UINT32_MAX >> (MAX_WARPS - worker->job->warps);
    worker->phase = worker->ahead = worker->spinning = 0;
    worker->spare_registers = 0;
    worker->live_threads = worker->job->threads;
    start_barriers(worker);
}

void block_begin(Worker *worker, uint64_t block, const uint32_t ctaid[3])
{ begin(worker, block, ctaid); }

/* Takes the next block of the dealt chunk, or the next chunk; false: none are left. */
static bool next_block(Worker *worker)
{
    Job *job = worker->job;
    Worker *home = worker->home;
    if (job->stop) return false;
    if (home->dealt == home->dealt_end) {
        uint64_t turn = __atomic_fetch_add(&job->next_block, job->chunk, __ATOMIC_RELAXED);
        if (turn >= job->blocks) return false;
        uint64_t begin = dealt_block(job, turn);
        home->dealt = begin;
        home->dealt_end = begin + MIN(job->chunk, job->blocks - turn);
        home->dealt_ctaid[0] = begin % job->grid[0];
        home->dealt_ctaid[1] = begin / job->grid[0] % job->grid[1];
        home->dealt_ctaid[2] = begin / job->grid[0] / job->grid[1];
    }
    begin(worker, home->dealt++, home->dealt_ctaid);
    worker->alone.arrived = 0;
    step(home->dealt_ctaid, job->grid);
    return true;
}

/* Warps have met at a barrier. That is no progress if it stands in a loop in which they wait. */
static inline void have_met(Worker *worker, uint32_t warps)
{
    if (warps & ~worker->spinning) worker->home->in_vain = 0;
    worker->spinning &= ~warps;
}

/* Wakes the warps waiting at a barrier; returns what the reduction came to. */
static uint32_t complete_barrier(Worker *worker, uint32_t id)
{
    Barrier *b = &worker->barriers[id];
    uint32_t result = b->reduce == 1 ? b->count : b->reduce == 2 ? !b->any_false : b->any_true;
    if (b->reduce) FOR_LANES(i, b->waiting) worker->warps[i].barrier_result = result;
    worker->ready |= b->waiting;
    worker->busy_barriers &= ~(1u << id);
    have_met(worker, b->waiting);
    *b = (Barrier){0};
    return result;
}

/* After threads have exited: barriers of the whole block may now be complete. */
static void recheck_barriers(Worker *worker)
{
    FOR_LANES(id, worker->busy_barriers)
    {
        Barrier *b = &worker->barriers[id];
        if (!b->expected && b->waiting && b->arrived >= worker->live_threads)
            complete_barrier(worker, id);
    }
}

/* Takes account of lanes of the running warp that have returned. */
static void count_exits(Worker *worker, Warp *w, uint32_t live)
{
    uint32_t count = __builtin_popcount(live);
    if (count == w->counted_live) return;
    worker->live_threads -= w->counted_live - count;
    w->counted_live = count;
    if (worker->busy_barriers) recheck_barriers(worker);
    if (worker->cluster->arrived) cluster_count_exits(w, live);
}

void block_count_exits(Warp *w) { count_exits(w->worker, w, w->live); }

/* All warps have arrived at the next barrier: those that wait for it go on. */
static void next_phase(Worker *worker)
{
    while (!worker->behind) {
        worker->phase++;
        FOR_LANES(i, worker->unfinished)
        worker->behind |= (uint32_t)(worker->warps[i].arrivals == worker->phase) << i;
    }
    worker->ready |= worker->ahead & worker->behind;
    worker->ahead &= ~worker->behind;
    have_met(worker, worker->unfinished);
}

static inline void enter_warp(Worker *worker, Warp *w)
{
    memcpy(w->ctaid, worker->ctaid, sizeof w->ctaid);
    w->live = w->existing;
    w->local_top = 0;
    w->stack_limit = worker->running->stack + STACK_RESERVE;
    worker->job->entry(w);
}

/* Runs a block's warps, none of which waits for another. */
static void run_through(Worker *worker)
{
    uint32_t warps = worker->job->warps;
    for (Warp *w = worker->warps, *end = w + warps; w < end; w++) enter_warp(worker, w);
    worker->next_warp = warps;
    worker->unfinished = 0;
}

static void run_warp(Worker *worker, Warp *w)
{
    w->counted_live = __builtin_popcount(w->existing);
    w->ahead = w->arrivals = w->in_cluster = w->products = w->groups = 0;
    w->more_registers = 0;
    enter_warp(worker, w);
    worker->unfinished &= ~(1u << w->warp_id);
    worker->behind &= worker->unfinished;
    if (worker->at_mbarriers) cluster_wake(worker);
    worker->home->in_vain = 0;
    count_exits(worker, w, 0);
    if (!worker->behind && worker->unfinished) next_phase(worker);
}

/* The first warp of a set at or after another, in the round. */
static uint32_t next_in_round(uint32_t set, uint32_t from)
{
    uint32_t later = from < 32 ? set & (UINT32_MAX << from) : 0;
    return __builtin_ctz(later ? later : set);
}

static void be_stuck(Worker *worker);

static void fiber_main(void *argument)
{
    Worker *worker = argument;
    for (uint32_t last = 0;;) {
        if (worker->next_warp < worker->job->warps) {
            if (worker->job->kernel->runs_through) {
                run_through(worker);
                continue;
            }
            last = worker->next_warp++;
            run_warp(worker, &worker->warps[last]);
            continue;
        }
        Fiber *self = worker->running;
        void *to;
        if (worker->ready) {
            uint32_t next = next_in_round(worker->ready, last);
            worker->ready &= ~(1u << next);
            worker->running = worker->warps[next].fiber;
            to = worker->warps[next].sp;
        } else if (worker->unfinished) {
            be_stuck(worker);
            continue;
        } else if ((!worker->has_block || worker->home->seats == 1) && next_block(worker)) {
            continue;
        } else { /* others have their turn first, or no block is left */
            worker->running = NULL;
            to = worker->native_sp;
        }
        self->next = worker->idle;
        worker->idle = self;
        fiber_switch(&self->sp, to);
    }
}

static Fiber *idle_fiber(Worker *worker)
{
    Fiber *fiber = worker->idle;
    if (fiber) {
        worker->idle = fiber->next;
        return fiber;
    }
    fiber = fiber_new(worker->fiber_count);
    if (!fiber) return NULL;
    worker->fibers[worker->fiber_count++] = fiber;
    fiber_reset(fiber, fiber_main, worker);
    return fiber;
}

void block_look_again(Worker *worker)
{
    if (worker->removals == memory_removals()) return;
    memset(worker->sites, 0, worker->job->kernel->site_count * sizeof(Range));
    worker->removals = memory_removals();
}

bool block_run(Worker *worker)
{
    if (!worker->running && !(worker->running = idle_fiber(worker))) return false;
    if (worker->job->enter && !worker->job->enter(worker)) return false;
    worker->steps_aside = false;
    block_look_again(worker);
    fiber_switch(&worker->native_sp, worker->running->sp);
    return true;
}

void block_step_aside(Worker *worker)
{
    worker->steps_aside = true;
    fiber_switch(&worker->running->sp, worker->native_sp);
    if (worker->job->stop) fault_leave(worker);
}

void block_forget(Worker *worker)
{
    worker->running = worker->idle = NULL;
    for (unsigned i = 0; i < worker->fiber_count; i++) {
        fiber_reset(worker->fibers[i], fiber_main, worker);
        worker->fibers[i]->next = worker->idle;
        worker->idle = worker->fibers[i];
    }
}

/* The warp that is next to go on after one that waits; it is not ready any more. */
static inline Warp *take_next(Worker *worker, Warp *w)
{
    uint32_t id = w->warp_id + 1;
    Warp *next = w + 1; /* mostly: then its stack is known before the set of the ready is */
    if (__builtin_expect(id >= MAX_WARPS || !(worker->ready >> id & 1), 0)) {
        if (!worker->ready) be_stuck(worker);
        id = next_in_round(worker->ready, id);
        next = &worker->warps[id];
    }
    worker->ready &= ~(1u << id);
    return next;
}

static void __attribute__((noinline)) start_another(Worker *worker, Warp *w)
{
    Fiber *fiber = idle_fiber(worker);
    if (!fiber) {
        fault_record(worker->job, CUDA_ERROR_OUT_OF_MEMORY, FAULT_NO_MEMORY, NO_SITE,
                     WORDS_NO_MEMORY, "the stack of a warp");
        fault_leave(worker);
    }
    worker->running = fiber;
    fiber_switch(&w->sp, fiber->sp);
}

/* Runs other warps until this one is ready and its turn has come. */
static inline void suspend(Worker *worker, Warp *w)
{
    w->fiber = worker->running;
    if (worker->next_warp < worker->job->warps) {
        start_another(worker, w);
        return;
    }
    Warp *next = take_next(worker, w);
    worker->running = next->fiber;
    if (next != w) fiber_switch(&w->sp, next->sp); /* another block has made it ready */
}

bool block_ends_round(const Warp *w)
{
    const Worker *worker = w->worker;
    uint32_t later = w->warp_id < 31 ? worker->ready >> (w->warp_id + 1) : 0;
    return !later && worker->next_warp == worker->job->warps;
}

void block_pass_turn(Warp *w)
{
    w->worker->ready |= 1u << w->warp_id; /* last in the round: another one is chosen */
    suspend(w->worker, w);
}

void block_wait(Warp *w, uint32_t site, uint32_t mask, uint32_t what, uint64_t word)
{
    Worker *worker = w->worker;
    if (*w->stop) fault_leave(worker);
    count_exits(worker, w, w->live);
    w->waiting_id = what;
    w->waiting_site = site;
    w->waiting_mask = mask;
    w->waiting_word = word;
    worker->at_mbarriers |= 1u << w->warp_id;
    suspend(worker, w);
}

/* ---- barriers ---- */

/* A warp that has only said that it has come counts as waiting at the barrier. */
static void join_barrier(Worker *worker, Warp *w)
{
    count_exits(worker, w, w->live);
    worker->barriers[0].arrived += __builtin_popcount(w->waiting_mask);
    worker->barriers[0].waiting |= 1u << w->warp_id;
    worker->busy_barriers |= 1;
}

static void __attribute__((noreturn)) deadlock(Worker *worker)
{
    char text[2500];
    FOR_LANES(id, worker->ahead) join_barrier(worker, &worker->warps[id]);
    uint32_t site;
    const enum FaultKind kind = deadlock_describe(worker, &site, text, sizeof text);
    fault_record(worker->job, CUDA_ERROR_LAUNCH_FAILED, kind, site, "%s", text);
    fault_leave(worker);
}

/* None of the warps can go on until another block of the cluster has done something for it. */
static void __attribute__((noinline)) be_stuck(Worker *worker)
{
    worker->is_stuck = true;
    while (!worker->ready) {
        if (!cluster_goes_on(worker->cluster)) deadlock(worker);
        block_step_aside(worker);
    }
    worker->is_stuck = false;
}

/* Counts the arrival; true: the barrier is complete. */
static bool arrive(Worker *worker, Warp *w, uint32_t site, uint32_t id, uint32_t threads,
                   uint32_t mask)
{
    if (*w->stop) fault_leave(worker);
    if (id >= BARRIERS || threads > BLOCK_THREADS)
        fault_at(w, site, mask ? __builtin_ctz(mask) : 0, CUDA_ERROR_LAUNCH_FAILED, BARRIER_NUMBER,
                 id, threads);
    count_exits(worker, w, w->live);
    Barrier *b = &worker->barriers[id];
    /* a count of threads is a multiple of the warp size: a whole warp counts as 32 */
    b->arrived += threads && mask == w->live ? LANES : __builtin_popcount(mask);
    b->expected = threads;
    worker->busy_barriers |= 1u << id;
    return b->arrived >= (threads ? threads : worker->live_threads);
}

static inline void wait_at(Worker *worker, Warp *w, uint32_t site, uint32_t id, uint32_t mask)
{
    worker->barriers[id].waiting |= 1u << w->warp_id;
    w->waiting_id = id;
    w->waiting_site = site;
    w->waiting_mask = mask;
    w->waiting_word = 0;
    suspend(worker, w);
}

uint32_t sg_barrier(Warp *w, uint32_t site, uint32_t id, uint32_t threads, uint32_t mask,
                    uint32_t reduce, uint32_t predicate)
{
    Worker *worker = w->worker;
    bool complete = arrive(worker, w, site, id, threads, mask);
    if (reduce) {
        Barrier *b = &worker->barriers[id];
        b->reduce = reduce;
        b->count += __builtin_popcount(predicate & mask);
        b->any_true |= (predicate & mask) != 0;
        b->any_false |= (~predicate & mask) != 0;
    }
    if (complete) return complete_barrier(worker, id);
    wait_at(worker, w, site, id, mask);
    return w->barrier_result;
}

/* Mostly whole warps arrive, of which no lane has left. */
void sg_sync(Warp *w, uint32_t site, uint32_t mask)
{
    Worker *worker = w->worker;
    Barrier *b = &worker->barriers[0];
    if (~(mask & w->live) || *w->stop) {
        sg_barrier(w, site, 0, 0, mask, 0, 0);
        return;
    }
    b->arrived += LANES;
    if (b->arrived < worker->live_threads) {
        worker->busy_barriers |= 1;
        wait_at(worker, w, site, 0, mask);
    } else {
        complete_barrier(worker, 0);
    }
}

void sg_arrive(Warp *w, uint32_t site, uint32_t mask)
{
    Worker *worker = w->worker;
    if (*w->stop) fault_leave(worker);
    if (mask != w->live) { /* the others can never come */
        if (w->ahead) sg_catch_up(w);
        sg_barrier(w, site, 0, 0, mask, 0, 0);
        return;
    }
    w->arrivals++;
    if (!w->ahead) {
        w->waiting_id = 0;
        w->waiting_site = site;
        w->waiting_mask = mask;
        w->waiting_word = 0;
        worker->behind &= ~(1u << w->warp_id);
        if (!worker->behind) next_phase(worker);
    }
    w->ahead = w->arrivals != worker->phase;
}

void sg_catch_up(Warp *w)
{
    Worker *worker = w->worker;
    worker->ahead |= 1u << w->warp_id;
    suspend(worker, w);
    w->ahead = 0;
}

void sg_barrier_arrive(Warp *w, uint32_t site, uint32_t id, uint32_t threads, uint32_t mask)
{
    Worker *worker = w->worker;
    if (arrive(worker, w, site, id, threads, mask)) complete_barrier(worker, id);
}

void sg_stop(Warp *w, uint32_t line)
{
    if (!w->worker->job->stopped_at) w->worker->job->stopped_at = line;
    fault_leave(w->worker);
}

int32_t sg_first_waiting(Warp *w, const uint32_t *waiting, const uint32_t *blocks, uint32_t count,
                         uint32_t line)
{
    if (*w->stop) sg_stop(w, line);
    for (uint32_t i = 0; i < count; i++)
        if (waiting[blocks[i]]) return (int32_t)blocks[i];
    return -1;
}
