/* What the machine has: memory, as far as limits of control groups (a container's, a user's) leave
   it, and cores. */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"

static char root[256]; /* where /proc and /sys are */

void sg_machine_root(const char *folder) { snprintf(root, sizeof root, "%s", folder); }

static FILE *open_below(const char *folder, const char *group, const char *name)
{
    char path[1024];
    snprintf(path, sizeof path, "%s%s%s/%s", root, folder, group, name);
    return fopen(path, "r");
}

/* A number in a file, after an optional label; 0: none. */
static size_t number_in(FILE *file, const char *label)
{
    char line[256];
    size_t value = 0, skip = strlen(label);
    if (!file) return 0;
    while (!value && fgets(line, sizeof line, file))
        if (!strncmp(line, label, skip)) value = strtoull(line + skip, NULL, 10);
    fclose(file);
    return value;
}

/* Both versions of control groups; `cache`: files that memory in use goes to at need. */
typedef struct {
    const char *controller, *folder, *limit, *used, *cache;
} Groups;

static const Groups versions[] = {
    {"", "/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file "},
    {"memory", "/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
     "total_inactive_file "},
};

/* The path of the group that this process is in; empty if that is unknown. */
static void find_group(const Groups *groups, char *path, size_t space)
{
    char line[600];
    FILE *file = open_below("/proc/self", "", "cgroup");
    *path = 0;
    while (file && fgets(line, sizeof line, file)) {
        char *name = strchr(line, ':'), *end = name ? strchr(name + 1, ':') : NULL;
        if (!end) continue;
        *end = 0;
        if (strcmp(name + 1, groups->controller)) continue;
        snprintf(path, space, "%.*s", (int)strcspn(end + 1, "\n"), end + 1);
    }
    if (file) fclose(file);
}

/* What the limits of a group and of those around it leave. A container may not see its own path,
   only the end of it that is the root of its file system. */
static void heed_limits(const Groups *groups, Memory *memory)
{
    char path[512], *end;
    find_group(groups, path, sizeof path);
    do {
        size_t limit = number_in(open_below(groups->folder, path, groups->limit), "");
        if (limit && limit < 1ull << 60) {
            size_t used = number_in(open_below(groups->folder, path, groups->used), "");
            size_t cache =
                number_in(open_below(groups->folder, path, "memory.stat"), groups->cache);
            used = used > cache ? used - cache : 0;
            memory->total = MIN(memory->total, limit);
            memory->available = MIN(memory->available, limit > used ? limit - used : 0);
        }
        end = strrchr(path, '/');
        if (end) *end = 0;
    } while (end);
}

Memory machine_memory(void)
{
    size_t page = sysconf(_SC_PAGESIZE);
    Memory memory = {number_in(open_below("/proc", "", "meminfo"), "MemTotal:") << 10,
                     number_in(open_below("/proc", "", "meminfo"), "MemAvailable:") << 10,
                     (number_in(open_below("/proc/self", "", "status"), "RssAnon:") +
                      number_in(open_below("/proc/self", "", "status"), "RssShmem:"))
                         << 10};
    if (!memory.total) memory.total = sysconf(_SC_PHYS_PAGES) * page;
    if (!memory.available) memory.available = sysconf(_SC_AVPHYS_PAGES) * page;
    for (int i = 0; i < 2; i++) heed_limits(&versions[i], &memory);
    return memory;
}

unsigned usable_cores(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set)) return 1;
    return CPU_COUNT(&set);
}

double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

bool thread_start(void *(*body)(void *), void *argument, size_t stack)
{
    sigset_t all, before;
    pthread_attr_t attributes;
    pthread_t id;
    sigfillset(&all);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, stack);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int result = pthread_create(&id, &attributes, body, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return !result;
}

#ifdef __SANITIZE_THREAD__
/* What is volatile is meant to be looked at by several threads: nothing to tell of it. */
#define MEANT(size)                                                                                \
    void __tsan_volatile_read##size(void *at) { (void)at; }                                        \
    void __tsan_volatile_write##size(void *at) { (void)at; }
MEANT(1)
MEANT(2)
MEANT(4)
MEANT(8)
MEANT(16)
#endif
