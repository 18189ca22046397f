/* Captures: what streams are asked for becomes nodes of a graph. Nothing of it runs here. */
#include <string.h>

#include "internal.h"

/* Where a stream or an event of a capture stands: what comes next follows these nodes. */
typedef struct {
    void *handle;
    bool is_event;
    StreamPlace place; /* of a stream */
    CUgraphNode *after;
    size_t count, room;
    EdgeData *edges; /* as many as nodes, when somebody has asked for them */
} Front;

typedef struct Capture {
    struct Capture *next;
    uint64_t id;
    CUgraph graph;
    bool borrowed; /* the graph is the caller's */
    CUstream origin;
    pthread_t thread;
    int mode;
    bool invalid;
    Front *fronts;
    size_t count, room;
} Capture;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static Capture *captures;
static _Thread_local int thread_mode = CAPTURE_GLOBAL;

static bool none(void) { return !__atomic_load_n(&captures, __ATOMIC_ACQUIRE); }

/* The capture that a stream or an event is in, and where it stands; or NULL. */
static Capture *find(void *handle, Front **front)
{
    for (Capture *capture = captures; capture; capture = capture->next)
        for (size_t i = 0; i < capture->count; i++) {
            *front = &capture->fronts[i];
            if ((*front)->handle == handle) return capture;
        }
    return NULL;
}

static CUresult refuse(Capture *capture, CUresult code, const char *why)
{
    capture->invalid = true;
    return fail(code, "%s", why);
}

/* ---- fronts ---- */

static Front *front_new(Capture *capture, void *handle)
{
    if (!GROW(capture->fronts, capture->count, capture->room, 4)) return NULL;
    Front *front = &capture->fronts[capture->count++];
    *front = (Front){.handle = handle};
    return front;
}

static void front_drop(Capture *capture, Front *front)
{
    free(front->after);
    free(front->edges);
    *front = capture->fronts[--capture->count];
}

static bool front_follow(Front *front, CUgraphNode node)
{
    for (size_t i = 0; i < front->count; i++)
        if (front->after[i] == node) return true;
    if (!GROW(front->after, front->count, front->room, 4)) return false;
    front->after[front->count++] = node;
    return true;
}

static bool front_follow_all(Front *front, const CUgraphNode *nodes, size_t count)
{
    bool whole = true;
    for (size_t i = 0; whole && i < count; i++) whole = front_follow(front, nodes[i]);
    return whole;
}

/* ---- captures ---- */

CUresult capture_begin(CUstream stream, StreamPlace place, CUgraph graph, const CUgraphNode *after,
                       size_t count, int mode)
{
    static uint64_t last_id;
    Graph *own = graph ? NULL : graph_new();
    Capture *capture = calloc(1, sizeof *capture);
    Front *front = capture ? front_new(capture, stream) : NULL;
    if (!front || !(graph || own) || !front_follow_all(front, after, count)) {
        if (own) graph_free(own);
        if (front) front_drop(capture, front);
        if (capture) free(capture->fronts);
        free(capture);
        return fail(CUDA_ERROR_OUT_OF_MEMORY, NULL);
    }
    front->place = place;
    capture->graph = graph ? graph : own->handle;
    capture->borrowed = graph;
    capture->origin = stream;
    capture->thread = pthread_self();
    capture->mode = mode;
    pthread_mutex_lock(&mutex);
    capture->id = ++last_id;
    capture->next = captures;
    __atomic_store_n(&captures, capture, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&mutex);
    return CUDA_SUCCESS;
}

static void drop(Capture *capture)
{
    Capture **at = &captures;
    while (*at != capture) at = &(*at)->next;
    *at = capture->next;
    while (capture->count) front_drop(capture, capture->fronts);
    free(capture->fronts);
    free(capture);
}

static void drop_with_graph(Capture *capture)
{
    Graph *graph = handle_object(GRAPH, capture->graph);
    if (graph && !capture->borrowed) graph_free(graph);
    drop(capture);
}

/* Whether all that other streams were asked for comes before where the origin stands. Nodes come
   after those that they follow. */
static bool joined(const Capture *capture, const Graph *graph, const Front *origin)
{
    for (size_t i = 0; i < graph->count; i++) graph->nodes[i]->joined = false;
    for (size_t i = 0; i < origin->count; i++) {
        Node *node = handle_object(GRAPH_NODE, origin->after[i]);
        if (node) node->joined = true;
    }
    for (size_t i = graph->count; i-- > 0;) {
        const Node *node = graph->nodes[i];
        for (size_t j = 0; node->joined && j < node->count; j++) node->after[j]->joined = true;
    }
    for (size_t i = 0; i < capture->count; i++) {
        const Front *front = &capture->fronts[i];
        for (size_t j = 0; !front->is_event && j < front->count; j++) {
            const Node *node = handle_object(GRAPH_NODE, front->after[j]);
            if (node && !node->joined) return false;
        }
    }
    return true;
}

