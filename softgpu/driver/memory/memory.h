/* The interface of memory/: the driver's lock, allocations, copies, and what is known of a pointer. */
#ifndef SOFTGPU_MEMORY_H
#define SOFTGPU_MEMORY_H

#include "streams/streams.h"
#if SOFTGPU_ROOM < ROOM_MEMORY
#error "memory/ is above this room, which may call only rooms below it (driver.h)"
#endif

/* ---- lock.c: one readers-writer lock around memory and launches ----

   Whatever changes or copies memory holds the lock, and so does a launch that runs alone: its threads
   read the table of allocations freely. Launches that run at the same time, on several devices, do not
   hold it: each of their threads is a reader until it pauses, and a writer waits for all of them. It is
   never held while Python is called. */
void driver_lock(void);
void driver_lock_beside(void); /* for work that leaves the table as it is: waits for no reader */
void driver_unlock(void);
void driver_read(void); /* this thread is a reader until driver_read_end */
void driver_read_end(void);
bool driver_wanted(void); /* whether a writer waits for the readers to pause */
void driver_pause(void);  /* lets writers go first; the table may have changed afterwards */
void driver_forget(void); /* in a child of fork, with the lock: it has no readers */

/* ---- table.c: the table of allocations; all functions need the lock ---- */

typedef enum {
    DEVICE_MEMORY,
    HOST_MEMORY,
    MANAGED_MEMORY,
    REGISTERED_MEMORY,
    VARIABLE,
    IMPORTED_MEMORY /* another process's */
} MemoryKind;

typedef struct Pool Pool;

typedef struct {
    int process, file;
    uint64_t inode;
} SharedFile;
/* Where an allocation lies that another process shares. */
typedef struct {
    SharedFile of;
    uint64_t at, bytes; /* in the file, which has a place for every allocation */
    uint64_t id;        /* of the allocation */
} SharedPlace;

typedef struct {
    uint64_t begin, end;
    MemoryKind kind;
    unsigned flags;
    bool constant;           /* kernels may not write it */
    bool sparse;             /* launches that are watched or profiled cannot use it */
    bool shared;             /* other processes may map it */
    struct Written *written; /* NULL: all of it was written */
    Context *owner;
    int device;                /* that it lies in, or ANYWHERE */
    Pool *pool;                /* that it was taken from, or NULL */
    struct GraphMemory *graph; /* whose nodes allocate and free it, or NULL */
    bool vacant;               /* an address without memory, until a graph allocates it */
    uint32_t readers;          /* other devices that may access it, as bits */
    uint64_t id;
    SharedPlace origin; /* of an import */
    unsigned opened;    /* of an import: how often */
} Allocation;

const Allocation *memory_find(uint64_t address);
bool memory_covers(uint64_t address, size_t bytes);
const Allocation *memory_near(uint64_t address); /* the nearest within 1 MiB, or NULL */
/* The most recently freed allocation around an address; false: none. */
bool memory_freed(uint64_t address, Range *range);
uint64_t memory_removals(void); /* how many allocations have been freed so far */
/* Whether the host, or another process, may touch some memory while a kernel runs. */
bool memory_is_reached(void);

/* ---- describe.c ---- */

/* "12 bytes past the end of the 1024-byte allocation at 0x7f..." and the like; needs the lock. */
void memory_describe(uint64_t address, char *text, size_t room);

/* ---- budget.c: what fits into the machine's memory ---- */

/* Zeros, which take memory only where they are written; NULL: none is left. munmap frees them. */
void *map_pages(size_t bytes);
/* The same for shared memory, at a multiple of CLUSTER_STEP: programs take the low 24 bits of a shared
   address for its offset, as on a GPU, and what follows within 4 GiB is no memory of another kind. Such
   memory stays mapped. */
void *map_window(size_t bytes);
#define LOCAL_WINDOW (16u << 20) /* as many addresses count as local memory */
/* The same for what a program requests, if it fits beside its allocations; these need the lock. */
void *memory_map(size_t bytes);
void memory_unmap(void *memory, size_t bytes);
bool memory_fits(size_t bytes);
CUresult memory_refuse(size_t bytes); /* fails, and says how much memory is free */

/* ---- allocate.c: ranges that the driver does not allocate; they need the lock ---- */

CUresult memory_add_range(Context *owner, uint64_t begin, uint64_t end, MemoryKind kind,
                          unsigned flags, bool constant);
void memory_remove_range(uint64_t begin);
void memory_free_all(Context *owner);

/* ---- memory.c, copy.c, texture.c: for graphs, and for contexts that end ---- */

/* cuMemFree, also of what was allocated in the order of a stream. */
CUresult memory_release(uint64_t address);
CUresult memory_copy(const CUDA_MEMCPY3D *copy);
/* Sets rows of width elements of 1, 2 or 4 bytes, pitch bytes apart. */
CUresult memory_set(uint64_t to, size_t pitch, uint32_t value, size_t size, size_t width,
                    size_t height);
void arrays_free_all(Context *owner);
void texel_objects_free_all(Context *owner);

/* ---- graph_memory.c: memory that nodes of graphs allocate ---- */

/* Gives a node of the graph an address, which the graph owns. */
CUresult graph_allocate(Graph *graph, AllocNode *node);
CUresult graph_frees(const Graph *graph, CUdeviceptr address); /* fails if no node may free there */
bool graph_memory_is_there(CUdeviceptr address);
CUresult graph_memory_begin(CUdeviceptr address);

/* ---- peers.c: access to another device's memory ---- */

enum { ANYWHERE = -1 }; /* the device of memory that all devices reach */
/* Whether kernels of a context may touch an allocation. */
bool peer_reaches(const Context *context, const Allocation *allocation);
void peer_count(int from, int to, size_t bytes); /* counts bytes that went between devices */
void peer_forget(Context *context);              /* it ends */

/* ---- written.c: which device memory has been written; all functions need the lock ---- */

/* `in`: the allocation around the address; NULL: none. */
void written_by_host(const Allocation *in, uint64_t address, size_t bytes);
void written_as_a_whole(const Allocation *in);
void written_everywhere(void); /* all that there is now may have been written */
bool written_test(const uint8_t *bits, uint64_t from, uint64_t count); /* all bits are set */
void written_set(uint8_t *bits, uint64_t from, uint64_t count, bool value);
/* The bits of an allocation as of now; NULL: all of it is written. */
const uint8_t *written_bits(const Allocation *allocation);

#endif
