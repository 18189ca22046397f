/* The interface of streams/: streams, events, the queues of tasks, stream capture, and graphs. */
#ifndef SOFTGPU_STREAMS_H
#define SOFTGPU_STREAMS_H

#include "base/base.h"
#if SOFTGPU_ROOM < ROOM_STREAMS
#error "streams/ is above this room, which may call only rooms below it (driver.h)"
#endif

/* Handles 0 and 1 are the legacy default stream, 2 is the per-thread default stream. */
static inline bool stream_is_legacy(CUstream stream) { return (uintptr_t)stream < 2; }

/* Identifies the queue that a stream's work goes to. */
typedef struct {
    void *context;
    bool blocking; /* synchronises with the legacy stream */
    int device;
    CUstream stream; /* NULL: the legacy stream */
} StreamPlace;

/* ---- tasks.c: queued stream operations; used only with several devices ---- */

typedef CUresult (*TaskBody)(void *data); /* runs on a thread of its own, in the stream's context */
typedef bool (*TaskReady)(const void *data); /* called with the task lock held */

void tasks_lock(void);
void tasks_unlock(void); /* wakes the threads that wait for tasks */
/* Whether unfinished tasks are queued that a new task at `place` would have to wait for. */
bool tasks_before(const StreamPlace *place);
/* Queue a task and take ownership of the malloc'ed data. If `ready` is not NULL, the task also
   waits until ready(data) is true. */
CUresult tasks_add(const StreamPlace *place, TaskReady ready, TaskBody body, void *data);
/* Queue a task and wait: return its result once it has ended, or CUDA_SUCCESS once it waits for
   other tasks. */
CUresult tasks_attend(const StreamPlace *place, TaskBody body, void *data);
void *task_running(void); /* the task that this thread runs, or NULL */
void task_waits(void *task);
void tasks_wait(const StreamPlace *place); /* wait until the place has no tasks left */
void tasks_wait_all(void *context);        /* wait until the context has no tasks left */
/* Return, once, the error of an operation that failed on the device after its call had returned. */
CUresult tasks_error(int device);
void tasks_end(void);    /* wait until no task runs */
void tasks_forget(void); /* drop all tasks in a child of fork; needs the lock */

/* ---- attributes.c: stream attributes, in an array indexed by attribute id ---- */

enum { LEAST_PRIORITY = 0, GREATEST_PRIORITY = -5 };
void attributes_begin(StreamAttribute attributes[], int priority);

/* ---- stream_event.c: streams and events ---- */

bool stream_valid(CUstream stream);
/* Fail unless work may be submitted to the stream. Set *captured if the stream is being
   captured, so that the work becomes a graph node. */
CUresult stream_begin(CUstream stream, bool *captured);
StreamPlace stream_place(CUstream stream);
/* Fail if the stream is on another device than the context. */
CUresult stream_on_device(CUstream stream, const Context *context);
/* Run body now; if the stream has tasks left, queue it after them with a copy of the data. */
CUresult stream_do(CUstream stream, TaskBody body, void *data, size_t bytes);
/* Wait until the stream is idle. */
void stream_settle(CUstream stream);
/* Return from a blocking call: if result is a success, wait for the stream and return its error. */
CUresult stream_settled(CUstream stream, CUresult result);
void streams_free_all(Context *owner);
uint64_t host_waits(void); /* how often the host has waited for a stream, an event or a context */
void host_waited(void);    /* count one more wait */

enum { EVENT_DISABLE_TIMING = 2 };
CUresult event_check_shareable(CUevent event);
CUresult event_record(CUevent event, CUstream stream);
CUAPI cuEventCreate(CUevent *out, unsigned flags);
CUAPI cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned flags);

/* ---- graph.c: graphs and their nodes ---- */

/* A kernel's arguments: one pointer per argument, followed by the packed arguments. */
typedef struct {
    size_t bytes; /* of the whole structure */
    uint32_t count;
    void *pointers[];
} NodeArguments;

/* Launch attributes for blocks that run together: cooperative launch and cluster shape. */
typedef struct {
    bool cooperative;
    uint32_t cluster[3]; /* cluster shape, in blocks; 0: the kernel's own */
} Together;

typedef struct Node {
    CUgraphNode handle, origin; /* origin: the node that this one was cloned from */
    struct Graph *graph;
    size_t place;        /* index in graph->nodes */
    struct Node **after; /* predecessors */
    size_t count, room;
    NodeParams params;
    NodeArguments *arguments; /* kernel nodes only, else NULL */
    CUcontext context;        /* the context that was current when the node was created */
    Together together;
    bool disabled;
    bool joined; /* its branch has joined the stream that the capture began with */
} Node;

