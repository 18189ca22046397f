/* The table of allocations, by which every access is checked: sorted by address, none overlap.

   Terms: binary search, interval map (Knuth, volume 3, 6.2.1; docs/terms.md). */
#include <string.h>

#include "internal.h"

#define FREED_KEPT 512

Table table;
static size_t reached; /* allocations that others reach while a kernel runs */
static Range freed[FREED_KEPT];
static unsigned freed_next;
static uint64_t last_id, removals;

size_t table_after(uint64_t address)
{
    size_t low = 0, high = table.count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (table.at[middle].end <= address) low = middle + 1;
        else high = middle;
    }
    return low;
}

Allocation *table_entry(uint64_t address)
{
    size_t i = table_after(address);
    return i < table.count && table.at[i].begin <= address ? &table.at[i] : NULL;
}

const Allocation *memory_find(uint64_t address)
{
    const Allocation *a = table_entry(address);
    return a && !a->vacant ? a : NULL;
}

bool memory_covers(uint64_t address, size_t bytes)
{
    const Allocation *found = memory_find(address);
    return found && bytes <= found->end - address;
}

/* By the host, or by another process. */
static bool is_reached(const Allocation *a)
{ return a->shared || (a->kind != DEVICE_MEMORY && a->kind != VARIABLE); }

bool memory_is_reached(void) { return reached; }

void table_renew(Allocation *a) { a->id = ++last_id; }

bool table_insert(Allocation new)
{
    if (!GROW(table.at, table.count, table.room, 1024)) return false;
    size_t i = table_after(new.begin);
    memmove(&table.at[i + 1], &table.at[i], (table.count - i) * sizeof *table.at);
    table.at[i] = new;
    table_renew(&table.at[i]);
    table.count++;
    reached += is_reached(&new);
    return true;
}

void table_share(Allocation *a)
{
    reached += !a->shared;
    a->shared = true;
}

uint64_t memory_removals(void) { return removals; }

void table_clear(size_t i)
{
    removals++;
    freed[freed_next++ % FREED_KEPT] = (Range){table.at[i].begin, table.at[i].end};
    written_free(table.at[i].written);
    table.at[i].written = NULL;
}

void table_remove(size_t i)
{
    table_clear(i);
    reached -= is_reached(&table.at[i]);
    memmove(&table.at[i], &table.at[i + 1], (table.count - i - 1) * sizeof *table.at);
    table.count--;
}

const Allocation *memory_near(uint64_t address)
{
    const uint64_t near = 1u << 20;
    size_t i = table_after(address);
    uint64_t past = i > 0 && !table.at[i - 1].vacant ? address - table.at[i - 1].end : UINT64_MAX;
    uint64_t ahead = UINT64_MAX;
    if (i < table.count && !table.at[i].vacant)
        ahead = table.at[i].begin > address ? table.at[i].begin - address : 0;
    if (past <= ahead && past <= near) return &table.at[i - 1];
    return ahead <= near ? &table.at[i] : NULL;
}

bool memory_freed(uint64_t address, Range *range)
{
    for (unsigned i = 0; i < FREED_KEPT && i < freed_next; i++) {
        *range = freed[(freed_next - 1 - i) % FREED_KEPT];
        if (address >= range->begin && address < range->end) return true;
    }
    return false;
}
