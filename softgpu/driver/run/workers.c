/* Worker threads, which share the blocks of a launch; the time limit; Ctrl-C.

   Workers sleep between launches. The launching thread is worker 0 and takes part. */
#define _GNU_SOURCE
#include <errno.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include "driver.h"

#define WATCH_NS 20000000 /* how often the watchdog looks while launches happen */

typedef struct {
    Worker worker;
    sem_t wake;
    uint32_t latest; /* the grid of its last launch: a wake for one before may come late */
} Thread;

static Thread *threads[MOST_WORKERS];
static unsigned started; /* threads that exist, worker 0 included */
static unsigned option_threads;
static bool option_deterministic;
static double option_timeout_s = 300, environment_timeout_s = 300;

static Job *shared_job; /* what woken workers take part in, while open */
static int open_to_join, taking_part;
static pthread_mutex_t finish_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t finished = PTHREAD_COND_INITIALIZER;

/* ---- time limit ---- */

static pthread_mutex_t watch_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t watch_wake;
static Job *watched;
static double watched_since, watched_limit;
static uint64_t launches;
static bool watchdog_started, watchdog_idle;

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
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
        if (!watched || now_s() - watched_since < watched_limit) continue;
        char text[600];
        snprintf(text, sizeof text, "kernel %s ran longer than %g s and was stopped%s",
                 watched->kernel->shown, watched_limit,
                 watched_limit < environment_timeout_s
                     ? ""
                     : "; the environment variable SOFTGPU_TIMEOUT (seconds) sets the limit");
        fault_record(watched, CUDA_ERROR_LAUNCH_TIMEOUT, text);
        watched_limit = 1e30;
    }
    return NULL;
}

/* Starts a thread that no signal disturbs. */
static bool start_thread(void *(*body)(void *), void *argument)
{
    sigset_t all, before;
    pthread_attr_t attributes;
    pthread_t id;
    sigfillset(&all);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 256 << 10);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int result = pthread_create(&id, &attributes, body, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return !result;
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
        watchdog_started = start_thread(watch, NULL);
    }
    watched = job;
    watched_since = now_s();
    watched_limit = option_timeout_s > 0 ? option_timeout_s : 1e30;
    launches++;
    if (watchdog_idle) pthread_cond_signal(&watch_wake);
    pthread_mutex_unlock(&watch_mutex);
}

static void watch_end(void)
{
    pthread_mutex_lock(&watch_mutex);
    watched = NULL;
    pthread_mutex_unlock(&watch_mutex);
}

/* ---- Ctrl-C: stop the launch, then let the previous handler do its work ---- */

static struct sigaction previous;
static Job *volatile interruptible;

static void on_interrupt(int number, siginfo_t *info, void *context)
{
    Job *job = interruptible;
    if (job) {
        job->interrupted = 1;
        job->stop = 1;
    }
    if (previous.sa_flags & SA_SIGINFO) previous.sa_sigaction(number, info, context);
    else previous.sa_handler(number);
}

static bool interrupts_begin(Job *job)
{
    if (sigaction(SIGINT, NULL, &previous)) return false;
    if (!(previous.sa_flags & SA_SIGINFO) &&
        (previous.sa_handler == SIG_DFL || previous.sa_handler == SIG_IGN))
        return false;
    struct sigaction ours = previous;
    ours.sa_sigaction = on_interrupt;
    ours.sa_flags |= SA_SIGINFO;
    interruptible = job;
    return !sigaction(SIGINT, &ours, NULL);
}

static void interrupts_end(void)
{
    sigaction(SIGINT, &previous, NULL);
    interruptible = NULL;
}

/* ---- workers ---- */

static void take_part(Worker *worker, Job *job)
{
#if defined(__x86_64__)
    unsigned mode = _mm_getcsr();
    _mm_setcsr(0x1f80); /* round to nearest, subnormals kept, no traps */
#endif
    worker->home = worker;
    worker->job = job;
    if (job->cluster_blocks > 1) clusters_run(worker);
    else if (block_prepare(worker, job)) seats_run(worker);
    else fault_record(job, CUDA_ERROR_OUT_OF_MEMORY, "no memory for the block's own memory");
#if defined(__x86_64__)
    _mm_setcsr(mode);
#endif
}

