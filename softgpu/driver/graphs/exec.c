/* Executable graphs: a copy in an order that edges allow, which a launch goes through. */
#include "graphs.h"

enum { AUTO_FREE = 1, UPLOAD = 2, DEVICE_LAUNCH = 4, NODE_PRIORITY = 8 };
enum { INSTANTIATED, FAILED, INVALID_STRUCTURE };

typedef struct {
    Graph *graph;
    uint64_t flags;
} Exec;

#define NEED_EXEC(name, handle)                                                                    \
    Exec *name = handle_object(GRAPH_EXEC, handle);                                                \
    if (!name) return fail(CUDA_ERROR_INVALID_VALUE, "no such executable graph")

static CUresult instantiate(CUgraphExec *out, CUgraph handle, uint64_t flags, int *how)
{
    *how = FAILED;
    NEED_CONTEXT(context);
    NEED_GRAPH(graph, handle);
    if (!out || flags & ~(uint64_t)(AUTO_FREE | UPLOAD | DEVICE_LAUNCH | NODE_PRIORITY))
        return fail(CUDA_ERROR_INVALID_VALUE, "no place for the graph, or unknown flags");
    if (flags & DEVICE_LAUNCH)
        return fail(CUDA_ERROR_NOT_SUPPORTED,
                    "the software GPU does not support graphs that kernels launch");
    Exec *exec = malloc(sizeof *exec);
    Graph *copy = graph_clone(graph);
    if (!exec || !copy) {
        free(exec);
        if (copy) graph_free(copy);
        return fail(CUDA_ERROR_OUT_OF_MEMORY, NULL);
    }
    if (!graph_sort(copy)) {
        free(exec);
        graph_free(copy);
        *how = INVALID_STRUCTURE;
        return fail(CUDA_ERROR_INVALID_VALUE, "the edges of the graph go in a circle");
    }
    *exec = (Exec){copy, flags};
    *how = INSTANTIATED;
    *out = handle_new(GRAPH_EXEC, exec);
    return CUDA_SUCCESS;
}

CUAPI cuGraphInstantiateWithFlags(CUgraphExec *out, CUgraph graph, unsigned long long flags)
{
    int how;
    return instantiate(out, graph, flags, &how);
}

CUAPI cuGraphInstantiateWithParams(CUgraphExec *out, CUgraph graph, InstantiateParams *params)
{
    if (!params) return fail(CUDA_ERROR_INVALID_VALUE, "no parameters");
    params->wrong = NULL;
    return instantiate(out, graph, params->flags, &params->result);
}

/* The versions before CUDA 12, which have room for an error's node and words. */
CUAPI cuGraphInstantiate_v2(CUgraphExec *out, CUgraph graph, CUgraphNode *wrong, char *words,
                            size_t room)
{
    if (wrong) *wrong = NULL;
    if (words && room) *words = 0;
    return cuGraphInstantiateWithFlags(out, graph, 0);
}

CUAPI cuGraphInstantiate(CUgraphExec *out, CUgraph graph, CUgraphNode *wrong, char *words,
                         size_t room)
{ return cuGraphInstantiate_v2(out, graph, wrong, words, room); }

CUAPI cuGraphExecDestroy(CUgraphExec handle)
{
    NEED_EXEC(exec, handle);
    handle_drop(handle);
    graph_free(exec->graph);
    free(exec);
    return CUDA_SUCCESS;
}

CUAPI cuGraphExecGetFlags(CUgraphExec handle, uint64_t *flags)
{
    NEED_EXEC(exec, handle);
    *flags = exec->flags & ~(uint64_t)UPLOAD;
    return CUDA_SUCCESS;
}

/* ---- launches ---- */

static CUresult run(const Graph *graph, CUstream stream, const StreamPlace *place);

static CUresult run_node(const Node *node, CUstream stream, const StreamPlace *place)
{
    const NodeParams *params = &node->params;
    const MemsetNode *set = &params->memset;
    switch (params->type) {
    case NODE_KERNEL: return launch_node(node, place);
    case NODE_MEMCPY: return memory_copy(&params->memcpy.copy);
    case NODE_MEMSET:
        return memory_set(set->to, set->pitch, set->value, set->size, set->width, set->height);
    case NODE_HOST: params->host.call(params->host.data); return CUDA_SUCCESS;
    case NODE_GRAPH: return run(handle_object(GRAPH, params->child.graph), stream, place);
    case NODE_EVENT_RECORD: return event_record(params->event, stream);
    default: return CUDA_SUCCESS; /* all that came before has finished */
    }
}

