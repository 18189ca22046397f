/* The address space that allocations come from: two zones of reserved addresses, for small and for large
   allocations. A zone is used from its beginning to its end before any address is used again, so that
   an access to freed memory finds nothing there. Pages cost memory only once touched, and go back when
   freed.

   Terms: red zones, quarantine (Serebryany et al. 2012; docs/terms.md). */
#define _GNU_SOURCE
#include <string.h>
#include <sys/mman.h>

#include "internal.h"

#define HUGE_PAGE (2u << 20)
#define SMALL_ZONE (4ull << 30)
#define WINDOWS_AT_ONCE (64ull << 30) /* bytes of address space for shared memory, at most */
#define SMALL_LAP (256ull << 20)      /* addresses handed out before small ones are reused */
#define COMMIT_STEP (16u << 20)

typedef struct {
    uint64_t begin, end, cursor, lap;
} Zone;

static Zone small, large;
static uint64_t small_committed; /* end of the small zone's usable pages */

void *map_pages(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

/* Windows lie one behind the other, and after the last there is nothing for as far as addresses of 32
   bits go. */
static struct {
    pthread_mutex_t lock;
    uint64_t next, end;
} windows = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool reserve_windows(size_t bytes)
{
    const size_t past = (1ull << 32) + CLUSTER_STEP;
    for (size_t room = WINDOWS_AT_ONCE; room >= bytes; room /= 2) {
        void *memory =
            mmap(NULL, room + past, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED) continue;
        windows.next = round_up((uint64_t)memory, CLUSTER_STEP);
        windows.end = windows.next + room;
        return true;
    }
    return false;
}

void *map_window(size_t bytes)
{
    void *window = NULL;
    pthread_mutex_lock(&windows.lock);
    if (windows.next + bytes <= windows.end || reserve_windows(bytes)) {
        window = (void *)windows.next;
        windows.next += round_up(bytes, CLUSTER_STEP);
    }
    pthread_mutex_unlock(&windows.lock);
    return window && !mprotect(window, bytes, PROT_READ | PROT_WRITE) ? window : NULL;
}

static bool reserve_zones(void)
{
    if (small.begin) return true;
    for (uint64_t bytes = ZONES_MOST; bytes >= 2 * SMALL_ZONE; bytes /= 2) {
        void *memory =
            mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED) continue;
        uint64_t begin = (uint64_t)memory;
        small = (Zone){begin, begin + SMALL_ZONE, begin, begin + SMALL_LAP};
        large = (Zone){begin + SMALL_ZONE, begin + bytes, begin + SMALL_ZONE, begin + bytes};
        small_committed = begin;
        return true;
    }
    return false;
}

/* Finds room in [from, to) of a zone; 0: none. */
static uint64_t search(uint64_t from, uint64_t to, size_t bytes, size_t align)
{
    uint64_t position = round_up(from, align);
    for (size_t i = table_after(position);; i++) {
        uint64_t next = i < table.count && table.at[i].begin < to ? table.at[i].begin : to;
        if (position + bytes + RED_BYTES <= next) return position;
        if (next == to) return 0;
        position = round_up(table.at[i].end + RED_BYTES, align);
    }
}

/* Makes pages usable. Sparse ones are mapped as shared, which no limit on a process's data counts. */
static bool open_pages(uint64_t address, size_t bytes, bool sparse)
{
    void *memory = (void *)address;
    if (sparse) {
        int kind = MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
        if (mmap(memory, bytes, PROT_READ | PROT_WRITE, kind, -1, 0) == MAP_FAILED) return false;
        madvise(memory, bytes, MADV_NOHUGEPAGE);
        return true;
    }
    if (mprotect(memory, bytes, PROT_READ | PROT_WRITE)) return false;
    if (address % HUGE_PAGE == 0 && bytes >= 2 * HUGE_PAGE) madvise(memory, bytes, MADV_HUGEPAGE);
    return true;
}

