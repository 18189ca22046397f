/* Allocations: the address space they come from and the table that every access is checked by.

   Addresses come from two reserved zones, one for small and one for large allocations. A zone is
   used from its beginning to its end before any address is used again, so that an access to
   freed memory finds nothing there. Pages cost memory only once touched, and go back when freed. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "driver.h"

#define RED_BYTES 512u /* at least this much unallocated space after each allocation */
#define HUGE_PAGE (2u << 20)
#define SMALL_BYTES (1u << 20) /* allocations below this share pages */
#define SMALL_ZONE (4ull << 30)
#define WINDOWS_AT_ONCE (64ull << 30) /* bytes of address space for shared memory, at most */
#define SMALL_LAP (256ull << 20)      /* addresses handed out before small ones are reused */
#define COMMIT_STEP (16u << 20)
#define FREED_KEPT 512
#define UNASKED (64u << 20) /* bytes that are handed out without asking the machine anew */

typedef struct {
    uint64_t begin, end, cursor, lap;
} Zone;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Zone small, large;
static uint64_t small_committed; /* end of the small zone's usable pages */
static Allocation *table;        /* sorted by begin; ranges never overlap */
static size_t count, room;
static size_t held;                  /* bytes handed out, but for sparse ones */
static size_t held_by[MOST_DEVICES]; /* of these, in the memory of a device */
static size_t reached;               /* allocations that others reach while a kernel runs */
static Range *mapped;                /* of modules and heaps */
static size_t mapped_count, mapped_room;
static Range freed[FREED_KEPT];
static unsigned freed_next;
static _Thread_local bool asks_sparse; /* of the device memory that this thread allocates next */

/* Those who read the table beside each other; who waits for them; who waits until they go on, and how
   many of these come before the next who wants the lock: they take turns. */
static unsigned reading, wanting, pausing, due;
static uint64_t turn;
static pthread_cond_t all_pause = PTHREAD_COND_INITIALIZER, go_on = PTHREAD_COND_INITIALIZER;

void driver_lock(void)
{
    pthread_mutex_lock(&lock);
    if (!reading && !due) return;
    __atomic_add_fetch(&wanting, 1, __ATOMIC_RELAXED);
    while (reading || due) pthread_cond_wait(&all_pause, &lock);
    __atomic_sub_fetch(&wanting, 1, __ATOMIC_RELAXED);
}

void driver_lock_beside(void) { pthread_mutex_lock(&lock); }

void driver_unlock(void)
{
    if (pausing && !reading) {
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
    reading++;
    pthread_mutex_unlock(&lock);
}

static void stop_reading(void)
{
    if (!--reading) pthread_cond_broadcast(&all_pause);
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
        reading++;
    }
    pthread_mutex_unlock(&lock);
}

static uint64_t round_up(uint64_t value, uint64_t step) { return (value + step - 1) / step * step; }

/* The index of the first allocation that ends after the address. */
static size_t first_ending_after(uint64_t address)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (table[middle].end <= address) low = middle + 1;
        else high = middle;
    }
    return low;
}

/* What there is at an address, if only the address. */
static Allocation *entry_at(uint64_t address)
{
    size_t i = first_ending_after(address);
    return i < count && table[i].begin <= address ? &table[i] : NULL;
}

const Allocation *memory_find(uint64_t address)
{
    const Allocation *a = entry_at(address);
    return a && !a->vacant ? a : NULL;
}