/* Each node in the context that was current when it was added, once the one before has ended. */
static CUresult run(const Graph *graph, CUstream stream, const StreamPlace *place)
{
    CUresult result = CUDA_SUCCESS;
    for (size_t i = 0; !result && i < graph->count; i++) {
        const Node *node = graph->nodes[i];
        if (node->disabled) continue;
        result = current_push(node->context);
        if (result) return result;
        tasks_wait(place);
        result = run_node(node, stream, place);
        current_pop();
    }
    return result;
}

CUAPI cuGraphLaunch(CUgraphExec handle, CUstream stream)
{
    NEED_CONTEXT(context);
    NEED_EXEC(exec, handle);
    bool captured;
    CUresult result = stream_begin(stream, &captured);
    const StreamPlace place = stream_place(stream);
    if (result || !captured) return result ? result : run(exec->graph, stream, &place);
    NodeParams params = {.type = NODE_GRAPH, .child.graph = exec->graph->handle};
    NodeArguments *arguments;
    result = node_prepare(&params, &arguments);
    return result ? result : capture_node(stream, &params, arguments, NULL);
}

CUAPI cuGraphUpload(CUgraphExec handle, CUstream stream)
{
    NEED_CONTEXT(context);
    NEED_EXEC(exec, handle);
    (void)exec;
    return stream_valid(stream) ? CUDA_SUCCESS : fail(CUDA_ERROR_INVALID_HANDLE, "no such stream");
}

/* ---- what may change of an executable graph ---- */

/* The copy of a node that a graph had when it was instantiated. */
static CUresult find(CUgraphExec handle, CUgraphNode origin, Node **out)
{
    NEED_EXEC(exec, handle);
    *out = graph_copy_of(exec->graph, origin);
    if (*out) return CUDA_SUCCESS;
    return fail(CUDA_ERROR_INVALID_VALUE, "the executable graph has no copy of this node");
}

CUresult exec_change(CUgraphExec handle, CUgraphNode origin, const NodeParams *params)
{
    Node *node;
    CUresult result = find(handle, origin, &node);
    if (result) return result;
    NEED_TYPE(node, params->type);
    if (params->type != NODE_GRAPH) return node_change(node, params);
    NEED_GRAPH(child, params->child.graph);
    UpdateResult how;
    result = graph_update(handle_object(GRAPH, node->params.child.graph), child, &how);
    return result == CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE ? CUDA_ERROR_INVALID_VALUE : result;
}

CUAPI cuGraphNodeSetEnabled(CUgraphExec exec, CUgraphNode origin, unsigned on)
{
    Node *node;
    CUresult result = find(exec, origin, &node);
    if (result) return result;
    if (node->params.type > NODE_MEMSET)
        return fail(CUDA_ERROR_INVALID_VALUE, "kernels, copies and sets can be switched off");
    node->disabled = !on;
    return CUDA_SUCCESS;
}

CUAPI cuGraphNodeGetEnabled(CUgraphExec exec, CUgraphNode origin, unsigned *on)
{
    Node *node;
    CUresult result = find(exec, origin, &node);
    if (result) return result;
    if (node->params.type > NODE_MEMSET)
        return fail(CUDA_ERROR_INVALID_VALUE, "kernels, copies and sets can be switched off");
    *on = !node->disabled;
    return CUDA_SUCCESS;
}

CUAPI cuGraphExecUpdate_v2(CUgraphExec handle, CUgraph from, UpdateResult *how)
{
    NEED_EXEC(exec, handle);
    NEED_GRAPH(graph, from);
    if (!how) return fail(CUDA_ERROR_INVALID_VALUE, "no place for the result");
    return graph_update(exec->graph, graph, how);
}

CUAPI cuGraphExecUpdate(CUgraphExec exec, CUgraph graph, CUgraphNode *wrong, int *result)
{
    UpdateResult how = {0};
    CUresult code = cuGraphExecUpdate_v2(exec, graph, &how);
    if (wrong) *wrong = how.node;
    if (result) *result = how.result;
    return code;
}
