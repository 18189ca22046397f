/* Blocks side by side. A thread runs one block at a time, but blocks may wait for each other: at a
   barrier of the whole grid, for a flag that a later block sets. A block that can only wait steps
   aside, and its thread opens a further seat, for the next block; from then on, its seats have
   turns. As many blocks have seats at once as an H200 would hold.

   Terms: resident blocks, cooperative scheduling (Gupta et al. 2012; docs/terms.md). */
#define _GNU_SOURCE
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "internal.h"

#define PATIENCE 4096 /* turns in vain before blocks that nobody calls cooperative get seats */
#define WATCHED_PATIENCE 256 /* where turns are slow: that of a sanitized launch */
#define LITTLE_PATIENCE 16   /* where a launch is known to wait for others beside it */
/* Turns in vain that a launch may need for itself alone; where others keep this machine's cores busy,
   fewer and some time tell as much. */
enum { LONG = 4 * PATIENCE, SOME = 64 };
#define SOME_SECONDS 0.02
#define KEEP_LOCAL (16u << 20) /* more local memory than this goes back after a launch */

bool seats_another_is_due(const Worker *home)
{
    const Job *job = home->job;
    uint32_t patience = job->cooperative ? 1
                        : job->waits     ? LITTLE_PATIENCE
                        : job->enter     ? WATCHED_PATIENCE
                                         : PATIENCE;
    if (home->in_vain < patience) return false;
    if (__atomic_load_n(&job->seats, __ATOMIC_RELAXED) >= job->resident) return false;
    return home->dealt < home->dealt_end ||
           __atomic_load_n(&job->next_block, __ATOMIC_RELAXED) < job->blocks;
}

/* Where launches run beside each other. One that has waited for long lets the call that made it
   return: what it waits for may have to be launched yet. */
static void let_others_go_on(Worker *worker)
{
    Job *job = worker->job;
    if (driver_wanted()) {
        driver_pause();
        block_look_again(worker);
    }
    __atomic_store_n(&job->waits_at, worker->home->line, __ATOMIC_RELAXED);
    if (__atomic_load_n(&job->waits, __ATOMIC_RELAXED)) {
        sched_yield();
        return;
    }
    const uint32_t turns = ++worker->home->waited;
    if (turns < LONG && (turns % SOME || seconds_now() < job->since + SOME_SECONDS)) return;
    __atomic_store_n(&job->waits, true, __ATOMIC_RELAXED);
    task_waits(job->task);
}

/* All warps of a block had their turn, and can only wait. */
static void wait_for_others(Worker *worker)
{
    Worker *home = worker->home;
    const Job *job = worker->job;
    home->in_vain++;
    if (job->task) let_others_go_on(worker);
    if (job->workers > 1 && home->in_vain % home->seats == 0) sched_yield();
    if (home->seats > 1 || seats_another_is_due(home)) block_step_aside(worker);
}

void sg_yield(Warp *w, uint32_t line)
{
    w->worker->home->line = line;
    w->worker->spinning |= 1u << w->warp_id;
    if (block_ends_round(w)) {
        wait_for_others(w->worker);
        if (!w->worker->ready) return;
    }
    block_pass_turn(w);
}

/* ---- the ring ---- */

void seats_enter(Worker *worker)
{
    worker->has_block = false;
    worker->home->seats++;
    worker->home->in_vain = 0;
    __atomic_fetch_add(&worker->job->seats, 1, __ATOMIC_RELAXED);
}

void seats_leave(Worker *worker)
{
    Job *job = worker->job;
    worker->home->seats--;
    __atomic_fetch_sub(&job->seats, 1, __ATOMIC_RELAXED);
    if (worker->local_room > KEEP_LOCAL) madvise(worker->local, worker->local_room, MADV_DONTNEED);
    for (uint32_t i = 0; job->counters && i < job->counter_count; i++)
        __atomic_fetch_add(&job->counters[i], worker->counters[i], __ATOMIC_RELAXED);
}

static void sit_down(Worker *worker, Worker *before)
{
    worker->next = before->next;
    before->next = worker;
    seats_enter(worker);
}

static void stand_up(Worker *worker, Worker *before)
{
    Worker *home = worker->home;
    before->next = worker->next;
    seats_leave(worker);
    if (worker == home) return;
    worker->next = home->spare;
    home->spare = worker;
}

static bool open_seat(Worker *before)
{
    Worker *home = before->home, *worker = home->spare;
    if (worker) home->spare = worker->next;
    else if (!(worker = calloc(1, sizeof *worker))) return false;
    worker->home = home;
    worker->index = home->index;
    if (block_prepare(worker, home->job)) {
        sit_down(worker, before);
        return true;
    }
    worker->next = home->spare;
    home->spare = worker;
    return false;
}

void seats_run(Worker *home)
{
    Job *job = home->job;
    home->dealt = home->dealt_end = 0;
    home->seats = 0;
    home->next = home;
    sit_down(home, home);
    Worker *before = home, *worker = home;
    bool room = true;
    while (room && home->seats) {
        room = block_run(worker);
        if (job->stop) break;
        bool ended = !worker->steps_aside, last = home->seats == 1 || !worker->has_block;
        if (ended && last) {
            stand_up(worker, before);
        } else {
            if (ended)
                worker->has_block = false; /* the others have their turn before the next block */
            else if (seats_another_is_due(home)) room = open_seat(worker) || !job->cooperative;
            before = worker;
        }
        worker = before->next;
    }
    if (!room)
        fault_record(job, CUDA_ERROR_OUT_OF_MEMORY, FAULT_NO_MEMORY, NO_SITE, WORDS_NO_MEMORY,
                     "blocks side by side");
    while (home->seats) { /* the launch is abandoned */
        block_forget(before->next);
        stand_up(before->next, before);
    }
}
