/* The interface of memory/: the driver's lock, allocations, copies and pointer queries. */
#ifndef SOFTGPU_MEMORY_H
#define SOFTGPU_MEMORY_H

#include "streams/streams.h"
#if SOFTGPU_ROOM < ROOM_MEMORY
#error "memory/ is above this room, which may call only rooms below it (driver.h)"
#endif

/* ---- lock.c: one readers-writer lock around memory and launches ----

   Everything that changes or copies memory holds the lock as a writer. So does a launch that
   runs alone: its threads read the table of allocations without locking. Concurrent launches on
   several devices do not hold the lock: each of their threads is a reader until it pauses, and a
   writer waits for all of them. Never hold the lock while calling Python. */
void driver_lock(void);
void driver_lock_beside(void); /* waits for no reader: for work that leaves the table unchanged */
void driver_unlock(void);
void driver_read(void); /* make this thread a reader until driver_read_end */
void driver_read_end(void);
bool driver_wanted(void); /* whether a writer is waiting for the readers to pause */
void driver_pause(void);  /* yield to waiting writers; the table may change meanwhile */
void driver_forget(void); /* reset the readers in a child of fork; needs the lock */

/* ---- table.c: the table of allocations; all functions need the lock ---- */

typedef enum {
    DEVICE_MEMORY,
    HOST_MEMORY,
    MANAGED_MEMORY,
    REGISTERED_MEMORY,
    VARIABLE,
    IMPORTED_MEMORY /* from another process */
} MemoryKind;

typedef struct Pool Pool;

typedef struct {
    int process, file;
    uint64_t inode;
} SharedFile;
/* The location of an allocation that another process shares. */
typedef struct {
    SharedFile of;
    uint64_t at, bytes; /* its offset and size in the file */
    uint64_t id;        /* the allocation's id */
} SharedPlace;

typedef struct {
    uint64_t begin, end;
    MemoryKind kind;
    unsigned flags;
    bool constant;           /* read-only for kernels */
    bool sparse;             /* not usable by sanitized or profiled launches */
    bool shared;             /* other processes may map it */
    struct Written *written; /* which bytes are initialised; NULL: all */
    Context *owner;
    int device;                /* the device that holds it, or ANYWHERE */
    Pool *pool;                /* the pool that it was allocated from, or NULL */
    struct GraphMemory *graph; /* the graph whose nodes allocate and free it, or NULL */
    bool vacant;               /* a reserved address, without memory until a graph allocates it */
    uint32_t readers;          /* bit mask of other devices that may access it */
    uint64_t id;
    SharedPlace origin; /* IMPORTED_MEMORY only */
    unsigned opened;    /* IMPORTED_MEMORY only: how many times it is open */
} Allocation;

const Allocation *memory_find(uint64_t address);
bool memory_covers(uint64_t address, size_t bytes);
const Allocation *memory_near(uint64_t address); /* the nearest within 1 MiB, or NULL */
/* Get the most recently freed allocation that contained the address; false: none. */
bool memory_freed(uint64_t address, Range *range);
uint64_t memory_removals(void); /* allocations freed so far */
/* Whether the host or another process may access device memory while a kernel runs. */
bool memory_is_reached(void);

/* ---- describe.c ---- */

/* Describe an address relative to the nearest allocation, as in "12 bytes past the end of the
   1024-byte allocation at 0x7f..."; needs the lock. */
void memory_describe(uint64_t address, char *text, size_t room);

/* ---- budget.c: limits set by the machine's memory ---- */

/* Map zeroed pages, which take memory only once written; NULL: out of memory. Free them with
   munmap. */
void *map_pages(size_t bytes);
/* Map pages for shared memory at a multiple of CLUSTER_STEP: programs take the low 24 bits of a
   shared address for its offset, as on a GPU. No memory of another kind follows within 4 GiB.
   These pages stay mapped. */
void *map_window(size_t bytes);
#define LOCAL_WINDOW (16u << 20) /* size of the local memory window, in bytes */
/* Map pages for a program's allocation, if it fits next to its others; these need the lock. */
void *memory_map(size_t bytes);
void memory_unmap(void *memory, size_t bytes);
bool memory_fits(size_t bytes);
CUresult memory_refuse(size_t bytes); /* fail with a message that says how much memory is free */

/* ---- allocate.c: register ranges that the driver did not allocate; these need the lock ---- */

CUresult memory_add_range(Context *owner, uint64_t begin, uint64_t end, MemoryKind kind,
                          unsigned flags, bool constant);
void memory_remove_range(uint64_t begin);
void memory_free_all(Context *owner);

/* ---- memory.c, copy.c, texture.c: used by graphs and by contexts that end ---- */

/* Free memory from cuMemAlloc or cuMemAllocAsync. */
CUresult memory_release(uint64_t address);
CUresult memory_copy(const CUDA_MEMCPY3D *copy);
/* Set `height` rows, `pitch` bytes apart, of `width` elements of `size` bytes (1, 2 or 4). */
CUresult memory_set(uint64_t to, size_t pitch, uint32_t value, size_t size, size_t width,
                    size_t height);
void arrays_free_all(Context *owner);
void texel_objects_free_all(Context *owner);

/* ---- graph_memory.c: memory allocated by graph nodes ---- */

/* Reserve an address for an allocation node; the graph owns it. */
CUresult graph_allocate(Graph *graph, AllocNode *node);
/* Fail unless a node of the graph may free the address. */
CUresult graph_frees(const Graph *graph, CUdeviceptr address);
bool graph_memory_is_there(CUdeviceptr address);
CUresult graph_memory_begin(CUdeviceptr address);

/* ---- peers.c: access to another device's memory ---- */

enum { ANYWHERE = -1 }; /* the device of memory that all devices can access */
/* Whether kernels of the context may access the allocation. */
bool peer_reaches(const Context *context, const Allocation *allocation);
void peer_count(int from, int to, size_t bytes); /* count bytes transferred between devices */
void peer_forget(Context *context);              /* remove a context that ends */

/* ---- written.c: which device memory is initialised; all functions need the lock ---- */

/* `in`: the allocation that contains the address, or NULL. */
void written_by_host(const Allocation *in, uint64_t address, size_t bytes);
void written_as_a_whole(const Allocation *in);
void written_everywhere(void); /* treat all current allocations as written */
bool written_test(const uint8_t *bits, uint64_t from, uint64_t count); /* all bits are set */
void written_set(uint8_t *bits, uint64_t from, uint64_t count, bool value);
/* Return the current bits of an allocation, one per byte; NULL: all of it is written. */
const uint8_t *written_bits(const Allocation *allocation);

#endif
