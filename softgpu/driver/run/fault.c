/* Faults: what stopped a launch. The first one wins.

   They do not stick: on the hardware the context is lost after a fault, here everything goes on
   working, so that a notebook can show a wrong kernel and then the right one. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "internal.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static Fault last;

static void record(Job *job, CUresult code, enum FaultKind kind, uint32_t site, const char *what)
{
    pthread_mutex_lock(&mutex);
    if (!job->fault && !job->interrupted) {
        Fault *f = &job->reason;
        *f = (Fault){.kind = kind, .site = site, .limit_s = job->limit};
        fault_place(job->kernel, site, f->where, sizeof f->where);
        snprintf(f->what, sizeof f->what, "%s", what);
        job->fault = code;
    }
    job->stop = 1;
    pthread_mutex_unlock(&mutex);
}

void fault_record(Job *job, CUresult code, enum FaultKind kind, uint32_t site, const char *format,
                  ...)
{
    char what[sizeof job->reason.what];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    record(job, code, kind, site, what);
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

void fault_by_lane(Warp *w, uint32_t site, uint32_t lane, CUresult code, enum FaultKind kind,
                   const char *format, ...)
{
    char does[1500];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(does, sizeof does, format, arguments);
    va_end(arguments);
    fault_record(w->worker->job, code, kind, site, WORDS_BY_THREAD, w->tid[0][lane],
                 w->tid[1][lane], w->tid[2][lane], w->ctaid[0], w->ctaid[1], w->ctaid[2], does);
    fault_leave(w->worker);
}

static int hides_addresses;

bool addresses_hidden(void) { return __atomic_load_n(&hides_addresses, __ATOMIC_RELAXED); }

int sg_hide_addresses(int on)
{ return __atomic_exchange_n(&hides_addresses, on, __ATOMIC_RELAXED); }

AddressText address_text(uint64_t address)
{
    AddressText shown = {"an address"};
    if (!addresses_hidden() || address < 1ull << 32)
        snprintf(shown.text, sizeof shown.text, "0x%llx", (unsigned long long)address);
    return shown;
}

void fault_tell(const Job *job, CUresult result)
{
    char loop[64] = "";
    pthread_mutex_lock(&mutex);
    last = job->reason;
    const bool is_late = last.kind == FAULT_TIME_LIMIT;
    if (is_late) last.loop = job->stopped_at;
    if (last.loop) snprintf(loop, sizeof loop, WORDS_IN_LOOP, last.loop);
    fail(result, "%s%s %s%s%s", last.where, is_late ? "" : ":", last.what, loop, job->others);
    pthread_mutex_unlock(&mutex);
}

void fault_forget(void) { __atomic_store_n(&last.kind, NO_FAULT, __ATOMIC_RELAXED); }

void sg_last_fault(Fault *out)
{
    pthread_mutex_lock(&mutex);
    *out = last;
    pthread_mutex_unlock(&mutex);
}
