/* What the files of memory/ share, in an order in which each calls only those above it. */
#ifndef SOFTGPU_MEMORY_INTERNAL_H
#define SOFTGPU_MEMORY_INTERNAL_H

#include "memory.h"
#if SOFTGPU_ROOM != ROOM_MEMORY
#error "private to memory/: include memory/memory.h"
#endif

#define ALLOCATION_ALIGN 512u   /* as on the hardware */
#define RED_BYTES 512u          /* at least this much unallocated space after each allocation */
#define SMALL_BYTES (1u << 20)  /* allocations below this share pages */
#define ZONES_MOST (4ull << 40) /* bytes of address space that allocations come from, at most */

static inline uint64_t round_up(uint64_t value, uint64_t step)
{ return (value + step - 1) / step * step; }

struct Pool {
    void *handle; /* NULL: destroyed, and some of its memory still in use */
    int device;
    uint32_t readers; /* devices that may access its memory, as bits */
    MemoryKind kind;
    size_t used, high, most;
    size_t reserved, reserved_high; /* what a GPU's pool would hold: pieces of POOL_PIECE */
    uint64_t threshold;
    uint64_t waits; /* host_waits() when that was last updated */
    int reuse[3];
};

/* Everything from here to the calls of the driver needs the lock, except location.c.

   ---- shared.c: pages that other processes map ---- */

CUresult shared_file(SharedFile *out); /* this process's */
CUresult shared_open(const SharedFile *of, int *descriptor);
/* Moves what has a place in this process's file there; it keeps its address. */
CUresult shared_begin(const SharedPlace *place, uint64_t address);
void shared_end(uint64_t at);                /* others can no longer map it */
void shared_drop(uint64_t at, size_t bytes); /* frees pages, if they are in the file */
/* Maps what another process shares; within its page, the address is where the place is. */
CUresult shared_map(const SharedPlace *place, uint64_t address);

/* ---- written.c ---- */

struct Written *written_new(void);
void written_free(struct Written *written);
/* source: the allocation around `from`; NULL: none, all of it counts as written. */
void written_by_copy(const Allocation *target, uint64_t to, const Allocation *source, uint64_t from,
                     size_t bytes);

/* ---- table.c ---- */

typedef struct {
    Allocation *at; /* sorted by begin; no two overlap */
    size_t count, room;
} Table;
extern Table table;

size_t table_after(uint64_t address); /* the index of the first one that ends after the address */
Allocation *table_entry(uint64_t address); /* what is there, even if vacant; or NULL */
bool table_insert(Allocation new);         /* false: out of memory */
void table_clear(size_t i);                /* its contents are gone */
void table_remove(size_t i);
void table_renew(Allocation *a); /* it gets a new id, as a new allocation would */
void table_share(Allocation *a); /* other processes may map it from now on */

/* ---- zones.c ---- */

/* Chooses an address and makes its pages usable; 0: no room. */
uint64_t zones_place(size_t bytes, MemoryKind kind, bool sparse);
uint64_t zones_place_import(size_t bytes); /* an address for whole pages, which stay closed */
/* Makes the pages of a vacant allocation usable. */
bool zones_open(uint64_t begin, size_t bytes, bool sparse);
/* Gives back the pages of what was the table's entry i, and is gone, or vacant, now. */
void zones_close(uint64_t begin, uint64_t end, size_t i);
uint64_t zones_offset(uint64_t address); /* from the beginning of the zones */
bool zones_have(uint64_t address);       /* whether allocations come from there, live or not */
Range zones_small_pages(void);           /* those that small allocations share */
Range zones_large(void);
/* How many bytes of a range have pages, if only such as stand for zeros that were read. */
size_t pages_touched(uint64_t begin, uint64_t end);
/* Zeros device memory; pages that nobody has touched stay so, and take no memory. */
void memory_zero(uint64_t begin, size_t bytes);

/* ---- budget.c ---- */

/* Whether a device has so much left of its part of the machine's memory, and the machine has, too. */
bool budget_fits(int device, size_t bytes, bool sparse);
void budget_begin(const Allocation *a); /* from now on it counts as handed out */
void budget_end(const Allocation *a);
size_t budget_held(int device); /* bytes of its own memory in use */
size_t budget_free(Memory machine);

/* ---- allocate.c ---- */

CUresult memory_allocate(Context *owner, int device, size_t bytes, MemoryKind kind, unsigned flags,
                         uint64_t *address);
void memory_free(uint64_t begin); /* the begin of a live allocation */
#define POOL_PIECE (32u << 20)
void memory_trim_pool(Pool *pool, size_t held);   /* reserves no more than it uses, or `held` */
void memory_settle_pool(Pool *pool);              /* reserves less if the host has waited since */
void memory_set_pool(uint64_t begin, Pool *pool); /* the allocation counts as in use there */
void memory_leave_pool(Pool *pool, size_t bytes); /* frees a destroyed pool with its last bytes */
/* An address for memory that launches of a graph allocate and free. */
CUresult memory_reserve(Context *owner, int device, size_t bytes, MemoryKind kind,
                        struct GraphMemory *graph, uint32_t readers, uint64_t *address);
CUresult memory_occupy(uint64_t begin, Pool *pool);  /* its memory comes */
const Allocation *memory_reserved(uint64_t address); /* such an address, vacant or not; or NULL */
void memory_abandon(uint64_t begin);                 /* no graph needs it any more */

/* ---- location.c: where memory lies, as calls name it ---- */

enum { ACCESS_READ_WRITE = 3 };
CUresult location_kind(MemoryLocation location, int type, int *device, MemoryKind *kind);
PoolProperties location_of(int device, MemoryKind kind);
bool location_is_device(const MemoryLocation *location);
PoolAccess location_read_write(int device);
/* Updates the devices that may access memory of the device `own`, as bits. */
CUresult location_access(const PoolAccess *wanted, size_t count, int own, uint32_t *readers);
Pool *pool_begin(Pool *pool, int device, MemoryKind kind, size_t most);

/* ---- ipc.c ---- */

static inline bool memory_is_shareable(const Allocation *a)
{ return a->kind == DEVICE_MEMORY && !a->pool && !a->sparse; }

#endif