static CUresult end(CUstream stream, CUgraph *out)
{
    Front *front;
    Capture *capture = find(stream, &front);
    if (!capture) return fail(CUDA_ERROR_ILLEGAL_STATE, "the stream is not being captured");
    if (capture->origin != stream)
        return refuse(capture, CUDA_ERROR_STREAM_CAPTURE_UNMATCHED,
                      "end the capture on the stream that it began with");
    if (capture->mode != CAPTURE_RELAXED && !pthread_equal(capture->thread, pthread_self()))
        return fail(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD,
                    "the capture began on another thread, and not with mode RELAXED");
    if (!out && !capture->borrowed) return fail(CUDA_ERROR_INVALID_VALUE, "no place for the graph");
    const Graph *graph = handle_object(GRAPH, capture->graph);
    CUresult result = CUDA_SUCCESS;
    if (capture->invalid || !graph) result = fail(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, NULL);
    else if (!joined(capture, graph, front))
        result = fail(CUDA_ERROR_STREAM_CAPTURE_UNJOINED,
                      "let the stream that the capture began with wait for an event of each other");
    if (result) drop_with_graph(capture);
    else {
        if (out) *out = capture->graph;
        drop(capture);
    }
    return result;
}

CUresult capture_end(CUstream stream, CUgraph *out)
{
    if (out) *out = NULL;
    pthread_mutex_lock(&mutex);
    CUresult result = end(stream, out);
    pthread_mutex_unlock(&mutex);
    return result;
}

CaptureState capture_state(CUstream stream)
{
    CaptureState state = {.status = NOT_CAPTURING};
    if (none()) return state;
    Front *front;
    pthread_mutex_lock(&mutex);
    const Capture *capture = find(stream, &front);
    if (capture && capture->invalid) state.status = CAPTURE_INVALID;
    else if (capture)
        state = (CaptureState){CAPTURING, capture->id, capture->graph, front->after, front->count};
    pthread_mutex_unlock(&mutex);
    return state;
}

const EdgeData *capture_edges(CUstream stream)
{
    Front *front;
    EdgeData *edges = NULL;
    pthread_mutex_lock(&mutex);
    if (find(stream, &front)) {
        edges = calloc(front->count + 1, sizeof *edges);
        free(front->edges);
        front->edges = edges;
    }
    pthread_mutex_unlock(&mutex);
    return edges;
}

CUresult capture_follow(CUstream stream, const CUgraphNode *nodes, size_t count, bool only)
{
    Front *front;
    CUresult result = CUDA_SUCCESS;
    pthread_mutex_lock(&mutex);
    const Capture *capture = find(stream, &front);
    if (!capture) result = fail(CUDA_ERROR_ILLEGAL_STATE, "the stream is not being captured");
    else if (capture->invalid) result = fail(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, NULL);
    else {
        if (only) front->count = 0;
        if (!front_follow_all(front, nodes, count)) result = fail(CUDA_ERROR_OUT_OF_MEMORY, NULL);
    }
    pthread_mutex_unlock(&mutex);
    return result;
}

void capture_forget(void *handle)
{
    static char gone;
    if (none()) return;
    Front *front;
    pthread_mutex_lock(&mutex);
    Capture *capture = find(handle, &front);
    if (capture && capture->origin == handle) drop_with_graph(capture);
    else if (capture && front->is_event) front_drop(capture, front);
    else if (capture) front->handle = &gone; /* what it was asked for must still be joined */
    pthread_mutex_unlock(&mutex);
}

/* ---- what streams are asked for ---- */

/* What would wait for the blocking streams of a context. */
static CUresult refuse_legacy(const void *context)
{
    CUresult result = CUDA_SUCCESS;
    for (Capture *capture = captures; capture; capture = capture->next)
        for (size_t i = 0; i < capture->count; i++) {
            const Front *front = &capture->fronts[i];
            if (front->place.blocking && front->place.context == context)
                result = refuse(capture, CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
                                "the default stream would wait for a stream that is being "
                                "captured; use another stream, or capture one that was made with "
                                "CU_STREAM_NON_BLOCKING");
        }
    return result;
}

CUresult capture_check(CUstream stream, bool *captured)
{
    *captured = false;
    if (none()) return CUDA_SUCCESS;
    Front *front;
    pthread_mutex_lock(&mutex);
    const Capture *capture = find(stream, &front);
    *captured = capture;
    CUresult result = CUDA_SUCCESS;
    if (stream_is_legacy(stream)) result = refuse_legacy(current_handle());
    else if (capture && capture->invalid)
        result = fail(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, NULL);
    pthread_mutex_unlock(&mutex);
    return result;
}

