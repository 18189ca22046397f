/* What the driver's own files share with each other. */
#ifndef SOFTGPU_DRIVER_H
#define SOFTGPU_DRIVER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "cuda_abi.h"
#include "processor/processor.h"
#include "runtime.h"

#define MAX_WARPS (BLOCK_THREADS / LANES) /* in a block */
#define MAX_BUILDS 8 /* kinds of code per kernel: 0 plain, others instrumented */
#define BARRIERS 16  /* named barriers of a block */
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
/* Whether an array has room for one more than `count`, for which it is made twice as large. */
#define GROW(array, count, room, least)                                                            \
    ({                                                                                             \
        void *moved_ = (array);                                                                    \
        if ((count) == (room)) {                                                                   \
            __typeof__(room) more_ = (room) ? 2 * (room) : (least);                                \
            moved_ = realloc((array), more_ * sizeof *(array));                                    \
            if (moved_) (array) = moved_, (room) = more_;                                          \
        }                                                                                          \
        moved_ != NULL;                                                                            \
    })
#define FOR_LANES(lane, mask)                                                                      \
    for (uint32_t rest_ = (mask), lane; rest_ && (lane = __builtin_ctz(rest_), 1);                 \
         rest_ &= rest_ - 1)
/* Of functions over lanes. */
#define VECTORISED __attribute__((noinline)) NEWER_TOO

/* ---- error.c: codes and the words that go with them ---- */

