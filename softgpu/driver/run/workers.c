/* Worker threads, which share the blocks of a launch; the time limit.

   Workers sleep between launches. The launching thread is worker 0 and takes part. Launches that run
   beside each other have a crew of workers each. */
#define _GNU_SOURCE
#include <errno.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "internal.h"

#define LOOK_AFTER_S 5    /* how long a launch lasts before it is asked how long it will */
#define LONG_S 20         /* what is told to the user then */
#define WATCH_NS 20000000 /* how often the watchdog looks while launches happen */

typedef struct {
    Worker worker;
    struct Crew *crew;
    sem_t wake;
    uint32_t latest; /* the grid of its last launch: a wake for one before may come late */
} Thread;

typedef struct Crew {
    struct Crew *next; /* of those that have nothing to do */
    Thread *threads[MOST_WORKERS];
    unsigned started; /* threads that exist, worker 0 included */
    Job *job;         /* what woken workers take part in, while open */
    int open_to_join, taking_part;
    pthread_mutex_t mutex;
    pthread_cond_t finished;
} Crew;

static Crew first_crew = {.mutex = PTHREAD_MUTEX_INITIALIZER, .finished = PTHREAD_COND_INITIALIZER};
static Crew *idle_crews; /* except the first, which the lock belongs to */
static unsigned option_threads;
static bool option_deterministic;
static double option_timeout_s = 300, environment_timeout_s = 300;
enum { STACK = 256 << 10 };

/* ---- time limit ---- */

static pthread_mutex_t watch_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t watch_wake;
static Job *watched; /* all that run */
static uint64_t launches;
static bool watchdog_started, watchdog_idle;
static bool ending; /* nothing is to run any more */

/* What a thread has computed for a launch: the limit is no wall time, in which a busy machine's other
   programs have a share. Only a launch that waits for another, and so may compute nothing, is
   limited by wall time. */
typedef struct Clock {
    struct Clock *next;
    pthread_t thread;
    double since; /* its time when the watchdog first saw it, or below 0 */
} Clock;

static void clock_begin(Job *job, Clock *clock)
{
    pthread_mutex_lock(&watch_mutex);
    *clock = (Clock){.next = job->clocks, .thread = pthread_self(), .since = -1};
    job->clocks = clock;
    pthread_mutex_unlock(&watch_mutex);
}

static void clock_end(Job *job, Clock *clock)
{
    pthread_mutex_lock(&watch_mutex);
    Clock **at = &job->clocks;
    while (*at != clock) at = &(*at)->next;
    *at = clock->next;
    pthread_mutex_unlock(&watch_mutex);
}

/* What counts for a launch's limit. */
static double seconds_counted(Job *job)
{
    double most = __atomic_load_n(&job->waits, __ATOMIC_RELAXED) ? seconds_now() - job->since : 0;
    for (Clock *clock = job->clocks; clock; clock = clock->next) {
        clockid_t id;
        struct timespec t;
        if (pthread_getcpuclockid(clock->thread, &id) || clock_gettime(id, &t)) continue;
        const double now = t.tv_sec + t.tv_nsec * 1e-9;
        if (clock->since < 0) clock->since = now;
        if (now - clock->since > most) most = now - clock->since;
    }
    return most;
}

/* Which other launches wait for others, too. */
static void tell_others(Job *job)
{
    size_t at = 0;
    for (const Job *other = watched; other && at < sizeof job->others; other = other->watched) {
        if (other == job || !__atomic_load_n(&other->waits, __ATOMIC_RELAXED)) continue;
        at += snprintf(job->others + at, sizeof job->others - at,
                       "; kernel %s on device %d waited meanwhile", other->kernel->shown,
                       other->kernel->module->owner->device);
        const uint32_t line = __atomic_load_n(&other->waits_at, __ATOMIC_RELAXED);
        if (at < sizeof job->others && line)
            at +=
                snprintf(job->others + at, sizeof job->others - at, ", in a loop at line %u", line);
    }
}

static void heed_limit(Job *job)
{
    if (seconds_counted(job) < job->limit) return;
    char where[32] = "";
    if (device_count() > 1)
        snprintf(where, sizeof where, " on device %d", job->kernel->module->owner->device);
    tell_others(job);
    fault_record(job, CUDA_ERROR_LAUNCH_TIMEOUT, FAULT_TIME_LIMIT, NO_SITE, WORDS_TIME_LIMIT,
                 job->limit, where,
                 job->limit < environment_timeout_s
                     ? ""
                     : "; the environment variable SOFTGPU_TIMEOUT (seconds) sets the limit");
    job->limit = 1e30;
}

