/* Faults: what stopped a launch, in plain words. The first one wins.

   They do not stick: on the hardware the context is lost after a fault, here everything goes on
   working, so that a notebook can show a wrong kernel and then the right one. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "internal.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

void fault_record(Job *job, CUresult code, const char *text)
{
    pthread_mutex_lock(&mutex);
    if (!job->fault && !job->interrupted) {
        snprintf(job->fault_text, sizeof job->fault_text, "%s", text);
        job->fault = code;
    }
    job->stop = 1;
    pthread_mutex_unlock(&mutex);
}

void fault_leave(Worker *worker)
{
    void *never_resumed;
    fiber_switch(&never_resumed, worker->native_sp);
    __builtin_unreachable();
}

void fault_place(const Kernel *kernel, uint32_t site, char *text, size_t room)
{
    const struct Site *s = site < kernel->site_count ? &kernel->sites[site] : NULL;
    if (s && s->file < kernel->file_count && s->line)
        snprintf(text, room, "kernel %s, %s:%u", kernel->shown, kernel->files[s->file], s->line);
    else snprintf(text, room, "kernel %s", kernel->shown);
}

void fault_at(Warp *w, uint32_t site, uint32_t lane, CUresult code, const char *format, ...)
{
    char text[2600], place[600], what[1500];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    Job *job = w->worker->job;
    fault_place(job->kernel, site, place, sizeof place);
    snprintf(text, sizeof text, "%s: thread (%u,%u,%u) of block (%u,%u,%u) %s", place,
             w->tid[0][lane], w->tid[1][lane], w->tid[2][lane], w->ctaid[0], w->ctaid[1],
             w->ctaid[2], what);
    fault_record(job, code, text);
    fault_leave(w->worker);
}

void fault_plain(Worker *worker, CUresult code, const char *format, ...)
{
    char text[3000];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fault_record(worker->job, code, text);
    fault_leave(worker);
}
