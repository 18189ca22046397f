/* How much memory may be handed out. Pages cost memory only once they are touched, but what was handed
   out and is untouched must find room as well, or the machine would have to end a process: it is set
   aside from what is available now.

   Terms: overcommit (Linux, overcommit-accounting; docs/terms.md). */
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/mman.h>

#include "internal.h"

#define UNASKED (64u << 20) /* bytes that are handed out without asking the machine anew */

static size_t held;                  /* bytes handed out, except sparse ones */
static size_t held_by[MOST_DEVICES]; /* of these, in the memory of a device */
static Range *mapped;                /* of modules and heaps */
static size_t mapped_count, mapped_room;

/* Whether `held` counts it. */
static bool is_held(const Allocation *a)
{ return !a->sparse && !a->vacant && a->kind != IMPORTED_MEMORY; }

/* Of all that it counts. */
static size_t touched(void)
{
    const Range small = zones_small_pages(), large = zones_large();
    size_t bytes = pages_touched(small.begin, small.end);
    for (size_t i = table_after(large.begin); i < table.count && table.at[i].begin < large.end; i++)
        if (is_held(&table.at[i])) bytes += pages_touched(table.at[i].begin, table.at[i].end);
    for (size_t i = 0; i < mapped_count; i++)
        bytes += pages_touched(mapped[i].begin, mapped[i].end);
    return bytes;
}

/* What may be handed out beside what is untouched. Some is left to everything else, such as copies
   on the host. */
static size_t left_beside(size_t untouched, Memory machine)
{
    size_t spoken_for = untouched + MIN(machine.total / 16, 512u << 20);
    return machine.available > spoken_for ? machine.available - spoken_for : 0;
}

size_t budget_free(Memory machine)
{
    size_t written = touched();
    if (machine.own) written = MIN(written, machine.own);
    return left_beside(held > written ? held - written : 0, machine);
}

/* Asking the machine takes longer than a small allocation should: it is asked once for many. */
bool memory_fits(size_t bytes)
{
    static size_t unasked = UNASKED;
    if (bytes > unasked) {
        Memory machine = machine_memory();
        size_t left = left_beside(held, machine); /* at least so much: soon told */
        if (bytes > left) left = budget_free(machine);
        if (bytes > left) return false;
        unasked = MIN(left, bytes + UNASKED);
    }
    unasked -= bytes;
    return true;
}

static const char *amount(size_t bytes, char *text, size_t space)
{
    if (bytes < 1000000) snprintf(text, space, "%zu bytes", bytes);
    else if (bytes < 1000000000) snprintf(text, space, "%.1f MB", bytes / 1e6);
    else snprintf(text, space, "%.1f GB", bytes / 1e9);
    return text;
}

CUresult memory_refuse(size_t bytes)
{
    char asked[32], has[32], free[32], total[32];
    Memory machine = machine_memory();
    return fail(CUDA_ERROR_OUT_OF_MEMORY,
                "%s asked for; %s are held, %s are free of the %s that this machine has",
                amount(bytes, asked, sizeof asked), amount(held, has, sizeof has),
                amount(budget_free(machine), free, sizeof free),
                amount(machine.total, total, sizeof total));
}

void *memory_map(size_t bytes)
{
    if (!memory_fits(bytes) || !GROW(mapped, mapped_count, mapped_room, 64)) return NULL;
    void *memory = map_pages(bytes);
    if (!memory) return NULL;
    mapped[mapped_count++] = (Range){(uint64_t)memory, (uint64_t)memory + bytes};
    held += bytes;
    return memory;
}

void memory_unmap(void *memory, size_t bytes)
{
    size_t i = 0;
    while (mapped[i].begin != (uint64_t)memory) i++;
    mapped[i] = mapped[--mapped_count];
    held -= bytes;
    munmap(memory, bytes);
}

static void count_held(const Allocation *a, ptrdiff_t bytes)
{
    if (!is_held(a)) return;
    held += bytes;
    if (a->device != ANYWHERE) held_by[a->device] += bytes;
}

void budget_begin(const Allocation *a) { count_held(a, (ptrdiff_t)(a->end - a->begin)); }

void budget_end(const Allocation *a) { count_held(a, -(ptrdiff_t)(a->end - a->begin)); }

size_t budget_held(int device) { return held_by[device]; }

/* Whether a device has so much left of its part of the machine's memory. */
static bool device_fits(int device, size_t bytes)
{
    if (device_count() == 1 || device == ANYWHERE) return true;
    size_t part = machine_memory().total / device_count();
    return bytes <= part && held_by[device] <= part - bytes;
}

bool budget_fits(int device, size_t bytes, bool sparse)
{ return sparse || (device_fits(device, bytes) && memory_fits(bytes)); }