typedef struct UserObject UserObject;

typedef struct {
    UserObject *object;
    size_t count; /* references that the graph holds */
} Owned;

typedef struct Graph {
    CUgraph handle;
    Node **nodes; /* in creation order; in an executable graph: topologically sorted */
    size_t count, room;
    Node *within;     /* the child-graph or conditional node that contains this graph, or NULL */
    CUgraphExec exec; /* the executable graph last instantiated from it */
    Owned *owned;
    size_t owned_count, owned_room;
} Graph;

#define NEED_GRAPH(name, handle)                                                                   \
    Graph *name = handle_object(GRAPH, handle);                                                    \
    if (!name) return fail(CUDA_ERROR_INVALID_VALUE, "no such graph")

Graph *graph_new(void);                 /* NULL: out of memory */
Graph *graph_clone(const Graph *graph); /* NULL: out of memory */
void graph_free(Graph *graph);
/* Add a node; take ownership of the arguments and of a child graph. */
Node *node_new(Graph *graph, const NodeParams *params, NodeArguments *arguments);
void node_free(Node *node);
/* Replace the node's parameters and arguments, and free the old ones. */
void node_set(Node *node, const NodeParams *params, NodeArguments *arguments);
bool node_follows(const Node *node, const Node *before); /* whether the edge exists */
bool node_follow(Node *node, Node *before);              /* add an edge; false: out of memory */
void node_unfollow(Node *node, const Node *before);      /* remove an edge */
/* Find the clone of a node, also in child graphs; NULL: none. */
Node *graph_copy_of(const Graph *graph, CUgraphNode origin);
bool graph_sort(Graph *graph); /* sort topologically; false: the edges form a cycle */
/* Get a node's inner graphs (a child graph, or the bodies of a conditional node); return their
   count. */
size_t node_inner(const Node *node, CUgraph const **graphs);
Graph *graph_around(const Graph *graph); /* the graph that contains this one, or NULL */
/* Whether the graph or one of its inner graphs has a node whose type `kind` accepts. */
bool graph_holds(const Graph *graph, bool (*kind)(int type));
static inline bool node_is_of_memory(int type)
{ return type == NODE_MEM_ALLOC || type == NODE_MEM_FREE; }

/* The value that kernels set and a conditional node evaluates. Owned by its graph and its
   clones. */
typedef struct {
    void *handle;
    CUgraph graph;
    CUgraphNode node; /* the conditional node */
    CUcontext context;
    bool has_default; /* reset to `usual` at each launch */
    unsigned usual, value;
} Condition;

/* ---- user_object.c: data owned by graphs ---- */

/* Call destroy(data) when the graph and all its clones are gone. False: out of memory; the
   caller still owns the data. */
bool graph_own(Graph *graph, void *data, void (*destroy)(void *data));

/* ---- capture.c: stream capture, which turns the work of a stream into graph nodes ---- */

enum { CAPTURE_GLOBAL, CAPTURE_THREAD_LOCAL, CAPTURE_RELAXED, CAPTURE_MODES };
enum { NOT_CAPTURING, CAPTURING, CAPTURE_INVALID };

typedef struct {
    int status;
    uint64_t id;
    CUgraph graph;
    const CUgraphNode *after; /* the predecessors of the stream's next node */
    size_t count;
} CaptureState;

/* Begin a capture into the caller's graph, after the given nodes; graph NULL: into a new graph. */
CUresult capture_begin(CUstream stream, StreamPlace place, CUgraph graph, const CUgraphNode *after,
                       size_t count, int mode);
/* End a capture; *out is NULL if it went into the caller's graph. */
CUresult capture_end(CUstream stream, CUgraph *out);
CaptureState capture_state(CUstream stream);
/* Return the edges to the stream's next node, all of the default kind; valid until the next
   call. NULL: out of memory. */
const EdgeData *capture_edges(CUstream stream);
/* Add predecessors to the stream's next node; only: replace those that it has. */
CUresult capture_follow(CUstream stream, const CUgraphNode *nodes, size_t count, bool only);
/* Add the stream's next node; take ownership of the arguments and of a child graph. out may be
   NULL. */
CUresult capture_node(CUstream stream, const NodeParams *params, NodeArguments *arguments,
                      Node **out);
/* Fail if a capture in progress forbids the call, and invalidate that capture: a capture in the
   context, or on any thread whose mode forbids unsafe calls. */
CUresult capture_refuse_context(const void *context);
CUresult capture_refuse_unsafe(void);
int capture_exchange_mode(int mode); /* set this thread's capture mode and return the old one */

#endif
