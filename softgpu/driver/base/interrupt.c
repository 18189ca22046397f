/* Ctrl-C: what runs is stopped, then the previous handler does its work. */
#define _GNU_SOURCE
#include <signal.h>

#include "base/base.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static unsigned waiting; /* threads that Ctrl-C should let go on */
static bool ours;
static struct sigaction previous;
static volatile int happened;
static volatile unsigned times;
static volatile int *volatile words[2];

static void on_interrupt(int number, siginfo_t *info, void *context)
{
    happened = 1;
    times++;
    for (int i = 0; i < 2; i++) {
        volatile int *word = words[i];
        if (word) *word = 1;
    }
    if (previous.sa_flags & SA_SIGINFO) previous.sa_sigaction(number, info, context);
    else previous.sa_handler(number);
}

static bool take_over(void)
{
    if (sigaction(SIGINT, NULL, &previous)) return false;
    if (!(previous.sa_flags & SA_SIGINFO) &&
        (previous.sa_handler == SIG_DFL || previous.sa_handler == SIG_IGN))
        return false;
    struct sigaction own = previous;
    own.sa_sigaction = on_interrupt;
    own.sa_flags |= SA_SIGINFO;
    return !sigaction(SIGINT, &own, NULL);
}

void interrupts_begin(volatile int *first, volatile int *second)
{
    pthread_mutex_lock(&mutex);
    if (first) words[0] = first, words[1] = second;
    if (!waiting++) {
        happened = 0;
        ours = take_over();
    }
    pthread_mutex_unlock(&mutex);
}

void interrupts_end(bool had_words)
{
    pthread_mutex_lock(&mutex);
    if (had_words) words[0] = words[1] = NULL;
    if (!--waiting && ours) sigaction(SIGINT, &previous, NULL);
    pthread_mutex_unlock(&mutex);
}

unsigned interrupts_count(void) { return times; }

bool interrupts_happened(void) { return __atomic_exchange_n(&happened, 0, __ATOMIC_RELAXED); }