/* Tells once that it takes long, as far as its blocks so far let know. */
static void tell_length(Job *job)
{
    const double passed = seconds_now() - job->since;
    if (job->length_told || passed < LOOK_AFTER_S) return;
    const uint64_t dealt = MIN(__atomic_load_n(&job->next_block, __ATOMIC_RELAXED), job->blocks);
    const uint64_t seats = __atomic_load_n(&job->seats, __ATOMIC_RELAXED);
    const uint64_t at_work = job->workers * job->chunk + seats;
    const uint64_t ended = dealt > at_work ? dealt - at_work : 0;
    const double all = ended ? passed * job->blocks / ended : passed;
    if (all < LONG_S) return;
    job->length_told = true;
    if (ended)
        say_to_user("kernel %s takes about %.0f s: %.0f s for %llu of its %llu blocks so far",
                    job->kernel->shown, all, passed, (unsigned long long)ended,
                    (unsigned long long)job->blocks);
    else
        say_to_user("kernel %s has run for %.0f s, and has not finished its first blocks of %llu",
                    job->kernel->shown, passed, (unsigned long long)job->blocks);
}

static void stop(Job *job)
{
    job->interrupted = 1;
    job->stop = 1;
}

static void *watch(void *unused)
{
    (void)unused;
    uint64_t seen = 0;
    unsigned quiet = 0;
    pthread_mutex_lock(&watch_mutex);
    for (;;) {
        if (quiet > 50) {
            watchdog_idle = true;
            pthread_cond_wait(&watch_wake, &watch_mutex);
            watchdog_idle = false;
            quiet = 0;
        }
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += WATCH_NS;
        if (until.tv_nsec >= 1000000000) until.tv_sec++, until.tv_nsec -= 1000000000;
        pthread_cond_timedwait(&watch_wake, &watch_mutex, &until);
        quiet = watched || launches != seen ? 0 : quiet + 1;
        seen = launches;
        const bool interrupted = interrupts_happened();
        for (Job *job = watched; job; job = job->watched) {
            if (interrupted && job->task) stop(job);
            heed_limit(job);
            tell_length(job);
        }
    }
    return NULL;
}

static void watch_begin(Job *job)
{
    pthread_mutex_lock(&watch_mutex);
    if (!watchdog_started) {
        pthread_condattr_t attributes;
        pthread_condattr_init(&attributes);
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
        pthread_cond_init(&watch_wake, &attributes);
        pthread_condattr_destroy(&attributes);
        watchdog_started = thread_start(watch, NULL, STACK);
    }
    job->since = seconds_now();
    job->limit = option_timeout_s > 0 ? option_timeout_s : 1e30;
    job->watched = watched;
    watched = job;
    if (ending && job->task) stop(job);
    launches++;
    if (watchdog_idle) pthread_cond_signal(&watch_wake);
    pthread_mutex_unlock(&watch_mutex);
}

static void watch_end(Job *job)
{
    pthread_mutex_lock(&watch_mutex);
    Job **at = &watched;
    while (*at != job) at = &(*at)->watched;
    *at = job->watched;
    pthread_mutex_unlock(&watch_mutex);
}

void sg_end_launches(void)
{
    pthread_mutex_lock(&watch_mutex);
    ending = true;
    for (Job *job = watched; job; job = job->watched)
        if (job->task) stop(job);
    pthread_mutex_unlock(&watch_mutex);
    tasks_end();
}

/* ---- workers ---- */

static void take_part(Worker *worker, Job *job)
{
    FloatMode mode = float_mode();
    Clock clock;
    clock_begin(job, &clock);
    set_float_mode(PLAIN_FLOATS);
    worker->home = worker;
    worker->job = job;
    worker->waited = 0;
    if (job->task) driver_read();
    if (job->cluster_blocks > 1) clusters_run(worker);
    else if (block_prepare(worker, job)) seats_run(worker);
    else
        fault_record(job, CUDA_ERROR_OUT_OF_MEMORY, FAULT_NO_MEMORY, NO_SITE, WORDS_NO_MEMORY,
                     "the block's own memory");
    if (job->task) driver_read_end();
    set_float_mode(mode);
    clock_end(job, &clock);
}

/* Workers wake each other as a tree: i wakes 2i+1 and 2i+2. */
static void wake_next(const Crew *crew, unsigned index, unsigned workers)
{
    for (unsigned next = 2 * index + 1; next <= 2 * index + 2 && next < workers; next++)
        sem_post(&crew->threads[next]->wake);
}

static void *work(void *argument)
{
    Thread *self = argument;
    Crew *crew = self->crew;
    for (;;) {
        while (sem_wait(&self->wake)) {}
        __atomic_fetch_add(&crew->taking_part, 1, __ATOMIC_SEQ_CST);
        if (__atomic_load_n(&crew->open_to_join, __ATOMIC_SEQ_CST)) {
            Job *job = crew->job;
            wake_next(crew, self->worker.index, job->workers);
            if (self->worker.index < job->workers && self->latest != job->grid_id) {
                self->latest = job->grid_id;
                take_part(&self->worker, job);
            }
        }
        if (__atomic_sub_fetch(&crew->taking_part, 1, __ATOMIC_SEQ_CST) == 0 &&
            !__atomic_load_n(&crew->open_to_join, __ATOMIC_SEQ_CST)) {
            pthread_mutex_lock(&crew->mutex);
            pthread_cond_signal(&crew->finished);
            pthread_mutex_unlock(&crew->mutex);
        }
    }
    return NULL;
}