CUresult capture_node(CUstream stream, const NodeParams *params, NodeArguments *arguments,
                      Node **out)
{
    Front *front;
    pthread_mutex_lock(&mutex);
    const Capture *capture = find(stream, &front);
    Graph *graph = capture ? handle_object(GRAPH, capture->graph) : NULL;
    Node *node = graph ? node_new(graph, params, arguments) : NULL;
    bool whole = node;
    for (size_t i = 0; whole && i < front->count; i++) {
        Node *before = handle_object(GRAPH_NODE, front->after[i]);
        whole = !before || node_follow(node, before);
    }
    if (whole) {
        front->count = 0;
        whole = front_follow(front, node->handle);
    }
    pthread_mutex_unlock(&mutex);
    if (out) *out = node;
    if (!graph) return fail(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, "the graph was destroyed");
    return whole ? CUDA_SUCCESS : fail(CUDA_ERROR_OUT_OF_MEMORY, NULL);
}

CUresult capture_refuse(void *handle, CUresult code, const char *why)
{
    if (none()) return CUDA_SUCCESS;
    Front *front;
    pthread_mutex_lock(&mutex);
    Capture *capture = find(handle, &front);
    CUresult result = capture ? refuse(capture, code, why) : CUDA_SUCCESS;
    pthread_mutex_unlock(&mutex);
    return result;
}

CUresult capture_refuse_context(const void *context)
{
    if (none()) return CUDA_SUCCESS;
    CUresult result = CUDA_SUCCESS;
    pthread_mutex_lock(&mutex);
    for (Capture *capture = captures; capture; capture = capture->next)
        for (size_t i = 0; i < capture->count; i++)
            if (capture->fronts[i].place.context == context)
                result = refuse(capture, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                                "a stream of the context is being captured");
    pthread_mutex_unlock(&mutex);
    return result;
}

CUresult capture_refuse_unsafe(void)
{
    if (thread_mode == CAPTURE_RELAXED || none()) return CUDA_SUCCESS;
    CUresult result = CUDA_SUCCESS;
    pthread_mutex_lock(&mutex);
    for (Capture *capture = captures; capture; capture = capture->next) {
        bool own = pthread_equal(capture->thread, pthread_self());
        if (own ? capture->mode != CAPTURE_RELAXED
                : capture->mode == CAPTURE_GLOBAL && thread_mode == CAPTURE_GLOBAL)
            result = refuse(capture, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                            "a stream is being captured, and the call may wait for work; make it "
                            "before, or capture with mode RELAXED");
    }
    pthread_mutex_unlock(&mutex);
    return result;
}

int capture_exchange_mode(int mode)
{
    int before = thread_mode;
    thread_mode = mode;
    return before;
}

/* ---- events, by which streams join a capture ---- */

CUresult capture_record(CUevent event, CUstream stream)
{
    capture_forget(event);
    Front *of, *front;
    pthread_mutex_lock(&mutex);
    Capture *capture = find(stream, &of);
    if (!capture) { /* another thread has ended it since */
        pthread_mutex_unlock(&mutex);
        return fail(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, "the capture has ended");
    }
    size_t at = of - capture->fronts; /* a new one may move them all */
    front = front_new(capture, event);
    bool whole = front;
    if (whole) {
        front->is_event = true;
        of = &capture->fronts[at];
        whole = front_follow_all(front, of->after, of->count);
    }
    pthread_mutex_unlock(&mutex);
    return whole ? CUDA_SUCCESS : fail(CUDA_ERROR_OUT_OF_MEMORY, NULL);
}

static CUresult join(CUstream stream, StreamPlace place, CUevent event, bool recorded)
{
    Front *to, *from;
    Capture *own = find(stream, &to), *capture = find(event, &from);
    if (!capture && own && recorded)
        return refuse(own, CUDA_ERROR_STREAM_CAPTURE_ISOLATION,
                      "the event was recorded outside of the capture");
    if (!capture) return CUDA_SUCCESS;
    if (own && own != capture) {
        refuse(own, CUDA_ERROR_STREAM_CAPTURE_MERGE, "");
        return refuse(capture, CUDA_ERROR_STREAM_CAPTURE_MERGE,
                      "the event is of another capture than the stream");
    }
    if (stream_is_legacy(stream))
        return refuse(capture, CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
                      "the default stream cannot be captured; use another stream");
    if (capture->invalid) return fail(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, NULL);
    size_t at = from - capture->fronts;
    if (!own && (to = front_new(capture, stream))) to->place = place;
    from = &capture->fronts[at];
    if (to && front_follow_all(to, from->after, from->count)) return CUDA_SUCCESS;
    return fail(CUDA_ERROR_OUT_OF_MEMORY, NULL);
}

CUresult capture_wait(CUstream stream, StreamPlace place, CUevent event, bool recorded)
{
    if (none()) return CUDA_SUCCESS;
    pthread_mutex_lock(&mutex);
    CUresult result = join(stream, place, event, recorded);
    pthread_mutex_unlock(&mutex);
    return result;
}
