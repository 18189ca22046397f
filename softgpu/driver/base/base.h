/* The interface of base/: errors, handles, devices, the current context, this machine, Ctrl-C. */
#ifndef SOFTGPU_BASE_H
#define SOFTGPU_BASE_H

#include "driver.h"
#if SOFTGPU_ROOM < ROOM_BASE
#error "base/ is above this room, which may call only rooms below it (driver.h)"
#endif

/* ---- error.c: error codes and their messages ---- */

/* Return the code, and store the message (NULL: none) for this thread's cuGetErrorString. */
CUresult fail(CUresult code, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Fail with the message that a Python callback set with sg_set_error. */
CUresult fail_as_told(int answer);
/* Print a message to the user, if a handler is registered (sg_set_teller). */
void say_to_user(const char *format, ...) __attribute__((format(printf, 1, 2)));
void clear_detail(void);

/* ---- handles.c: opaque handles given to programs ---- */

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
void *handle_object(ObjectKind kind, void *handle); /* NULL unless live and of this kind */
void handle_drop(void *handle);
/* Call visit for every live object of a kind. */
void handle_each(ObjectKind kind, void (*visit)(void *handle, void *object, void *data),
                 void *data);

/* ---- current.c: this thread's current context ---- */

#define HEAP_LIMIT 2 /* CU_LIMIT_MALLOC_HEAP_SIZE, an index into Context.limits */

typedef struct Context {
    void *handle;
    int device;
    struct Peers {
        uint64_t *ids; /* contexts whose memory this context's kernels may access */
        size_t count, room;
    } peers;
    unsigned flags;
    uint64_t id;
    int users; /* reference count: attached or retained; 0: destroyed */
    int cache_config;
    size_t limits[9];
    StreamAttribute of_default_streams[STREAM_ATTRIBUTES];
    struct Heap *heap; /* allocated when a kernel first calls malloc */
} Context;

/* Return the current context, or NULL with *error set to the code to return. */
Context *current_context(CUresult *error);
void *current_handle(void); /* also that context's handle after it was destroyed; NULL: none */
CUresult current_push(void *handle);
void current_pop(void);
#define NEED_CONTEXT(name)                                                                         \
    CUresult error_;                                                                               \
    Context *name __attribute__((unused)) = current_context(&error_);                              \
    if (!name) return fail(error_, NULL)

/* ---- device.c: the devices and their attributes ---- */

CUresult need_init(void);
int device_count(void);
bool is_device(int device);
CUresult no_such_device(void);
#define NEED_DEVICE(device)                                                                        \
    do {                                                                                           \
        if (need_init()) return CUDA_ERROR_NOT_INITIALIZED;                                        \
        if (!is_device(device)) return no_such_device();                                           \
    } while (0)

/* A call that checks something and answers. */
#define ANSWERS(name, parameters, need, answer)                                                    \
    CUAPI name parameters                                                                          \
    {                                                                                              \
        need;                                                                                      \
        answer;                                                                                    \
        return CUDA_SUCCESS;                                                                       \
    }

enum { ACCESS_WINDOW_BYTES = 128 << 20, MEMORY_DOMAINS = 4 }; /* limits of stream attributes */

/* ---- machine.c: memory, cores and threads of this machine or container ---- */

typedef struct {
    size_t total, available; /* bytes */
    size_t own;              /* bytes that this process has written to; 0: unknown */
} Memory;
Memory machine_memory(void);
unsigned usable_cores(void);
double seconds_now(void);
/* Start a thread with all signals blocked. */
bool thread_start(void *(*body)(void *), void *argument, size_t stack);

/* ---- crash.c: backtraces of crashes, with SOFTGPU_CRASHES ---- */

/* Register the start address of a kernel's code. */
void crash_code(const void *entry, const char *kernel);

/* ---- interrupt.c: Ctrl-C while the host waits ---- */

/* Every begin needs an end. Ctrl-C sets both words to 1; only one thread at a time may pass
   words. */
void interrupts_begin(volatile int *first, volatile int *second);
void interrupts_end(bool had_words);
bool interrupts_happened(void); /* whether Ctrl-C was pressed since the last call */
unsigned interrupts_count(void);

#endif
