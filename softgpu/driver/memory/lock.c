/* The driver's lock: a readers-writer lock whose readers pause when a writer wants it, and who then take
   turns with the writers (memory.h says who holds it when).

   Terms: readers-writer lock (Courtois et al. 1971; docs/terms.md). */
#include "internal.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned readers; /* that run now */
static unsigned wanting; /* writers that wait for the readers to pause */
static unsigned pausing; /* readers that wait for a writer to have had its turn */
static unsigned due;     /* of these, those that go on before the next writer */
static uint64_t turn;    /* of writers */
static pthread_cond_t all_pause = PTHREAD_COND_INITIALIZER, go_on = PTHREAD_COND_INITIALIZER;

void driver_lock(void)
{
    pthread_mutex_lock(&lock);
    if (!readers && !due) return;
    __atomic_add_fetch(&wanting, 1, __ATOMIC_RELAXED);
    while (readers || due) pthread_cond_wait(&all_pause, &lock);
    __atomic_sub_fetch(&wanting, 1, __ATOMIC_RELAXED);
}

void driver_lock_beside(void) { pthread_mutex_lock(&lock); }

void driver_unlock(void)
{
    if (pausing && !readers) {
        due = pausing;
        turn++;
        pthread_cond_broadcast(&go_on);
    }
    pthread_mutex_unlock(&lock);
}

bool driver_wanted(void) { return __atomic_load_n(&wanting, __ATOMIC_RELAXED); }

/* With the lock, which is given up meanwhile: until somebody who wants it has had it. */
static void wait_for_turn(void)
{
    const uint64_t seen = turn;
    pausing++;
    while (turn == seen) pthread_cond_wait(&go_on, &lock);
    pausing--;
    due--;
}

void driver_read(void)
{
    pthread_mutex_lock(&lock);
    if (wanting) wait_for_turn();
    readers++;
    pthread_mutex_unlock(&lock);
}

static void stop_reading(void)
{
    if (!--readers) pthread_cond_broadcast(&all_pause);
}

void driver_read_end(void)
{
    pthread_mutex_lock(&lock);
    stop_reading();
    pthread_mutex_unlock(&lock);
}

void driver_forget(void)
{
    pausing = due = wanting = 0;
    all_pause = go_on = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
}

void driver_pause(void)
{
    pthread_mutex_lock(&lock);
    if (wanting) {
        stop_reading();
        wait_for_turn();
        readers++;
    }
    pthread_mutex_unlock(&lock);
}
