/* The interface of streams/: streams and events, the tasks that streams have yet to do, captures, and the
   graphs that captures make. */
#ifndef SOFTGPU_STREAMS_H
#define SOFTGPU_STREAMS_H

#include "base/base.h"
#if SOFTGPU_ROOM < ROOM_STREAMS
#error "streams/ is above this room, which may call only rooms below it (driver.h)"
#endif

/* 0, 1 and 2 name the default streams: the legacy one twice, then the thread's own. */
static inline bool stream_is_legacy(CUstream stream) { return (uintptr_t)stream < 2; }

/* Where a stream's work goes. */
typedef struct {
    void *context;
    bool blocking; /* the legacy stream waits for it */
    int device;
    CUstream stream; /* NULL: the legacy one */
} StreamPlace;

/* ---- tasks.c: what streams have yet to do, where there are several devices ---- */

typedef CUresult (*TaskBody)(void *data); /* runs on a thread of its own, in the stream's context */
typedef bool (*TaskReady)(const void *data); /* called with the lock of the tasks */

void tasks_lock(void);
void tasks_unlock(void); /* wakes those that wait for tasks */
/* Whether the place has unfinished tasks, which a new task would have to wait for. */
bool tasks_before(const StreamPlace *place);
/* Queues a task and takes the data, which malloc gave. ready: NULL, or whether it may start, beyond
   waiting for the tasks before it. */
CUresult tasks_add(const StreamPlace *place, TaskReady ready, TaskBody body, void *data);
/* The same; returns the task's result once it has ended, or CUDA_SUCCESS once it waits for others. */
CUresult tasks_attend(const StreamPlace *place, TaskBody body, void *data);
void *task_running(void); /* by this thread, or NULL */
void task_waits(void *task);
void tasks_wait(const StreamPlace *place); /* until the place has no tasks left */
void tasks_wait_all(void *context);        /* until the context has none left */
/* What failed on a device after its call had returned; reported once. */
CUresult tasks_error(int device);
void tasks_end(void);    /* waits until none runs */
void tasks_forget(void); /* in a child of fork, with the lock */

/* ---- attributes.c: attributes of streams, an array indexed by their numbers ---- */

enum { LEAST_PRIORITY = 0, GREATEST_PRIORITY = -5 };
void attributes_begin(StreamAttribute attributes[], int priority);

/* ---- stream_event.c: streams and events ---- */

bool stream_valid(CUstream stream);
/* Checks that a stream can be given work; *captured: it is being captured, so the work becomes a node. */
CUresult stream_begin(CUstream stream, bool *captured);
StreamPlace stream_place(CUstream stream);
CUresult stream_on_device(CUstream stream, const Context *context); /* fails if it is on another */
/* Runs body now or, if the stream has tasks left, after them with a copy of the data. */
CUresult stream_do(CUstream stream, TaskBody body, void *data, size_t bytes);
/* Waits until the stream has nothing left to do. */
void stream_settle(CUstream stream);
/* How a call that waits for its stream returns: waits after a success, and adds what failed there. */
CUresult stream_settled(CUstream stream, CUresult result);
void streams_free_all(Context *owner);
uint64_t host_waits(void); /* how often the host has waited for a stream, an event or a context */
void host_waited(void);    /* it has once more */

enum { EVENT_DISABLE_TIMING = 2 };
CUresult event_check_shareable(CUevent event);
CUresult event_record(CUevent event, CUstream stream);
CUAPI cuEventCreate(CUevent *out, unsigned flags);
CUAPI cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned flags);

/* ---- graph.c: graphs and their nodes ---- */

/* A kernel's arguments: pointers to each, then all of them packed. */
typedef struct {
    size_t bytes; /* of all of this */
    uint32_t count;
    void *pointers[];
} NodeArguments;

/* How the blocks of a kernel's node run together. */
typedef struct {
    bool cooperative;
    uint32_t cluster[3]; /* blocks of one; 0: as the kernel says */
} Together;

typedef struct Node {
    CUgraphNode handle, origin; /* origin: the node that it was copied from */
    struct Graph *graph;
    size_t place;        /* among its graph's nodes */
    struct Node **after; /* its predecessors */
    size_t count, room;
    NodeParams params;
    NodeArguments *arguments; /* a kernel's, or NULL */
    CUcontext context;        /* that was current when it was made */
    Together together;
    bool disabled;
    bool joined; /* to the stream that its capture began with */
} Node;