bool memory_covers(uint64_t address, size_t bytes)
{
    const Allocation *found = memory_find(address);
    return found && bytes <= found->end - address;
}

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
    for (size_t i = first_ending_after(position);; i++) {
        uint64_t next = i < count && table[i].begin < to ? table[i].begin : to;
        if (position + bytes + RED_BYTES <= next) return position;
        if (next == to) return 0;
        position = round_up(table[i].end + RED_BYTES, align);
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

/* The same, and makes its pages usable. Only device memory shares pages, which shared.c may move. */
static uint64_t place(size_t bytes, MemoryKind kind, bool sparse)
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

/* By the host, or by another process. */
static bool is_reached(const Allocation *a)
{ return a->shared || (a->kind != DEVICE_MEMORY && a->kind != VARIABLE); }

bool memory_is_reached(void) { return reached; }

static uint64_t last_id;

static bool insert(Allocation new)
{
    if (!GROW(table, count, room, 1024)) return false;
    size_t i = first_ending_after(new.begin);
    memmove(&table[i + 1], &table[i], (count - i) * sizeof *table);
    table[i] = new;
    table[i].id = ++last_id;
    count++;
    reached += is_reached(&new);
    return true;
}

/* ---- how much there may be ----

   Pages cost memory once they are touched. What was handed out and is untouched must find room as
   well, or the machine would have to end a process: of what is available now it is spoken for. */

/* How many bytes of a range have pages, if only such as stand for zeros that were read. */
static size_t touched_in(uint64_t begin, uint64_t end)
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
            own && a->begin >= large.begin && next - at == HUGE_PAGE && !touched_in(at, next);
        /* as pages that were moved to disk are none either, and are dropped */
        if (!untouched || madvise((void *)at, HUGE_PAGE, MADV_DONTNEED))
            memset((void *)at, 0, next - at);
    }
}

/* Whether `held` counts it. */
static bool is_held(const Allocation *a)
{ return !a->sparse && !a->vacant && a->kind != IMPORTED_MEMORY; }

/* Of all that it counts. */
static size_t touched(void)
{
    size_t bytes = touched_in(small.begin, small_committed);
    for (size_t i = first_ending_after(large.begin); i < count && table[i].begin < large.end; i++)
        if (is_held(&table[i])) bytes += touched_in(table[i].begin, table[i].end);
    for (size_t i = 0; i < mapped_count; i++) bytes += touched_in(mapped[i].begin, mapped[i].end);
    return bytes;
}

/* What may be handed out beside what is untouched. Some is left to everything else, such as copies
   on the host. */
static size_t left_beside(size_t untouched, Memory machine)
{
    size_t spoken_for = untouched + MIN(machine.total / 16, 512u << 20);
    return machine.available > spoken_for ? machine.available - spoken_for : 0;
}

static size_t free_bytes(Memory machine)
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
        if (bytes > left) left = free_bytes(machine);
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
                amount(free_bytes(machine), free, sizeof free),
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

/* ---- handing it out ---- */

static void count_held(int device, ptrdiff_t bytes)
{
    held += bytes;
    if (device != ANYWHERE) held_by[device] += bytes;
}

size_t memory_held(int device) { return held_by[device]; }

/* Whether a device has so much left of its part of the machine's memory. */
static bool device_fits(int device, size_t bytes)
{
    if (device_count() == 1 || device == ANYWHERE) return true;
    size_t part = machine_memory().total / device_count();
    return bytes <= part && held_by[device] <= part - bytes;
}

static bool fits(int device, size_t bytes, bool sparse)
{ return sparse || (device_fits(device, bytes) && memory_fits(bytes)); }

/* It has its pages from now on, and nothing in them. */
static void begin_contents(Allocation *a)
{
    if (a->sparse) return;
    if (a->kind == DEVICE_MEMORY) a->written = written_new();
    count_held(a->device, (ptrdiff_t)(a->end - a->begin));
}

CUresult memory_allocate(Context *owner, int device, size_t bytes, MemoryKind kind, unsigned flags,
                         uint64_t *address)
{
    if (!bytes) return fail(CUDA_ERROR_INVALID_VALUE, "an allocation of 0 bytes");
    bool sparse = asks_sparse && kind == DEVICE_MEMORY && bytes >= SMALL_BYTES;
    if (kind != DEVICE_MEMORY) device = ANYWHERE;
    uint64_t begin = fits(device, bytes, sparse) ? place(bytes, kind, sparse) : 0;
    if (!begin) return memory_refuse(bytes);
    if (!insert((Allocation){.begin = begin,
                             .end = begin + bytes,
                             .kind = kind,
                             .flags = flags,
                             .sparse = sparse,
                             .owner = owner,
                             .device = device}))
        return fail(CUDA_ERROR_OUT_OF_MEMORY, NULL);
    begin_contents(entry_at(begin));
    *address = begin;
    return CUDA_SUCCESS;
}

