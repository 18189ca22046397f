/* What streams have yet to do. With one device, every call has finished when it returns. With several,
   a kernel may wait for one of another device, which is launched later: the call that launched it
   returns, and what its stream is asked for from then on becomes tasks. Threads of their own run
   these, each once all that comes before it has ended. */
#include <string.h>

#include "internal.h"

enum { MOST_THREADS = 64, STACK = 8 << 20, WORDS = 3000 };

typedef struct Task {
    struct Task *next;
    StreamPlace place;
    TaskReady ready; /* or NULL */
    TaskBody body;
    void *data;
    bool taken;    /* by a thread, which runs it */
    bool attended; /* the call that added it has not returned */
    bool waits;    /* which it may now */
    bool ended;
    CUresult result;
    char *words; /* that go with it */
} Task;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static Task *first, **end = &first; /* as they were added; those that have ended are gone */
static unsigned threads, busy;
static _Thread_local Task *running;

/* What went wrong after the call had returned, until a call tells it. */
static struct {
    CUresult code;
    char words[WORDS];
} errors[MOST_DEVICES];

void tasks_lock(void) { pthread_mutex_lock(&mutex); }

void tasks_unlock(void)
{
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
}

static bool none(void) { return !__atomic_load_n(&first, __ATOMIC_ACQUIRE); }

/* ---- which comes first ---- */

static bool comes_after(const StreamPlace *later, const StreamPlace *before)
{
    if (later->context != before->context) return false;
    if (later->stream == before->stream) return true;
    return (!later->stream && before->blocking) || (!before->stream && later->blocking);
}

static bool is_ready(const Task *task)
{
    for (const Task *t = first; t != task; t = t->next)
        if (comes_after(&task->place, &t->place)) return false;
    return !task->ready || task->ready(task->data);
}

static Task *next_ready(void)
{
    Task *task = first;
    while (task && (task->taken || !is_ready(task))) task = task->next;
    return task;
}

/* ---- running them ---- */

static void *work(void *unused);

/* One more thread, if all are busy and there is something to do. */
static void hire(void)
{
    if (busy < threads || threads == MOST_THREADS || !next_ready()) return;
    threads += thread_start(work, NULL, STACK);
}

static void take_out(const Task *task)
{
    Task **at = &first;
    while (*at != task) at = &(*at)->next;
    __atomic_store_n(at, task->next, __ATOMIC_RELEASE);
    if (end == &task->next) end = at;
}

/* Its error is there before it is gone: who waits for it, without the lock, asks for that next. */
static void finish(Task *task, CUresult result)
{
    const char *words = result ? sg_error_detail() : "";
    if (result && !task->attended && !errors[task->place.device].code) {
        errors[task->place.device].code = result;
        strncpy(errors[task->place.device].words, words, WORDS - 1);
    }
    take_out(task);
    free(task->data);
    task->ended = true;
    task->result = result;
    task->words = result ? strdup(words) : NULL;
    if (task->attended) return;
    free(task->words);
    free(task);
}

static void *work(void *unused)
{
    pthread_mutex_lock(&mutex);
    for (;;) {
        Task *task = next_ready();
        if (!task) {
            pthread_cond_wait(&changed, &mutex);
            continue;
        }
        task->taken = true;
        busy++;
        hire();
        pthread_mutex_unlock(&mutex);
        running = task;
        clear_detail();
        CUresult result = current_push(task->place.context);
        if (!result) {
            result = task->body(task->data);
            current_pop();
        }
        running = NULL;
        pthread_mutex_lock(&mutex);
        busy--;
        finish(task, result);
        pthread_cond_broadcast(&changed);
    }
    return unused;
}

/* ---- what calls ask for ---- */

bool tasks_before(const StreamPlace *place)
{
    if (none()) return false;
    pthread_mutex_lock(&mutex);
    const Task *task = first;
    while (task && !comes_after(place, &task->place)) task = task->next;
    pthread_mutex_unlock(&mutex);
    return task;
}