/* Chooses an address; 0: no room. */
static uint64_t place_in(Zone *zone, size_t bytes, size_t align)
{
    if (!reserve_zones()) return 0;
    uint64_t address = search(zone->cursor, zone->lap, bytes, align);
    if (!address) address = search(zone->begin, zone->end, bytes, align);
    if (address) zone->cursor = address + bytes + RED_BYTES;
    return address;
}

/* Only device memory shares pages, which shared.c may move. */
uint64_t zones_place(size_t bytes, MemoryKind kind, bool sparse)
{
    bool is_small = bytes < SMALL_BYTES, own_pages = !is_small || kind != DEVICE_MEMORY;
    size_t align = !own_pages ? ALLOCATION_ALIGN : bytes < 2 * HUGE_PAGE ? HOST_PAGE : HUGE_PAGE;
    if (own_pages) bytes = round_up(bytes, HOST_PAGE);
    uint64_t address = place_in(is_small ? &small : &large, bytes, align);
    if (!address) return 0;
    if (!is_small) return open_pages(address, bytes, sparse) ? address : 0;
    if (address + bytes > small_committed) {
        uint64_t end = round_up(address + bytes, COMMIT_STEP);
        if (end > small.end) end = small.end;
        if (mprotect((void *)small_committed, end - small_committed, PROT_READ | PROT_WRITE))
            return 0;
        small_committed = end;
    }
    return address;
}

size_t pages_touched(uint64_t begin, uint64_t end)
{
    enum { AT_ONCE = 1 << 16 };
    static unsigned char pages[AT_ONCE];
    size_t bytes = 0;
    for (uint64_t at = begin / HOST_PAGE * HOST_PAGE; at < end;
         at += (uint64_t)AT_ONCE * HOST_PAGE) {
        size_t wanted = MIN(AT_ONCE, (end - at + HOST_PAGE - 1) / HOST_PAGE);
        if (mincore((void *)at, wanted * HOST_PAGE, pages)) continue;
        for (size_t i = 0; i < wanted; i++) bytes += (pages[i] & 1) * HOST_PAGE;
    }
    return bytes;
}

void memory_zero(uint64_t begin, size_t bytes)
{
    const Allocation *a = memory_find(begin);
    const bool own = a && a->kind == DEVICE_MEMORY && !a->sparse && !a->shared;
    const uint64_t end = begin + bytes;
    for (uint64_t at = begin, next; at < end; at = next) {
        next = MIN(end, round_up(at + 1, HUGE_PAGE));
        const bool untouched =
            own && a->begin >= large.begin && next - at == HUGE_PAGE && !pages_touched(at, next);
        /* as pages that were moved to disk are none either, and are dropped */
        if (!untouched || madvise((void *)at, HUGE_PAGE, MADV_DONTNEED))
            memset((void *)at, 0, next - at);
    }
}

void zones_close(uint64_t begin, uint64_t end, size_t i)
{
    uint64_t from = begin / HOST_PAGE * HOST_PAGE, to = round_up(end, HOST_PAGE);
    if (begin >= large.begin) {
        mmap((void *)from, to - from, PROT_NONE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    } else { /* Give back the pages that no neighbour uses. */
        size_t next = i + (i < table.count && table.at[i].begin == begin);
        if (i > 0 && table.at[i - 1].end > from) from += HOST_PAGE;
        if (next < table.count && table.at[next].begin < to) to -= HOST_PAGE;
        if (from < to) madvise((void *)from, to - from, MADV_DONTNEED);
    }
    if (from < to) shared_drop(from - small.begin, to - from);
}

bool zones_open(uint64_t begin, size_t bytes, bool sparse)
{ return begin < large.begin || open_pages(begin, bytes, sparse); }

uint64_t zones_place_import(size_t bytes)
{ return place_in(&large, round_up(bytes, HOST_PAGE), HOST_PAGE); }

uint64_t zones_offset(uint64_t address) { return address - small.begin; }

Range zones_small_pages(void) { return (Range){small.begin, small_committed}; }

Range zones_large(void) { return (Range){large.begin, large.end}; }

bool zones_have(uint64_t address) { return address >= small.begin && address < large.end; }