static void start_workers(Crew *crew, unsigned wanted)
{
    while (crew->started < wanted) {
        Thread *thread = crew->threads[crew->started];
        if (!thread && !(thread = calloc(1, sizeof *thread))) return;
        crew->threads[crew->started] = thread;
        thread->crew = crew;
        thread->worker.index = crew->started;
        sem_init(&thread->wake, 0, 0);
        if (crew->started > 0 && !thread_start(work, thread, STACK)) return;
        crew->started++;
    }
}

/* No worker can be inside the job after this. */
static void wait_for_workers(Crew *crew)
{
    __atomic_store_n(&crew->open_to_join, 0, __ATOMIC_SEQ_CST);
    for (int spin = 0; spin < 2000 && __atomic_load_n(&crew->taking_part, __ATOMIC_SEQ_CST); spin++)
        pause_briefly();
    if (!__atomic_load_n(&crew->taking_part, __ATOMIC_SEQ_CST)) return;
    pthread_mutex_lock(&crew->mutex);
    while (__atomic_load_n(&crew->taking_part, __ATOMIC_SEQ_CST))
        pthread_cond_wait(&crew->finished, &crew->mutex);
    pthread_mutex_unlock(&crew->mutex);
}

static CUresult run_with(Crew *crew, Job *job)
{
    unsigned wanted = option_deterministic || job->in_order ? 1 : option_threads;
    if (!wanted) wanted = usable_cores();
    if (wanted > MOST_WORKERS) wanted = MOST_WORKERS;
    if (wanted > job->blocks / job->cluster_blocks) wanted = job->blocks / job->cluster_blocks;
    start_workers(crew, wanted);
    if (!crew->started) return CUDA_ERROR_OUT_OF_MEMORY;
    job->workers = wanted < crew->started ? wanted : crew->started;
    job->alone = job->workers == 1 && !job->task && !memory_is_reached();
    job->chunk = job->blocks / (job->workers * 32);
    if (job->chunk < 1 || job->cooperative || job->only || job->seed) job->chunk = 1;
    if (job->chunk > 256) job->chunk = 256;
    if (!job->task) interrupts_begin(&job->interrupted, &job->stop);
    watch_begin(job);
    if (job->workers > 1) {
        crew->job = job;
        __atomic_store_n(&crew->open_to_join, 1, __ATOMIC_SEQ_CST);
        wake_next(crew, 0, job->workers);
    }
    take_part(&crew->threads[0]->worker, job);
    if (job->workers > 1) wait_for_workers(crew);
    watch_end(job);
    if (!job->task) interrupts_end(true);
    return job->fault;
}

/* An idle crew, or a new one; NULL: no memory. */
static Crew *find_crew(void)
{
    driver_lock_beside();
    Crew *crew = idle_crews;
    if (crew) idle_crews = crew->next;
    driver_unlock();
    if (crew || !(crew = calloc(1, sizeof *crew))) return crew;
    pthread_mutex_init(&crew->mutex, NULL);
    pthread_cond_init(&crew->finished, NULL);
    return crew;
}

CUresult workers_run(Job *job)
{
    if (!job->task) return run_with(&first_crew, job);
    Crew *crew = find_crew();
    if (!crew) return CUDA_ERROR_OUT_OF_MEMORY;
    CUresult result = run_with(crew, job);
    driver_lock_beside();
    crew->next = idle_crews;
    idle_crews = crew;
    driver_unlock();
    return result;
}

void sg_options(int thread_count, int deterministic, double timeout_s)
{
    driver_lock();
    option_threads = thread_count > 0 ? thread_count : 0;
    option_deterministic = deterministic;
    option_timeout_s = environment_timeout_s = timeout_s;
    driver_unlock();
}

double sg_time_limit(double seconds)
{
    driver_lock();
    double before = option_timeout_s;
    option_timeout_s = seconds;
    driver_unlock();
    return before;
}

/* ---- a child of fork must find the locks free; it starts worker threads of its own ---- */

static void before_fork(void)
{
    driver_lock(); /* whose readers pause, and may need the lock of the tasks before */
    tasks_lock();
    pthread_mutex_lock(&watch_mutex);
}

static void after_fork_in_parent(void)
{
    pthread_mutex_unlock(&watch_mutex);
    tasks_unlock();
    driver_unlock();
}

static void after_fork_in_child(void)
{
    first_crew.started = first_crew.started ? 1 : 0;
    first_crew.taking_part = 0;
    idle_crews = NULL;
    watched = NULL;
    watchdog_started = watchdog_idle = false;
    tasks_forget();
    driver_forget();
    after_fork_in_parent();
}

static void __attribute__((constructor)) heed_forks(void)
{ pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child); }