/* With the lock; NULL: no memory, and the data is freed. */
static Task *add(const StreamPlace *place, TaskReady ready, TaskBody body, void *data)
{
    Task *task = calloc(1, sizeof *task);
    if (!task) {
        free(data);
        return NULL;
    }
    *task = (Task){.place = *place, .ready = ready, .body = body, .data = data};
    __atomic_store_n(end, task, __ATOMIC_RELEASE); /* none() looks at it without the lock */
    end = &task->next;
    hire();
    pthread_cond_broadcast(&changed);
    if (threads) return task;
    take_out(task);
    free(data);
    free(task);
    return NULL;
}

CUresult tasks_add(const StreamPlace *place, TaskReady ready, TaskBody body, void *data)
{
    pthread_mutex_lock(&mutex);
    bool added = add(place, ready, body, data);
    pthread_mutex_unlock(&mutex);
    return added ? CUDA_SUCCESS : fail(CUDA_ERROR_OUT_OF_MEMORY, NULL);
}

CUresult tasks_attend(const StreamPlace *place, TaskBody body, void *data)
{
    interrupts_begin(NULL, NULL);
    pthread_mutex_lock(&mutex);
    Task *task = add(place, NULL, body, data);
    if (task) task->attended = true;
    while (task && !task->ended && !task->waits) pthread_cond_wait(&changed, &mutex);
    bool ended = task && task->ended;
    if (task) task->attended = false;
    pthread_mutex_unlock(&mutex);
    interrupts_end(false);
    if (!task) return fail(CUDA_ERROR_OUT_OF_MEMORY, NULL);
    if (!ended) return CUDA_SUCCESS;
    CUresult result = task->result;
    if (result) fail(result, "%s", task->words ? task->words : "");
    free(task->words);
    free(task);
    return result;
}

void *task_running(void) { return running; }

void task_waits(void *task)
{
    tasks_lock();
    ((Task *)task)->waits = true;
    tasks_unlock();
}

/* ---- waiting for them ---- */

/* Whether there is something that who synchronises with a stream, or with a context, waits for. */
static bool is_left(const StreamPlace *place, bool all)
{
    const Task *t = first;
    for (; t; t = t->next)
        if (t->place.context == place->context &&
            (all || t->place.stream == place->stream || (!place->stream && t->place.blocking)))
            break;
    return t;
}

bool tasks_left(const StreamPlace *place)
{
    if (none()) return false;
    pthread_mutex_lock(&mutex);
    bool left = is_left(place, false);
    pthread_mutex_unlock(&mutex);
    return left;
}

static void wait_while_left(const StreamPlace *place, bool all)
{
    if (none() || running) return; /* what a task does itself comes next in any case */
    interrupts_begin(NULL, NULL);
    pthread_mutex_lock(&mutex);
    while (is_left(place, all)) pthread_cond_wait(&changed, &mutex);
    pthread_mutex_unlock(&mutex);
    interrupts_end(false);
}

void tasks_wait(const StreamPlace *place) { wait_while_left(place, false); }

void tasks_wait_all(void *context) { wait_while_left(&(StreamPlace){.context = context}, true); }

void tasks_wait_until(TaskReady ready, const void *data)
{
    if (none() || running) return;
    interrupts_begin(NULL, NULL);
    pthread_mutex_lock(&mutex);
    while (!ready(data)) pthread_cond_wait(&changed, &mutex);
    pthread_mutex_unlock(&mutex);
    interrupts_end(false);
}

CUresult tasks_error(int device)
{
    if (!__atomic_load_n(&errors[device].code, __ATOMIC_RELAXED)) return CUDA_SUCCESS;
    pthread_mutex_lock(&mutex);
    CUresult code = errors[device].code;
    errors[device].code = CUDA_SUCCESS;
    if (code) fail(code, "%s", errors[device].words);
    pthread_mutex_unlock(&mutex);
    return code;
}

void tasks_end(void)
{
    pthread_mutex_lock(&mutex);
    while (busy) pthread_cond_wait(&changed, &mutex);
    pthread_mutex_unlock(&mutex);
}

/* In a child of fork none of them goes on. */
void tasks_forget(void)
{
    first = NULL;
    end = &first;
    threads = busy = 0;
    changed = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
}