static uint64_t removals;

uint64_t memory_removals(void) { return removals; }

/* What is known of its contents goes. */
static void clear_at(size_t i)
{
    removals++;
    freed[freed_next++ % FREED_KEPT] = (Range){table[i].begin, table[i].end};
    written_free(table[i].written);
    table[i].written = NULL;
}

static void remove_at(size_t i)
{
    clear_at(i);
    reached -= is_reached(&table[i]);
    memmove(&table[i], &table[i + 1], (count - i - 1) * sizeof *table);
    count--;
}

void memory_trim_pool(Pool *pool, size_t held)
{
    size_t kept = MIN(pool->reserved, round_up(MIN(held, pool->reserved), POOL_PIECE));
    pool->reserved = MAX(kept, round_up(pool->used, POOL_PIECE));
}

void memory_settle_pool(Pool *pool)
{
    uint64_t now = host_waits();
    if (pool->waits != now) memory_trim_pool(pool, pool->threshold);
    pool->waits = now;
}

void memory_set_pool(uint64_t begin, Pool *pool)
{
    Allocation *a = &table[first_ending_after(begin)];
    memory_settle_pool(pool);
    a->pool = pool;
    pool->used += a->end - a->begin;
    pool->high = MAX(pool->high, pool->used);
    pool->reserved = MAX(pool->reserved, round_up(pool->used, POOL_PIECE));
    pool->reserved_high = MAX(pool->reserved_high, pool->reserved);
}

void memory_leave_pool(Pool *pool, size_t bytes)
{
    memory_settle_pool(pool);
    pool->used -= bytes;
    if (!pool->handle && !pool->used) free(pool);
}