/* Workers wake each other as a tree: i wakes 2i+1 and 2i+2. */
static void wake_next(unsigned index, unsigned workers)
{
    for (unsigned next = 2 * index + 1; next <= 2 * index + 2 && next < workers; next++)
        sem_post(&threads[next]->wake);
}

static void *work(void *argument)
{
    Thread *self = argument;
    for (;;) {
        while (sem_wait(&self->wake)) {}
        __atomic_fetch_add(&taking_part, 1, __ATOMIC_SEQ_CST);
        if (__atomic_load_n(&open_to_join, __ATOMIC_SEQ_CST)) {
            Job *job = shared_job;
            wake_next(self->worker.index, job->workers);
            if (self->worker.index < job->workers && self->latest != job->grid_id) {
                self->latest = job->grid_id;
                take_part(&self->worker, job);
            }
        }
        if (__atomic_sub_fetch(&taking_part, 1, __ATOMIC_SEQ_CST) == 0 &&
            !__atomic_load_n(&open_to_join, __ATOMIC_SEQ_CST)) {
            pthread_mutex_lock(&finish_mutex);
            pthread_cond_signal(&finished);
            pthread_mutex_unlock(&finish_mutex);
        }
    }
    return NULL;
}

static void start_workers(unsigned wanted)
{
    while (started < wanted) {
        Thread *thread = threads[started];
        if (!thread && !(thread = calloc(1, sizeof *thread))) return;
        threads[started] = thread;
        thread->worker.index = started;
        sem_init(&thread->wake, 0, 0);
        if (started > 0 && !start_thread(work, thread)) return;
        started++;
    }
}

static void pause_briefly(void)
{
#if defined(__x86_64__)
    _mm_pause();
#endif
}

/* No worker can be inside the job after this. */
static void wait_for_workers(void)
{
    __atomic_store_n(&open_to_join, 0, __ATOMIC_SEQ_CST);
    for (int spin = 0; spin < 2000 && __atomic_load_n(&taking_part, __ATOMIC_SEQ_CST); spin++)
        pause_briefly();
    if (!__atomic_load_n(&taking_part, __ATOMIC_SEQ_CST)) return;
    pthread_mutex_lock(&finish_mutex);
    while (__atomic_load_n(&taking_part, __ATOMIC_SEQ_CST))
        pthread_cond_wait(&finished, &finish_mutex);
    pthread_mutex_unlock(&finish_mutex);
}

CUresult workers_run(Job *job)
{
    unsigned wanted = option_deterministic || job->in_order ? 1 : option_threads;
    if (!wanted) wanted = usable_cores();
    if (wanted > MOST_WORKERS) wanted = MOST_WORKERS;
    if (wanted > job->blocks / job->cluster_blocks) wanted = job->blocks / job->cluster_blocks;
    start_workers(wanted);
    if (!started) return CUDA_ERROR_OUT_OF_MEMORY;
    job->workers = wanted < started ? wanted : started;
    job->chunk = job->blocks / (job->workers * 32);
    if (job->chunk < 1 || job->cooperative || job->only || job->seed) job->chunk = 1;
    if (job->chunk > 256) job->chunk = 256;
    bool interrupts = interrupts_begin(job);
    watch_begin(job);
    if (job->workers > 1) {
        shared_job = job;
        __atomic_store_n(&open_to_join, 1, __ATOMIC_SEQ_CST);
        wake_next(0, job->workers);
    }
    take_part(&threads[0]->worker, job);
    if (job->workers > 1) wait_for_workers();
    watch_end();
    if (interrupts) interrupts_end();
    return job->fault;
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
    driver_lock();
    pthread_mutex_lock(&watch_mutex);
}

static void after_fork_in_parent(void)
{
    pthread_mutex_unlock(&watch_mutex);
    driver_unlock();
}

static void after_fork_in_child(void)
{
    started = started ? 1 : 0;
    taking_part = 0;
    watchdog_started = watchdog_idle = false;
    after_fork_in_parent();
}

static void __attribute__((constructor)) heed_forks(void)
{ pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child); }
