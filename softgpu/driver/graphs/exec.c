/* Executable graphs: a copy in an order that edges allow, which a launch goes through. */
#include "internal.h"

enum { AUTO_FREE = 1, UPLOAD = 2, DEVICE_LAUNCH = 4, NODE_PRIORITY = 8 };
enum { INSTANTIATED, FAILED, INVALID_STRUCTURE, UNUSED_CONDITION = 5 };

typedef struct {
    Graph *graph;
    uint64_t flags;
} Exec;

#define NEED_EXEC(name, handle)                                                                    \
    Exec *name = handle_object(GRAPH_EXEC, handle);                                                \
    if (!name) return fail(CUDA_ERROR_INVALID_VALUE, "no such executable graph")

/* Whether an executable graph can be made of a graph, and of this sorted copy. */
static CUresult check(const Graph *graph, bool sorted, const Graph *copy, CUgraphNode *wrong,
                      int *how)
{
    if (!sorted) {
        *how = INVALID_STRUCTURE;
        return fail(CUDA_ERROR_INVALID_VALUE, "the edges of graph %p go in a circle",
                    graph->handle);
    }
    if (condition_is_unused(graph)) {
        *how = UNUSED_CONDITION;
        return fail(CUDA_ERROR_INVALID_VALUE, "there is a condition that no node asks");
    }
    CUresult result = conditions_check(copy, wrong);
    if (result) *how = INVALID_STRUCTURE;
    return result;
}

static CUresult instantiate(CUgraphExec *out, CUgraph handle, uint64_t flags, CUgraphNode *wrong,
                            int *how)
{
    *how = FAILED;
    *wrong = NULL;
    NEED_CONTEXT(context);
    NEED_GRAPH(graph, handle);
    if (!out || flags & ~(uint64_t)(AUTO_FREE | UPLOAD | DEVICE_LAUNCH | NODE_PRIORITY))
        return fail(CUDA_ERROR_INVALID_VALUE, "no place for the graph, or unknown flags");
    if (flags & DEVICE_LAUNCH)
        return fail(CUDA_ERROR_NOT_SUPPORTED,
                    "the software GPU does not support graphs that kernels launch");
    if (graph_is_bound(graph))
        return fail(CUDA_ERROR_INVALID_VALUE, "the graph is in a node of graph %p: pass that one",
                    graph_around(graph)->handle);
    if (handle_object(GRAPH_EXEC, graph->exec) && graph_holds(graph, node_is_single))
        return fail(CUDA_ERROR_INVALID_VALUE,
                    "a graph that allocates or frees memory, or has conditions, can be made "
                    "executable once at a time; call cuGraphExecDestroy on the other one first");
    Exec *exec = malloc(sizeof *exec);
    Graph *copy = graph_clone(graph);
    if (!exec || !copy) {
        free(exec);
        if (copy) graph_free(copy);
        return fail(CUDA_ERROR_OUT_OF_MEMORY, NULL);
    }
    CUresult result = check(graph, graph_sort(copy), copy, wrong, how);
    if (result) {
        free(exec);
        graph_free(copy);
        return result;
    }
    *exec = (Exec){copy, flags};
    *how = INSTANTIATED;
    *out = graph->exec = handle_new(GRAPH_EXEC, exec);
    return CUDA_SUCCESS;
}

CUAPI cuGraphInstantiateWithFlags(CUgraphExec *out, CUgraph graph, unsigned long long flags)
{
    CUgraphNode wrong;
    int how;
    return instantiate(out, graph, flags, &wrong, &how);
}