/* Gives back the pages of what was the entry i, and is none, or vacant, now. */
static void close_pages(uint64_t begin, uint64_t end, size_t i)
{
    uint64_t from = begin / HOST_PAGE * HOST_PAGE, to = round_up(end, HOST_PAGE);
    if (begin >= large.begin) {
        mmap((void *)from, to - from, PROT_NONE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    } else { /* Give back the pages that no neighbour uses. */
        size_t next = i + (i < count && table[i].begin == begin);
        if (i > 0 && table[i - 1].end > from) from += HOST_PAGE;
        if (next < count && table[next].begin < to) to -= HOST_PAGE;
        if (from < to) madvise((void *)from, to - from, MADV_DONTNEED);
    }
    if (from < to) shared_drop(from - small.begin, to - from);
}

void memory_free(uint64_t begin)
{
    size_t i = first_ending_after(begin);
    Allocation *a = &table[i];
    uint64_t end = a->end;
    if (is_held(a)) count_held(a->device, -(ptrdiff_t)(end - begin));
    if (a->shared) shared_end(begin - small.begin);
    if (a->pool) memory_leave_pool(a->pool, end - begin);
    if (a->graph) {
        clear_at(i);
        a->vacant = true;
        a->pool = NULL;
    } else remove_at(i);
    close_pages(begin, end, i);
}

/* ---- of graphs ---- */

CUresult memory_reserve(Context *owner, int device, size_t bytes, MemoryKind kind,
                        struct GraphMemory *graph, uint32_t readers, uint64_t *address)
{
    CUresult result = memory_allocate(owner, device, bytes, kind, 0, address);
    if (result) return result;
    Allocation *a = entry_at(*address);
    a->graph = graph;
    a->readers = readers;
    memory_free(*address);
    return CUDA_SUCCESS;
}

CUresult memory_occupy(uint64_t begin, Pool *pool)
{
    Allocation *a = entry_at(begin);
    size_t bytes = a->end - begin;
    if (!fits(a->device, bytes, a->sparse) ||
        (begin >= large.begin && !open_pages(begin, bytes, a->sparse)))
        return memory_refuse(bytes);
    a->vacant = false;
    a->id = ++last_id;
    begin_contents(a);
    memory_set_pool(begin, pool);
    return CUDA_SUCCESS;
}

const Allocation *memory_reserved(uint64_t address)
{
    const Allocation *a = entry_at(address);
    return a && a->graph ? a : NULL;
}

void memory_abandon(uint64_t begin)
{
    Allocation *a = entry_at(begin);
    a->graph = NULL;
    if (a->vacant) remove_at(first_ending_after(begin));
}

void sg_sparse(int on) { asks_sparse = on; }

int sg_is_sparse(uint64_t address)
{
    driver_lock();
    const Allocation *found = memory_find(address);
    bool sparse = found && found->sparse;
    driver_unlock();
    return sparse;
}

bool memory_in_zones(uint64_t address) { return address >= small.begin && address < large.end; }

CUresult memory_add_range(Context *owner, uint64_t begin, uint64_t end, MemoryKind kind,
                          unsigned flags, bool constant)
{
    size_t i = first_ending_after(begin);
    if (i < count && table[i].begin < end)
        return fail(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, NULL);
    if (!insert((Allocation){.begin = begin,
                             .end = end,
                             .kind = kind,
                             .flags = flags,
                             .constant = constant,
                             .owner = owner,
                             .device = kind == VARIABLE && owner ? owner->device : ANYWHERE}))
        return fail(CUDA_ERROR_OUT_OF_MEMORY, NULL);
    return CUDA_SUCCESS;
}

void memory_remove_range(uint64_t begin) { remove_at(first_ending_after(begin)); }

void memory_free_all(Context *owner)
{
    for (size_t i = count; i-- > 0;) {
        if (table[i].owner != owner || table[i].kind == VARIABLE || table[i].vacant) continue;
        if (table[i].kind == REGISTERED_MEMORY) remove_at(i);
        else memory_free(table[i].begin);
    }
}

/* ---- shared with other processes ---- */

bool memory_is_shareable(const Allocation *a)
{ return a->kind == DEVICE_MEMORY && !a->pool && !a->sparse; }

CUresult memory_share(uint64_t begin, SharedPlace *out)
{
    Allocation *a = &table[first_ending_after(begin)];
    *out = (SharedPlace){.at = begin - small.begin, .bytes = a->end - begin, .id = a->id};
    CUresult result = shared_file(&out->of);
    if (!result && !a->shared) result = shared_begin(out, begin);
    if (result) return result;
    reached += !a->shared;
    a->shared = true;
    written_as_a_whole(a); /* who knows by whom */
    return CUDA_SUCCESS;
}

/* What is open in a context already; NULL: it is not. */
static Allocation *find_import(const Context *owner, const SharedPlace *origin)
{
    for (size_t i = 0; i < count; i++) {
        Allocation *a = &table[i];
        if (a->kind == IMPORTED_MEMORY && a->owner == owner && a->origin.id == origin->id &&
            a->origin.of.inode == origin->of.inode)
            return a;
    }
    return NULL;
}

CUresult memory_import(Context *owner, int device, const SharedPlace *origin, uint64_t *address)
{
    Allocation *open = find_import(owner, origin);
    if (open) {
        open->opened++;
        *address = open->begin;
        return CUDA_SUCCESS;
    }
    uint64_t inside = origin->at % HOST_PAGE;
    uint64_t page = place_in(&large, round_up(inside + origin->bytes, HOST_PAGE), HOST_PAGE);
    if (!page) return fail(CUDA_ERROR_OUT_OF_MEMORY, "no addresses are left");
    CUresult result = shared_map(origin, page + inside);
    if (result) return result;
    *address = page + inside;
    if (insert((Allocation){.begin = *address,
                            .end = *address + origin->bytes,
                            .kind = IMPORTED_MEMORY,
                            .owner = owner,
                            .device = device,
                            .origin = *origin,
                            .opened = 1}))
        return CUDA_SUCCESS;
    munmap((void *)page, inside + origin->bytes);
    return fail(CUDA_ERROR_OUT_OF_MEMORY, NULL);
}

void memory_close(uint64_t begin)
{
    if (!--table[first_ending_after(begin)].opened) memory_free(begin);
}

static const char *kind_text(MemoryKind kind)
{
    static const char *const names[] = {
        [DEVICE_MEMORY] = "allocation",
        [HOST_MEMORY] = "page-locked allocation",
        [MANAGED_MEMORY] = "managed allocation",
        [REGISTERED_MEMORY] = "registered host memory",
        [VARIABLE] = "variable of the module",
        [IMPORTED_MEMORY] = "allocation of another process",
    };
    return names[kind];
}

const Allocation *memory_near(uint64_t address)
{
    const uint64_t near = 1u << 20;
    size_t i = first_ending_after(address);
    uint64_t past = i > 0 && !table[i - 1].vacant ? address - table[i - 1].end : UINT64_MAX;
    uint64_t ahead = UINT64_MAX;
    if (i < count && !table[i].vacant)
        ahead = table[i].begin > address ? table[i].begin - address : 0;
    if (past <= ahead && past <= near) return &table[i - 1];
    return ahead <= near ? &table[i] : NULL;
}

bool memory_freed(uint64_t address, Range *range)
{
    for (unsigned i = 0; i < FREED_KEPT && i < freed_next; i++) {
        *range = freed[(freed_next - 1 - i) % FREED_KEPT];
        if (address >= range->begin && address < range->end) return true;
    }
    return false;
}

void memory_describe(uint64_t address, char *text, size_t space)
{
    const uint64_t near = 1u << 20;
    if (address < 65536) {
        snprintf(text, space, "near address 0: no memory was ever there (a NULL pointer?)");
        return;
    }
    const Allocation *graphs = memory_reserved(address);
    if (graphs && graphs->vacant) {
        snprintf(text, space,
                 "%llu bytes into %llu bytes of a graph, which are there only from the launch of "
                 "the node that allocates them until they are freed",
                 (unsigned long long)(address - graphs->begin),
                 (unsigned long long)(graphs->end - graphs->begin));
        return;
    }
    size_t i = first_ending_after(address);
    const Allocation *after = i < count ? &table[i] : NULL;
    const Allocation *before = i > 0 ? &table[i - 1] : NULL;
    if (after && after->begin <= address) before = after;
    uint64_t past = before && address >= before->end ? address - before->end : 0;
    uint64_t ahead = after && after->begin > address ? after->begin - address : UINT64_MAX;
    bool just_past = before && past < RED_BYTES && past <= ahead;
    Range gone;
    if (!just_past && memory_freed(address, &gone)) {
        snprintf(text, space, "%llu bytes into a %llu-byte allocation that has been freed",
                 (unsigned long long)(address - gone.begin),
                 (unsigned long long)(gone.end - gone.begin));
        return;
    }
    if (before && past <= near && past <= ahead)
        snprintf(text, space, "%llu bytes past the end of the %llu-byte %s at 0x%llx",
                 (unsigned long long)past, (unsigned long long)(before->end - before->begin),
                 kind_text(before->kind), (unsigned long long)before->begin);
    else if (ahead <= near)
        snprintf(text, space, "%llu bytes before the %llu-byte %s at 0x%llx",
                 (unsigned long long)ahead, (unsigned long long)(after->end - after->begin),
                 kind_text(after->kind), (unsigned long long)after->begin);
    else {
        unsigned char state;
        bool mapped = !mincore((void *)(address / HOST_PAGE * HOST_PAGE), 1, &state);
        snprintf(text, space,
                 mapped && !memory_in_zones(address)
                     ? "which is ordinary host memory, not memory of the GPU"
                     : "far from every allocation");
    }
}

/* ---- the driver calls ---- */

static CUresult allocate(size_t bytes, MemoryKind kind, unsigned flags, uint64_t *address)
{
    NEED_CONTEXT(context);
    CUresult result = capture_refuse_unsafe();
    if (result) return result;
    driver_lock();
    result = memory_allocate(context, context->device, bytes, kind, flags, address);
    driver_unlock();
    return result;
}

/* What this context, and the one that has memory at the address, have left to do may need it. */
static void wait_for_users(uint64_t address)
{
    CUresult error;
    const Context *context = current_context(&error);
    if (!context || device_count() == 1) return;
    driver_lock();
    const Allocation *found = memory_find(address);
    void *owner = found && found->owner ? found->owner->handle : NULL;
    driver_unlock();
    tasks_wait_all(context->handle);
    tasks_wait_all(owner);
}

/* Frees what begins at the address if it is of one of two kinds, or from a pool. */
static CUresult release(uint64_t address, MemoryKind kind, MemoryKind other)
{
    NEED_CONTEXT(context);
    driver_lock();
    const Allocation *found = memory_find(address);
    bool right = found && found->begin == address &&
                 (found->kind == kind || found->kind == other || found->pool);
    if (right) memory_free(address);
    driver_unlock();
    return right ? CUDA_SUCCESS
                 : fail(CUDA_ERROR_INVALID_VALUE, "0x%llx is not the beginning of an allocation",
                        (unsigned long long)address);
}

CUAPI cuMemAlloc_v2(CUdeviceptr *out, size_t bytes)
{ return allocate(bytes, DEVICE_MEMORY, 0, out); }

CUAPI cuMemAllocPitch_v2(CUdeviceptr *out, size_t *pitch, size_t width, size_t height,
                         unsigned element)
{
    if (element != 4 && element != 8 && element != 16)
        return fail(CUDA_ERROR_INVALID_VALUE, "the element size is 4, 8 or 16 bytes");
    size_t padded = round_up(width, ALLOCATION_ALIGN);
    if (height && padded > SIZE_MAX / 2 / height) return fail(CUDA_ERROR_OUT_OF_MEMORY, NULL);
    CUresult result = allocate(padded * height, DEVICE_MEMORY, 0, out);
    if (!result) *pitch = padded;
    return result;
}

CUAPI cuMemAllocManaged(CUdeviceptr *out, size_t bytes, unsigned flags)
{
    if (flags != 1 && flags != 2)
        return fail(CUDA_ERROR_INVALID_VALUE, "flags must be attach GLOBAL or HOST");
    return allocate(bytes, MANAGED_MEMORY, flags, out);
}

CUresult memory_release(uint64_t address)
{
    if (!address) return CUDA_SUCCESS;
    return release(address, DEVICE_MEMORY, MANAGED_MEMORY);
}

CUAPI cuMemFree_v2(CUdeviceptr address)
{
    CUresult result = capture_refuse_unsafe();
    if (result) return result;
    wait_for_users(address);
    return memory_release(address);
}

CUAPI cuMemHostAlloc(void **out, size_t bytes, unsigned flags)
{
    NEED_CONTEXT(context);
    if (flags & ~7u) return fail(CUDA_ERROR_INVALID_VALUE, "unknown flags");
    if (!bytes) { /* as the hardware's driver does */
        *out = NULL;
        return CUDA_SUCCESS;
    }
    uint64_t address;
    CUresult result = allocate(bytes, HOST_MEMORY, flags | 2, &address);
    if (!result) *out = (void *)address;
    return result;
}

CUAPI cuMemAllocHost_v2(void **out, size_t bytes) { return cuMemHostAlloc(out, bytes, 0); }

CUAPI cuMemFreeHost(void *pointer)
{
    if (!pointer) return CUDA_SUCCESS;
    CUresult result = capture_refuse_unsafe();
    if (result) return result;
    wait_for_users((uint64_t)pointer);
    return release((uint64_t)pointer, HOST_MEMORY, HOST_MEMORY);
}

CUAPI cuMemHostRegister_v2(void *pointer, size_t bytes, unsigned flags)
{
    NEED_CONTEXT(context);
    uint64_t begin = (uint64_t)pointer;
    if (!pointer || !bytes || begin + bytes < begin || flags & ~15u)
        return fail(CUDA_ERROR_INVALID_VALUE, NULL);
    driver_lock();
    CUresult result =
        memory_add_range(context, begin, begin + bytes, REGISTERED_MEMORY, flags | 2, false);
    driver_unlock();
    return result;
}

CUAPI cuMemHostUnregister(void *pointer)
{
    NEED_CONTEXT(context);
    wait_for_users((uint64_t)pointer);
    driver_lock();
    const Allocation *found = memory_find((uint64_t)pointer);
    CUresult result = CUDA_SUCCESS;
    if (!found || found->kind != REGISTERED_MEMORY)
        result = fail(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, NULL);
    else if (found->begin != (uint64_t)pointer)
        result = fail(CUDA_ERROR_INVALID_VALUE, "not the beginning of the registered memory");
    else memory_remove_range(found->begin);
    driver_unlock();
    return result;
}

/* Copies out the page-locked or registered allocation around a host pointer. */
static CUresult host_allocation(const void *pointer, Allocation *out)
{
    NEED_CONTEXT(context);
    driver_lock();
    const Allocation *found = memory_find((uint64_t)pointer);
    bool right = found && (found->kind == HOST_MEMORY || found->kind == REGISTERED_MEMORY);
    if (right) *out = *found;
    driver_unlock();
    return right ? CUDA_SUCCESS : fail(CUDA_ERROR_INVALID_VALUE, "not page-locked host memory");
}

CUAPI cuMemHostGetDevicePointer_v2(CUdeviceptr *out, void *pointer, unsigned flags)
{
    Allocation found;
    (void)flags;
    CUresult result = host_allocation(pointer, &found);
    if (!result) *out = (CUdeviceptr)pointer;
    return result;
}

CUAPI cuMemHostGetFlags(unsigned *out, void *pointer)
{
    Allocation found;
    CUresult result = host_allocation(pointer, &found);
    if (!result) *out = found.flags;
    return result;
}

CUAPI cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *bytes, CUdeviceptr address)
{
    NEED_CONTEXT(context);
    driver_lock();
    const Allocation *found = memory_find(address);
    if (found && base) *base = found->begin;
    if (found && bytes) *bytes = found->end - found->begin;
    driver_unlock();
    return found ? CUDA_SUCCESS
                 : fail(CUDA_ERROR_NOT_FOUND, "0x%llx is in no allocation",
                        (unsigned long long)address);
}

CUAPI cuMemGetInfo_v2(size_t *free, size_t *total)
{
    NEED_CONTEXT(context);
    Memory machine = machine_memory();
    driver_lock();
    size_t part = machine.total / device_count(), used = memory_held(context->device);
    *free = MIN(free_bytes(machine), part > used ? part - used : 0);
    *total = part;
    driver_unlock();
    return CUDA_SUCCESS;
}

CUAPI cuStreamAttachMemAsync(CUstream stream, CUdeviceptr address, size_t bytes, unsigned flags)
{
    NEED_CONTEXT(context);
    if (!stream_valid(stream)) return fail(CUDA_ERROR_INVALID_HANDLE, "no such stream");
    if ((flags != 1 && flags != 2 && flags != 4) || (flags == 4 && !stream))
        return fail(CUDA_ERROR_INVALID_VALUE, "attach flags");
    driver_lock();
    const Allocation *found = memory_find(address);
    bool right = found && found->kind == MANAGED_MEMORY && found->begin == address &&
                 (!bytes || bytes == found->end - found->begin);
    driver_unlock();
    return right ? CUDA_SUCCESS : fail(CUDA_ERROR_INVALID_VALUE, "not managed memory");
}