/* Returns code; remembers the detail (NULL: none) for cuGetErrorString on this thread. */
CUresult fail(CUresult code, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Says something to the user of a program, if there is one who listens. */
void say_to_user(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same as fail, with the detail that Python gave through sg_set_error. */
CUresult fail_as_told(int answer); /* of a callback */
const char *detail_text(void);
void clear_detail(void);

/* ---- handles.c: numbers that name live objects ---- */

typedef enum {
    NO_OBJECT,
    CONTEXT,
    MODULE,
    FUNCTION,
    STREAM,
    EVENT,
    ARRAY,
    TEXTURE,
    SURFACE,
    LINKER,
    POOL,
    LIBRARY,
    LIBRARY_KERNEL,
    GRAPH,
    GRAPH_NODE,
    GRAPH_EXEC,
    USER_OBJECT,
    CONDITION
} ObjectKind;
void *handle_new(ObjectKind kind, void *object);
void *handle_object(ObjectKind kind, void *handle); /* NULL unless live and of that kind */
void handle_drop(void *handle);
/* Calls visit for every live object of a kind. */
void handle_each(ObjectKind kind, void (*visit)(void *handle, void *object, void *data),
                 void *data);

/* ---- current.c: the context that is current on this thread ---- */

typedef struct Context {
    void *handle;
    int device;
    struct Peers {
        uint64_t *ids; /* of contexts whose memory kernels of this one may touch */
        size_t count, room;
    } peers;
    unsigned flags;
    uint64_t id;
    int users; /* attached or retained this many times; 0: destroyed */
    int cache_config;
    size_t limits[9];
    StreamAttribute of_default_streams[STREAM_ATTRIBUTES];
    struct Heap *heap; /* made when a kernel first asks for memory */
} Context;

#define HEAP_LIMIT 2 /* CU_LIMIT_MALLOC_HEAP_SIZE, index into limits */

/* The context, or NULL with *error set to the code to return. */
Context *current_context(CUresult *error);
void *current_handle(void); /* or NULL; of a destroyed one, too */
CUresult current_push(void *handle);
void current_pop(void);
#define NEED_CONTEXT(name)                                                                         \
    CUresult error_;                                                                               \
    Context *name __attribute__((unused)) = current_context(&error_);                              \
    if (!name) return fail(error_, NULL)

/* ---- device.c ---- */

CUresult need_init(void);
int device_count(void);
bool is_device(int device);
CUresult no_such_device(void);
#define NEED_DEVICE(device)                                                                        \
    do {                                                                                           \
        if (need_init()) return CUDA_ERROR_NOT_INITIALIZED;                                        \
        if (!is_device(device)) return no_such_device();                                           \
    } while (0)

/* ---- machine.c ---- */

/* Bytes that this machine, or the container that it is, has, and could still hand out; that this
   process has written to, or 0 where that cannot be told. */
typedef struct {
    size_t total, available, own;
} Memory;
Memory machine_memory(void);
unsigned usable_cores(void);
double seconds_now(void);
/* Starts a thread that no signal disturbs. */
bool thread_start(void *(*body)(void *), void *argument, size_t stack);

/* ---- crash.c: SOFTGPU_CRASHES=1 says where a process crashed ---- */

/* The code of a kernel begins here. */
void crash_code(const void *entry, const char *kernel);

/* ---- interrupt.c: Ctrl-C while the host waits ---- */

/* Each begin has its end. The words, of one thread at a time, become 1. */
void interrupts_begin(volatile int *first, volatile int *second);
void interrupts_end(bool had_words);
bool interrupts_happened(void); /* since this was last asked */
unsigned interrupts_count(void);

/* ---- allocations ---- */

/* Zeros, which take room only where they are written; NULL: none is left. munmap frees them. */
void *map_pages(size_t bytes);
/* For shared memory: programs take the low 24 bits of its addresses for its own, as on a GPU, and
   all that follows within 4 GiB is no memory of another kind. It stays. */
void *map_window(size_t bytes);
#define LOCAL_WINDOW (16u << 20) /* as many addresses count as local memory */
/* The same for what a program asks for, where it must fit beside its allocations (memory.c); needs
   the lock. */
void *memory_map(size_t bytes);
void memory_unmap(void *memory, size_t bytes);
CUresult memory_refuse(size_t bytes); /* says why these did not fit */
bool memory_fits(size_t bytes);

typedef enum {
    DEVICE_MEMORY,
    HOST_MEMORY,
    MANAGED_MEMORY,
    REGISTERED_MEMORY,
    VARIABLE,
    IMPORTED_MEMORY /* another process's */
} MemoryKind;

typedef struct Pool {
    void *handle; /* NULL: destroyed, and some of its memory still in use */
    int device;
    uint32_t readers; /* devices that may touch its memory, as bits */
    MemoryKind kind;
    size_t used, high, most;
    size_t reserved, reserved_high; /* what a GPU's pool would hold: pieces of POOL_PIECE */
    uint64_t threshold;
    uint64_t waits; /* host_waits() when that was last looked at */
    int reuse[3];
} Pool;

/* ---- location.c: where memory lies, as calls name it ---- */

enum { ACCESS_READ_WRITE = 3 };
CUresult location_kind(MemoryLocation location, int type, int *device, MemoryKind *kind);
PoolProperties location_of(int device, MemoryKind kind);
bool location_is_device(const MemoryLocation *location);
PoolAccess location_read_write(int device);
/* Into the bits of devices that may touch what lies on one of them. */
CUresult location_access(const PoolAccess *wanted, size_t count, int own, uint32_t *readers);
Pool *pool_begin(Pool *pool, int device, MemoryKind kind, size_t most);

/* ---- shared.c: memory that other processes map; all of it needs the lock ---- */

#define ALLOCATION_ALIGN 512u   /* as on the hardware */
#define ZONES_MOST (4ull << 40) /* bytes of address space that allocations come from, at most */

typedef struct {
    int process, file;
    uint64_t inode;
} SharedFile;
typedef struct {
    SharedFile of;
    uint64_t at, bytes; /* in the file, where an allocation has its place among all */
    uint64_t id;        /* of the allocation */
} SharedPlace;

CUresult shared_file(SharedFile *out); /* this process's */
CUresult shared_open(const SharedFile *of, int *descriptor);
/* What has a place in this process's file moves there, and stays at its address. */
CUresult shared_begin(const SharedPlace *place, uint64_t address);
void shared_end(uint64_t at);                /* it is no longer there for others */
void shared_drop(uint64_t at, size_t bytes); /* pages, if they are in the file */
/* Maps what another process shares; within a page, the address is where the place is. */
CUresult shared_map(const SharedPlace *place, uint64_t address);

typedef struct {
    uint64_t begin, end;
    MemoryKind kind;
    unsigned flags;
    bool constant;           /* kernels may not write it */
    bool sparse;             /* no launch that is watched or profiled can be on it */
    bool shared;             /* other processes may map it */
    struct Written *written; /* NULL: all of it */
    Context *owner;
    int device;                /* that it lies in, or ANYWHERE */
    Pool *pool;                /* that it was taken from, or NULL */
    struct GraphMemory *graph; /* whose nodes allocate and free it, or NULL */
    bool vacant;               /* there is an address, but no memory until a graph allocates it */
    uint32_t readers;          /* devices that may touch it besides, as bits */
    uint64_t id;
    SharedPlace origin; /* of what is imported */
    unsigned opened;    /* this many times */
} Allocation;

/* ---- peers.c: what lies in another device's memory ---- */

enum { ANYWHERE = -1 }; /* where all devices reach it */
/* Whether kernels of a context may touch an allocation. */
bool peer_reaches(const Context *context, const Allocation *allocation);
void peer_count(int from, int to, size_t bytes); /* these went from device to device */
void peer_forget(Context *context);              /* it ends */

/* ---- written.c: what of device memory has been written; all of it needs the lock ---- */

struct Written *written_new(void);
void written_free(struct Written *written);
/* An address, and the allocation that it is in; NULL: in none. */
void written_by_host(const Allocation *in, uint64_t address, size_t bytes);
void written_by_copy(const Allocation *target, uint64_t to, const Allocation *source, uint64_t from,
                     size_t bytes);
void written_as_a_whole(const Allocation *in);
void written_everywhere(void); /* all that there is now may have been written */
bool written_test(const uint8_t *bits, uint64_t from, uint64_t count); /* all bits are set */
void written_set(uint8_t *bits, uint64_t from, uint64_t count, bool value);
/* The bits of an allocation as of now; NULL: all of it is written. */
const uint8_t *written_bits(const Allocation *allocation);

/* ---- memory.c: the table of allocations ---- */

/* One lock for everything that changes or copies memory, and for the whole of a launch:
   while it is held by a launch, its worker threads read the table freely. Never held while
   Python is called. Launches that run beside each other, on several devices, do not hold it: each of
   their threads reads the table until it pauses, and who takes the lock waits for all of them. */
void driver_lock(void);
void driver_lock_beside(void); /* changes no table, and so waits for no reader */
void driver_unlock(void);
void driver_read(void); /* this thread reads, until driver_read_end */
void driver_read_end(void);
bool driver_wanted(void); /* whether somebody waits for the readers to pause */
void driver_forget(void); /* in a child of fork, with the lock: nobody reads */
void driver_pause(void);  /* lets them have the lock first; the table may be another then */
/* Whether the host, or another process, may touch some of it while a kernel runs. */
bool memory_is_reached(void);
uint64_t memory_removals(void);

/* All of these need the lock. */
size_t memory_held(int device); /* bytes of its own memory in use */
const Allocation *memory_find(uint64_t address);
void memory_zero(uint64_t begin, size_t bytes); /* what nobody has touched takes no memory */
bool memory_covers(uint64_t address, size_t bytes);
bool memory_in_zones(uint64_t address); /* where allocations come from, live or not */
CUresult memory_allocate(Context *owner, int device, size_t bytes, MemoryKind kind, unsigned flags,
                         uint64_t *address);
#define POOL_PIECE (32u << 20)
void memory_trim_pool(Pool *pool, size_t held); /* reserves no more than it uses, or so much */
void memory_settle_pool(Pool *pool);            /* reserves less where the host has waited since */
void memory_set_pool(uint64_t begin, Pool *pool); /* its memory counts as in use there */
void memory_leave_pool(Pool *pool, size_t bytes); /* a destroyed one goes with the last of it */
void memory_free(uint64_t begin);                 /* an address that memory_find found as begin */
/* An address for memory that comes and goes with launches of a graph; its memory comes; what there is
   at the address, vacant or not, or NULL; no graph needs it any more. */
CUresult memory_reserve(Context *owner, int device, size_t bytes, MemoryKind kind,
                        struct GraphMemory *graph, uint32_t readers, uint64_t *address);
CUresult memory_occupy(uint64_t begin, Pool *pool);
const Allocation *memory_reserved(uint64_t address);
void memory_abandon(uint64_t begin);
CUresult memory_add_range(Context *owner, uint64_t begin, uint64_t end, MemoryKind kind,
                          unsigned flags, bool constant); /* not ours to give back */
void memory_remove_range(uint64_t begin);
void memory_free_all(Context *owner);
bool memory_is_shareable(const Allocation *allocation);
CUresult memory_share(uint64_t begin, SharedPlace *out);
CUresult memory_import(Context *owner, int device, const SharedPlace *origin, uint64_t *address);
void memory_close(uint64_t begin); /* as often as it was imported; then it is gone */
/* "12 bytes past the end of the 1024-byte allocation at 0x7f..." and the like. */
void memory_describe(uint64_t address, char *text, size_t room);
const Allocation *memory_near(uint64_t address); /* the nearest within 1 MiB, or NULL */
/* cuMemFree, for what was allocated in the order of a stream too. */
CUresult memory_release(uint64_t address);
/* The most recently freed allocation around an address; false: none. */
bool memory_freed(uint64_t address, Range *range);

/* ---- heap.c: malloc and free inside kernels ---- */

typedef enum { NOT_IN_HEAP, NOT_IN_BLOCK, IN_BLOCK } HeapAnswer;
HeapAnswer heap_range(Context *context, uint64_t address, Range *range); /* the block there */
bool heap_before(Context *context, uint64_t address, Range *range); /* the block that it follows */
Range heap_whole(Context *context); /* all of it; empty: there is none yet */
void heap_free(Context *context);

/* ---- copy.c ---- */

void arrays_free_all(Context *owner);
void texel_objects_free_all(Context *owner); /* texture.c */
CUresult memory_copy(const CUDA_MEMCPY3D *copy);
/* Rows of width elements of 1, 2 or 4 bytes, pitch bytes apart. */
CUresult memory_set(uint64_t to, size_t pitch, uint32_t value, size_t size, size_t width,
                    size_t height);

/* ---- module.c ---- */

#define TIERS 2

typedef struct Code {
    Entry entry[TIERS]; /* NULL where it is not made */
    uint32_t counter_count;
    uint64_t work; /* done so far, or just begun: in turns of a warp through a loop or the whole */
} Code;

typedef struct Kernel {
    void *handle; /* made at the first cuModuleGetFunction */
    struct Module *module;
    struct Kernel *next;
    char *name, *shown; /* as PTX has it; as its author does */
    size_t param_bytes;
    char *takes;           /* the parameters' sizes, " (8 + 4)", or empty */
    uint32_t (*params)[3]; /* as in KernelFacts */
    uint32_t param_count, param_align;
    uint32_t loop_depth;
    uint64_t loop_constant;
    bool few_turns;
    uint32_t static_shared, dynamic_align, local_bytes, max_threads, ptx_version;
    uint32_t watched_shared;
    uint32_t cluster[3]; /* 0: it is not said */
    bool large_clusters; /* may have more than PORTABLE_CLUSTER blocks */
    const char **files;
    uint32_t file_count, site_count;
    struct Site *sites;
    Origin *origins;       /* for the sanitizer, or NULL */
    bool follows_pointers; /* in memory: it may write what its parameters do not point to */
    bool runs_through;     /* its warps never wait for each other */
    bool has_warpgroups;   /* most of its work is the driver's own */
    Code code[MAX_BUILDS];
    bool attributes_known;
    uint32_t registers, reported_local, reported_const;
    uint32_t max_dynamic_shared;
    int carveout;
    /* what the calls before cuLaunchKernel's time leave here */
    uint32_t block_shape[3], shared_size;
    size_t param_size;
    char *param_buffer;
} Kernel;

typedef struct Module {
    void *handle;
    Context *owner;
    char *base; /* of its variables */
    size_t bytes, mapped;
    struct Variable *variables;
    Kernel *kernels;
} Module;

/* What ptxas says of it, if that is not known yet. */
CUresult kernel_learn_attributes(Kernel *kernel);
/* The code of a build for so much more work, which is compiled if that has not happened yet. */
CUresult kernel_compile(Kernel *kernel, uint32_t build, uint64_t work, Entry *entry);
void modules_free_all(Context *owner);
/* owner NULL: of no context yet */
CUresult module_load(Context *owner, const char *image, size_t bytes, Module **out);
void module_unload(void *handle);
size_t module_image_bytes(const void *image);
CUresult module_read_file(const char *path, char **image,
                          size_t *bytes); /* ends with a zero byte */
/* Into the log buffers among the options: why loading failed, or nothing. */
void module_tell_log(CUresult result, unsigned count, const int *options, void **values);
CUresult module_kernel(Module *module, const char *name, Kernel **out); /* compiled */
CUAPI cuModuleGetFunctionCount(unsigned *count, CUmodule module);
CUAPI cuModuleGetGlobal_v2(CUdeviceptr *address, size_t *bytes, CUmodule module, const char *name);

/* ---- library.c ---- */

/* A function's kernel, or that of a library in the current context; NULL and *error. */
Kernel *kernel_of(void *handle, CUresult *error);
#define NEED_KERNEL(name, handle)                                                                  \
    CUresult error_##name;                                                                         \
    Kernel *name = kernel_of(handle, &error_##name);                                               \
    if (!name) return error_##name

/* ---- streams: handles and where they are ---- */

/* 0, 1 and 2 name the default streams, of which the last is a thread's own. */
static inline bool stream_is_legacy(CUstream stream) { return (uintptr_t)stream < 2; }

typedef struct {
    void *context;
    bool blocking; /* the legacy stream waits for it */
    int device;
    CUstream stream; /* NULL: the legacy one */
} StreamPlace;

/* ---- tasks.c: what streams have yet to do, where there are several devices ---- */

typedef CUresult (*TaskBody)(void *data);    /* on a thread of its own, in the stream's context */
typedef bool (*TaskReady)(const void *data); /* with the lock of the tasks */

void tasks_lock(void);
void tasks_unlock(void); /* who waits looks again */
/* Whether a task of this place would come after others. */
bool tasks_before(const StreamPlace *place);
/* Takes the data, which malloc gave; NULL: it is ready once what comes before it has ended. */
CUresult tasks_add(const StreamPlace *place, TaskReady ready, TaskBody body, void *data);
/* The same; returns once it has ended, with what it returned, or waits for others. */
CUresult tasks_attend(const StreamPlace *place, TaskBody body, void *data);
void *task_running(void); /* by this thread */
void task_waits(void *task);
/* Whether a stream has something left to do; until it has not; until a context has not. */
bool tasks_left(const StreamPlace *place);
void tasks_wait(const StreamPlace *place);
void tasks_wait_all(void *context);
void tasks_wait_until(TaskReady ready, const void *data);
/* What failed on a device after its call had returned, once. */
CUresult tasks_error(int device);
void tasks_end(void);    /* until none runs */
void tasks_forget(void); /* in a child of fork, with the lock */

/* ---- attributes.c: of streams; an array has them by their numbers ---- */

enum { LEAST_PRIORITY = 0, GREATEST_PRIORITY = -5 };
enum { ACCESS_WINDOW_BYTES = 128 << 20, MEMORY_DOMAINS = 4 };
CUresult attribute_set(StreamAttribute attributes[], int id, const StreamAttribute *value);
CUresult attribute_get(const StreamAttribute attributes[], int id, StreamAttribute *value);
void attributes_begin(StreamAttribute attributes[], int priority);

/* ---- stream_event.c ---- */

bool stream_valid(CUstream stream);
/* Whether a stream can be given work, and whether the work is to become a node of a graph. */
CUresult stream_begin(CUstream stream, bool *captured);
StreamPlace stream_place(CUstream stream);
/* Whether a stream is of the context's device; says so if not. */
CUresult stream_on_device(CUstream stream, const Context *context);
enum { EVENT_DISABLE_TIMING = 2 };
CUresult event_check_shareable(CUevent event);
/* Does it now or, if the stream has something left to do, after that, with a copy of the data. */
CUresult stream_do(CUstream stream, TaskBody body, void *data, size_t bytes);
/* The stream has nothing left to do; what a call returns that waits for this after `result`. */
void stream_settle(CUstream stream);
CUresult stream_settled(CUstream stream, CUresult result);
CUAPI cuEventCreate(CUevent *out, unsigned flags);
void host_waited(void);    /* for a stream, an event or a context */
uint64_t host_waits(void); /* how often it has */
CUAPI cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned flags);
CUresult event_record(CUevent event, CUstream stream);
void streams_free_all(Context *owner);

/* ---- graph.c: what graphs are made of ---- */

/* A kernel's arguments: pointers to each, then all of them packed. */
typedef struct {
    size_t bytes; /* of all of this */
    uint32_t count;
    void *pointers[];
} NodeArguments;

/* Of a kernel's node: how its blocks run together. */
typedef struct {
    bool cooperative;
    uint32_t cluster[3]; /* blocks of one; 0: as the kernel says */
} Together;

typedef struct Node {
    CUgraphNode handle, origin; /* that it was copied from */
    struct Graph *graph;
    size_t place;        /* among its nodes */
    struct Node **after; /* that come before it */
    size_t count, room;
    NodeParams params;
    NodeArguments *arguments; /* a kernel's, or NULL */
    CUcontext context;        /* that was current */
    Together together;
    bool disabled;
    bool joined; /* to the stream that a capture began with */
} Node;

typedef struct UserObject UserObject;

typedef struct {
    UserObject *object;
    size_t count; /* of references */
} Owned;

typedef struct Graph {
    CUgraph handle;
    Node **nodes; /* as they were added; of an executable one, in an order that edges allow */
    size_t count, room;
    Node *within;     /* a child's, or a condition's: it goes with its node */
    CUgraphExec exec; /* that was made of it last */
    Owned *owned;
    size_t owned_count, owned_room;
} Graph;

/* What a conditional node asks, and kernels set. The graph owns it, and so do its copies. */
typedef struct {
    void *handle;
    CUgraph graph;
    CUgraphNode node; /* that asks */
    CUcontext context;
    bool has_default; /* with which each launch begins */
    unsigned usual, value;
} Condition;

#define NEED_GRAPH(name, handle)                                                                   \
    Graph *name = handle_object(GRAPH, handle);                                                    \
    if (!name) return fail(CUDA_ERROR_INVALID_VALUE, "no such graph")

/* NULL: no memory. */
Graph *graph_new(void);
Graph *graph_clone(const Graph *graph);
void graph_free(Graph *graph);
/* Takes the arguments, and a child's graph, for its own. */
Node *node_new(Graph *graph, const NodeParams *params, NodeArguments *arguments);
void node_free(Node *node);
/* Puts these in the place of its own, which are freed. */
void node_set(Node *node, const NodeParams *params, NodeArguments *arguments);
bool node_follows(const Node *node, const Node *before); /* by an edge */
bool node_follow(Node *node, Node *before);              /* false: no memory */
void node_unfollow(Node *node, const Node *before);
Node *graph_copy_of(const Graph *graph, CUgraphNode origin); /* children's, too; or NULL */
bool graph_sort(Graph *graph);                               /* false: edges go in a circle */
/* How many graphs are inside of a node, a child's or bodies of a condition; which. */
size_t node_inner(const Node *node, CUgraph const **graphs);
Graph *graph_around(const Graph *graph); /* that has it inside of a node; or NULL */
/* Whether there is a node of such a type in it, or in a graph inside of it. */
bool graph_holds(const Graph *graph, bool (*kind)(int type));
static inline bool node_is_of_memory(int type)
{ return type == NODE_MEM_ALLOC || type == NODE_MEM_FREE; }

/* ---- user_object.c ---- */

/* As many references as another graph has, besides its own; false: no memory. */
bool graph_own_as(Graph *graph, const Graph *from);
/* The graph and its copies need the data; then it is destroyed. False: no memory, nothing is owned. */
bool graph_own(Graph *graph, void *data, void (*destroy)(void *data));
void graph_disown(Graph *graph);

/* ---- graph_memory.c: what graphs allocate ---- */

/* An address for a node of the graph, which owns it; whether one of its nodes may free there. */
CUresult graph_allocate(Graph *graph, AllocNode *node);
CUresult graph_frees(const Graph *graph, CUdeviceptr address);
bool graph_memory_is_there(CUdeviceptr address);
CUresult graph_memory_begin(CUdeviceptr address);

/* ---- capture.c: what streams are asked for becomes nodes of a graph ---- */

enum { CAPTURE_GLOBAL, CAPTURE_THREAD_LOCAL, CAPTURE_RELAXED, CAPTURE_MODES };
enum { NOT_CAPTURING, CAPTURING, CAPTURE_INVALID };

typedef struct {
    int status;
    uint64_t id;
    CUgraph graph;
    const CUgraphNode *after; /* what the stream's next node follows */
    size_t count;
} CaptureState;

/* Into a graph of the caller's, after nodes of it, or into a new one (NULL). */
CUresult capture_begin(CUstream stream, StreamPlace place, CUgraph graph, const CUgraphNode *after,
                       size_t count, int mode);
CUresult capture_end(CUstream stream, CUgraph *out); /* NULL: the caller has it already */
CaptureState capture_state(CUstream stream);
/* By which edges: all as they are by default; until the next question. NULL: no memory. */
const EdgeData *capture_edges(CUstream stream);
/* What the stream's next node follows, besides or instead. */
CUresult capture_follow(CUstream stream, const CUgraphNode *nodes, size_t count, bool only);
/* Whether a stream is in a capture, that is valid; the legacy one waits for no stream that is. */
CUresult capture_check(CUstream stream, bool *captured);
/* The next node of a stream; takes the arguments, and a child's graph. `out` may be NULL. */
CUresult capture_node(CUstream stream, const NodeParams *params, NodeArguments *arguments,
                      Node **out);
CUresult capture_record(CUevent event, CUstream stream); /* that is in a capture */
CUresult capture_wait(CUstream stream, StreamPlace place, CUevent event, bool recorded);
/* What a stream or an event of a capture, or a context of its streams, cannot be asked for, and what
   may wait for work, fails; the capture is then invalid. */
CUresult capture_refuse(void *handle, CUresult code, const char *why);
CUresult capture_refuse_context(const void *context);
CUresult capture_refuse_unsafe(void);
void capture_forget(void *handle);   /* a stream or an event that is no more, or not in a capture */
int capture_exchange_mode(int mode); /* of the thread */

/* ---- launch.c ---- */

/* Whether a kernel's node could be launched, and its arguments, copied; NULL where it has none. */
CUresult launch_prepare(const KernelNode *node, NodeArguments **out);
/* As a task of this place. */
CUresult launch_node(const Node *node, const StreamPlace *place);

/* ---- fiber.c: stacks and switching between them ---- */

typedef struct Fiber {
    void *sp; /* while it does not run */
    char *stack, *top;
    struct Fiber *next; /* in its worker's list of idle fibers */
} Fiber;

#define STACK_BYTES (8u << 20)   /* costs memory only as far as it is used */
#define STACK_RESERVE (2u << 20) /* room for one function's frame below where it is checked */

Fiber *fiber_new(unsigned index);
/* Makes a fiber start at main(argument) when it is next switched to. */
void fiber_reset(Fiber *fiber, void (*main)(void *), void *argument);

/* ---- workers.c: one launch over threads ---- */

typedef struct Job {
    const Kernel *kernel;
    Entry entry;
    uint32_t grid[3], block[3];
    uint32_t threads, warps; /* of a block */
    uint32_t cluster[3];     /* blocks of one */
    uint32_t cluster_blocks; /* in all */
    bool has_clusters;       /* as the kernel or its launch says, if only of one block */
    uint32_t static_shared, dynamic_shared;
    uint64_t local_stride;
    uint32_t counter_count;
    uint32_t grid_id;
    uint32_t workers;   /* threads that may take part */
    bool alone;         /* nothing but its one worker touches memory meanwhile */
    bool in_order;      /* blocks one after the other, as far as they do not wait for each other */
    bool cooperative;   /* blocks count on running side by side */
    uint32_t resident;  /* blocks that may run side by side */
    uint64_t workspace; /* of a grid that meets as a whole, or 0 */
    char *params;
    uint64_t *counters;     /* sum over workers, or NULL */
    uint64_t blocks, chunk; /* that run; that are dealt out at once */
    const Range *only;      /* numbers of the blocks that run; NULL: all */
    uint32_t only_count;
    uint64_t seed;                  /* of the order in which they run; 0: as they are numbered */
    uint64_t next_block;            /* atomic: how many have been dealt out */
    uint32_t seats;                 /* atomic: in use, see block.c */
    bool (*enter)(struct Worker *); /* NULL, or called whenever a seat has its turn */
    void *task;                     /* that it is, where others run beside it; or NULL */
    bool waits;                     /* such a one was seen to wait for others */
    uint32_t waits_at;              /* line of the loop in which it did last, or 0 */
    double since, limit;            /* seconds: when it began, and how long it may take */
    bool length_told;               /* to the user */
    struct Job *watched;            /* the next that runs */
    volatile int stop;
    uint32_t stopped_at; /* line of a loop that ran then, or 0 */
    char others[300];    /* told where the time limit has stopped it: who waited then, too */
    int interrupted;
    int fault; /* CUresult, first fault wins */
    char fault_text[3000];
} Job;

/* ---- dealing.c: which blocks run, and in what order ---- */

CUresult dealing_begin(Job *job);
bool dealing_is_asked_for(void); /* by this thread, for its launches */
/* The number of the block that comes in so many turns; where any are chosen, chunks are of one. */
uint64_t dealt_block(const Job *job, uint64_t turn);
/* The same of clusters. */
uint64_t dealt_cluster(const Job *job, uint64_t turn);
bool dealt_runs(const Job *job, uint64_t cluster); /* whether any of its blocks was chosen */
/* The number and the place of one of its blocks. */
uint64_t dealt_block_of(const Job *job, uint64_t cluster, uint32_t rank, uint32_t ctaid[3]);

/* ---- block.c, seats.c: what runs blocks ---- */

typedef struct {
    uint32_t arrived;  /* threads */
    uint32_t waiting;  /* warps, as bits */
    uint32_t expected; /* threads, 0: all */
    uint32_t reduce, count, any_true, any_false;
} Barrier;

struct Worker;

/* Blocks that run side by side on one thread; a block without a cluster is one of its own. */
typedef struct Cluster {
    struct Cluster *next; /* in the ring of those that the thread runs in turn, or idle */
    uint32_t blocks;
    uint32_t arrived; /* threads, at its barrier */
    uint64_t phase;   /* how often they all had */
    char *shared;     /* of block 0; that of the others follows, CLUSTER_STEP apart */
    struct Worker *seats[MOST_CLUSTER];
} Cluster;

/* What runs a block. A thread has one of these, and more while blocks wait for each other. */
typedef struct Worker {
    Job *job;
    struct Worker *home;   /* the thread's own; where blocks are dealt out to */
    struct Worker *next;   /* in the ring of those that the thread runs in turn, or idle */
    void *native_sp;       /* the thread's own stack */
    Fiber *running, *idle; /* running: NULL between two blocks */
    Warp *warps;
    Cluster *cluster, alone;   /* alone: where it is no other one */
    struct Seat *watching;     /* sanitize.c's own */
    struct Counting *counting; /* profile.c's own */
    /* the block being run */
    uint32_t ctaid[3];
    uint64_t block;   /* linear index + 1 */
    bool steps_aside; /* all that it can do is wait for another block */
    bool has_block;
    bool is_stuck;      /* none of its warps can go on, unless another block of its cluster helps */
    uint32_t next_warp; /* first not started */
    uint32_t unfinished;   /* warps, as bits */
    uint32_t ready;        /* suspended warps that can go on, as bits */
    uint64_t phase;        /* how many barriers all warps have arrived at, by sg_arrive */
    uint32_t behind;       /* warps that have arrived at no more than these, as bits */
    uint32_t ahead;        /* warps that wait for those, as bits */
    uint32_t at_mbarriers; /* warps that wait for a phase, of an mbarrier or the cluster, as bits */
    uint32_t busy_barriers; /* barriers that somebody arrived at, as bits */
    uint32_t live_threads;
    Barrier barriers[BARRIERS];
    /* memory of the block, kept from launch to launch */
    char *shared, *local;
    size_t local_room;
    Range *sites;
    size_t site_room;
    uint64_t removals; /* of allocations, when these were found */
    uint64_t *counters;
    size_t counter_room;
    uint32_t *told_bytes; /* for each mbarrier, how many bytes its phase waits for; NULL: none */
    /* what the warps were last prepared for */
    uint32_t prepared_block[3];
    bool opens_reserved; /* the launch's blocks use the shared memory reserved for libraries */
    Fiber *fibers[MAX_WARPS + 1]; /* all of them, to throw away those that a fault left in use */
    unsigned fiber_count;
    unsigned index; /* of the thread */
    /* of a thread's own only */
    uint64_t dealt, dealt_end; /* of the dealt chunk of blocks, what is left */
    uint32_t dealt_ctaid[3];
    uint32_t seats;       /* in the ring */
    uint32_t in_vain;     /* turns in which blocks could only wait, since something happened */
    uint32_t waited;      /* the same, since the launch began */
    uint32_t line;        /* of a loop that waits */
    struct Worker *spare; /* out of the ring */
    Cluster *spare_clusters;
} Worker;

/* ---- launch.c: what instrumented launches run under (profile.c, sanitize.c) ---- */

typedef struct Instrument {
    uint32_t build;              /* the code that launches run */
    CUresult (*begin)(Job *job); /* with the lock held, before the first block */
    void (*end)(Job *job);       /* with the lock held, after the last */
    /* without the lock; may be NULL; returns what the launch returns */
    CUresult (*report)(CUresult result);
} Instrument;

extern _Thread_local const Instrument *instrument; /* of the launches of one thread; or NULL */
extern const Instrument *instrument_of_all;        /* of all others; or NULL */

/* Runs the job; needs the lock, unless it is a task. Returns its fault (0: none). */
CUresult workers_run(Job *job);

/* ---- record.c ---- */

void record_forget(void);

/* ---- deadlock.c ---- */

enum { MBARRIER = BARRIERS, CLUSTER_BARRIER, PRODUCTS }; /* as what a warp waits at */

/* Who waits where for what in a block of which no warp can go on. */
void deadlock_describe(Worker *worker, char *text, size_t room);

/* ---- cluster.c ---- */

/* In whose shared memory an address lies: a block's of the same cluster; NULL: none's. */
Worker *cluster_owner(const Worker *worker, uint64_t address);
bool cluster_goes_on(const Cluster *cluster);        /* whether any of its warps can */
uint32_t cluster_threads(const Cluster *cluster);    /* that have not returned */
void cluster_count_exits(Warp *warp, uint32_t live); /* all but these lanes have returned */
void cluster_recheck(Cluster *cluster);              /* whether all have arrived */
void cluster_wake(Worker *worker); /* a phase has ended that its warps may wait for */

/* ---- block.c: the warps of a block ---- */

bool block_prepare(Worker *worker, Job *job); /* memory and warps; false: out of memory */
/* Runs warps until the block has ended or steps aside; alone in the ring, takes blocks until none
   are left. False: out of memory. */
bool block_run(Worker *worker);
void block_step_aside(Worker *worker);   /* the running warp pauses meanwhile */
void block_forget(Worker *worker);       /* what it left unfinished */
void block_look_again(Worker *worker);   /* at memory, some of which may have been freed */
bool block_ends_round(const Warp *warp); /* all other warps have had their turn */
void block_pass_turn(Warp *warp);        /* the others have theirs, then the warp goes on */
/* Lets other warps run until any phase ends that warps of the block wait for; `what`: MBARRIER, at
   this word, CLUSTER_BARRIER or PRODUCTS. */
void block_wait(Warp *warp, uint32_t site, uint32_t mask, uint32_t what, uint64_t word);
void block_count_exits(Warp *warp);
/* It has this block from now on. */
void block_begin(Worker *worker, uint64_t block, const uint32_t ctaid[3]);

/* ---- seats.c: blocks side by side ---- */

void seats_run(Worker *home); /* takes blocks until none are left */
void seats_enter(Worker *worker);
void seats_leave(Worker *worker);
/* Whether what the thread's blocks wait for may be a block that has not begun, and can. */
bool seats_another_is_due(const Worker *home);

/* ---- clusters.c ---- */

void clusters_run(Worker *home); /* as seats_run does, of a launch with clusters */

/* ---- fault.c ---- */

/* Stops the launch with a fault at a site, told in the words that follow "kernel k, file:line: ";
   the lowest lane of mask is named. Never returns. */
void fault_at(Warp *warp, uint32_t site, uint32_t lane, CUresult code, const char *format, ...)
    __attribute__((noreturn, format(printf, 5, 6)));
void fault_plain(Worker *worker, CUresult code, const char *format, ...)
    __attribute__((noreturn, format(printf, 3, 4)));
/* Records without leaving (for the watchdog). */
void fault_record(Job *job, CUresult code, const char *text);
/* Leaves without recording: the launch is being abandoned. */
void fault_leave(Worker *worker) __attribute__((noreturn));
#define NO_SITE UINT32_MAX
void fault_place(const Kernel *kernel, uint32_t site, char *text, size_t room);

/* ---- access.c ---- */

/* One after the other, of elements that a copy brings; the memory has been checked (atomic.c). */
void atomic_reduce(const Warp *warp, uint32_t op, uint32_t type, uint64_t address, const void *data,
                   uint32_t bytes);
/* The bytes that a lane's access is for, as bits; 0: all of its site's. */
uint32_t access_used(const Warp *warp, const struct Site *site, uint32_t lane);
/* Faults unless every active lane may do what the site does at its address. */
void access_check(Warp *warp, uint32_t site, const uint64_t *addr, uint32_t mask);
/* Moves the active lanes' values without any check. */
void access_read(const uint64_t *addr, uint32_t mask, const struct Site *site, void *data);
void access_write(const uint64_t *addr, uint32_t mask, const struct Site *site, const void *data);
/* The shared memory that libraries have for themselves, if the block uses it. */
Range access_reserved_shared(const Warp *warp);
/* The end of the memory around an address that a lane may read, 0: none. */
uint64_t access_readable_end(Warp *warp, uint32_t lane, uint64_t address);

/* ---- printf.c ---- */

void printf_flush(void);
/* Of a string in memory of the GPU; SIZE_MAX when no string can be read there. */
size_t string_length(Warp *warp, uint32_t lane, uint64_t address);

#endif