typedef struct UserObject UserObject;

typedef struct {
    UserObject *object;
    size_t count; /* of references */
} Owned;

typedef struct Graph {
    CUgraph handle;
    Node **nodes; /* in the order of their creation; an executable graph's: sorted by their edges */
    size_t count, room;
    Node *within;     /* the node that it is a child's or a condition's graph of, or NULL */
    CUgraphExec exec; /* that was made of it last */
    Owned *owned;
    size_t owned_count, owned_room;
} Graph;

#define NEED_GRAPH(name, handle)                                                                   \
    Graph *name = handle_object(GRAPH, handle);                                                    \
    if (!name) return fail(CUDA_ERROR_INVALID_VALUE, "no such graph")

Graph *graph_new(void);                 /* NULL: out of memory */
Graph *graph_clone(const Graph *graph); /* likewise */
void graph_free(Graph *graph);
/* Takes ownership of the arguments, and of a child's graph. */
Node *node_new(Graph *graph, const NodeParams *params, NodeArguments *arguments);
void node_free(Node *node);
/* Replaces the node's parameters and arguments, and frees the old ones. */
void node_set(Node *node, const NodeParams *params, NodeArguments *arguments);
bool node_follows(const Node *node, const Node *before); /* whether there is such an edge */
bool node_follow(Node *node, Node *before);              /* adds an edge; false: out of memory */
void node_unfollow(Node *node, const Node *before);
Node *graph_copy_of(const Graph *graph, CUgraphNode origin); /* in its children, too; or NULL */
bool graph_sort(Graph *graph);                               /* false: the edges form a cycle */
/* The graphs inside of a node, a child's or bodies of a condition; returns how many. */
size_t node_inner(const Node *node, CUgraph const **graphs);
Graph *graph_around(const Graph *graph); /* the graph whose node it is inside of, or NULL */
/* Whether the graph, or a graph inside of it, has a node of a type that kind accepts. */
bool graph_holds(const Graph *graph, bool (*kind)(int type));
static inline bool node_is_of_memory(int type)
{ return type == NODE_MEM_ALLOC || type == NODE_MEM_FREE; }

/* What a conditional node evaluates and kernels set. Its graph and the graph's copies own it. */
typedef struct {
    void *handle;
    CUgraph graph;
    CUgraphNode node; /* the conditional one */
    CUcontext context;
    bool has_default; /* each launch begins with `usual` */
    unsigned usual, value;
} Condition;

/* ---- user_object.c: data that graphs own ---- */

/* Calls destroy once neither the graph nor a copy of it is left. False: out of memory, not owned. */
bool graph_own(Graph *graph, void *data, void (*destroy)(void *data));

/* ---- capture.c: work given to a captured stream becomes nodes of a graph ---- */

enum { CAPTURE_GLOBAL, CAPTURE_THREAD_LOCAL, CAPTURE_RELAXED, CAPTURE_MODES };
enum { NOT_CAPTURING, CAPTURING, CAPTURE_INVALID };

typedef struct {
    int status;
    uint64_t id;
    CUgraph graph;
    const CUgraphNode *after; /* the predecessors of the stream's next node */
    size_t count;
} CaptureState;

/* Captures into the caller's graph, after some of its nodes, or into a new one (graph NULL). */
CUresult capture_begin(CUstream stream, StreamPlace place, CUgraph graph, const CUgraphNode *after,
                       size_t count, int mode);
CUresult capture_end(CUstream stream, CUgraph *out); /* *out NULL: into the caller's graph */
CaptureState capture_state(CUstream stream);
/* The edges to its next node, all of the default kind, until the next call; NULL: out of memory. */
const EdgeData *capture_edges(CUstream stream);
/* Adds predecessors of the stream's next node; only: instead of those that it has. */
CUresult capture_follow(CUstream stream, const CUgraphNode *nodes, size_t count, bool only);
/* Adds the stream's next node and takes the arguments and a child's graph. out may be NULL. */
CUresult capture_node(CUstream stream, const NodeParams *params, NodeArguments *arguments,
                      Node **out);
/* Fails if a capture forbids the call (it is then invalid): in the context, or on any thread. */
CUresult capture_refuse_context(const void *context);
CUresult capture_refuse_unsafe(void);
int capture_exchange_mode(int mode); /* of the thread; returns the old one */

#endif