CUAPI cuGraphInstantiateWithParams(CUgraphExec *out, CUgraph graph, InstantiateParams *params)
{
    if (!params) return fail(CUDA_ERROR_INVALID_VALUE, "no parameters");
    return instantiate(out, graph, params->flags, &params->wrong, &params->result);
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

ANSWERS(cuGraphExecGetFlags, (CUgraphExec handle, uint64_t *flags), NEED_EXEC(exec, handle),
        *flags = exec->flags & ~(uint64_t)UPLOAD)

/* ---- launches ---- */

static CUresult run(const Graph *graph, CUstream stream, const StreamPlace *place);

/* Until Ctrl-C, too, which has stopped a kernel of it or comes between two. */
static CUresult run_condition(const Node *node, CUstream stream, const StreamPlace *place)
{
    CUresult result = CUDA_SUCCESS;
    CUgraph body;
    interrupts_begin(NULL, NULL);
    const unsigned before = interrupts_count();
    do {
        body = condition_choose(node);
        if (body) result = run(handle_object(GRAPH, body), stream, place);
        tasks_wait(place);
    } while (!result && body && condition_repeats(node) && interrupts_count() == before);
    interrupts_end(false);
    return result;
}

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
    case NODE_MEM_ALLOC: return graph_memory_begin(params->alloc.address);
    case NODE_MEM_FREE: return memory_release(params->freed);
    case NODE_CONDITIONAL: return run_condition(node, stream, place);
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

/* Where a launch will allocate: there is nothing left of the one before. */
static CUresult make_room(CUdeviceptr address, bool frees)
{
    if (!graph_memory_is_there(address)) return CUDA_SUCCESS;
    if (frees) return memory_release(address);
    return fail(CUDA_ERROR_INVALID_VALUE,
                "memory at 0x%llx that an earlier launch allocated is not free; free it, or "
                "instantiate with AUTO_FREE_ON_LAUNCH",
                (unsigned long long)address);
}

/* What a launch finds: its conditions as they are by default, and nothing that it allocates. */
static CUresult begin(const Graph *graph, bool frees)
{
    CUgraph const *inner;
    CUresult result = CUDA_SUCCESS;
    for (size_t i = 0; !result && i < graph->count; i++) {
        const Node *node = graph->nodes[i];
        if (node->params.type == NODE_CONDITIONAL) condition_begin(node);
        if (node->params.type == NODE_MEM_ALLOC)
            result = make_room(node->params.alloc.address, frees);
        for (size_t j = node_inner(node, &inner); !result && j-- > 0;)
            result = begin(handle_object(GRAPH, inner[j]), frees);
    }
    return result;
}

static CUresult launch(const Exec *exec, CUstream stream)
{
    const StreamPlace place = stream_place(stream);
    tasks_wait(&place);
    CUresult result = begin(exec->graph, exec->flags & AUTO_FREE);
    return result ? result : run(exec->graph, stream, &place);
}

CUAPI cuGraphLaunch(CUgraphExec handle, CUstream stream)
{
    NEED_CONTEXT(context);
    NEED_EXEC(exec, handle);
    bool captured;
    CUresult result = stream_begin(stream, &captured);
    if (result || !captured) return result ? result : launch(exec, stream);
    NodeParams params = {.type = NODE_GRAPH, .child.graph = exec->graph->handle};
    NodeArguments *arguments;
    result = node_prepare(NULL, &params, &arguments);
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

static CUresult find_switch(CUgraphExec exec, CUgraphNode origin, Node **out)
{
    CUresult result = find(exec, origin, out);
    if (result || (*out)->params.type <= NODE_MEMSET) return result;
    return fail(CUDA_ERROR_INVALID_VALUE, "kernels, copies and sets can be switched off");
}

CUAPI cuGraphNodeSetEnabled(CUgraphExec exec, CUgraphNode origin, unsigned on)
{
    Node *node;
    CUresult result = find_switch(exec, origin, &node);
    if (!result) node->disabled = !on;
    return result;
}

CUAPI cuGraphNodeGetEnabled(CUgraphExec exec, CUgraphNode origin, unsigned *on)
{
    Node *node;
    CUresult result = find_switch(exec, origin, &node);
    if (!result) *on = !node->disabled;
    return result;
}

CUAPI cuGraphExecUpdate_v2(CUgraphExec handle, CUgraph from, UpdateResult *how)
{
    NEED_EXEC(exec, handle);
    NEED_GRAPH(graph, from);
    if (!how) return fail(CUDA_ERROR_INVALID_VALUE, "no place for the result");
    if (graph_is_bound(graph))
        return fail(CUDA_ERROR_INVALID_VALUE, "the graph is in a node of graph %p: pass that one",
                    graph_around(graph)->handle);
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
