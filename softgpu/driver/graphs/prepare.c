/* What nodes may be made of, and what of them may change. */
#include <string.h>

#include "internal.h"

static CUresult check_memset(const MemsetNode *set)
{
    if (set->size != 1 && set->size != 2 && set->size != 4)
        return fail(CUDA_ERROR_INVALID_VALUE, "elements of %u bytes; 1, 2 and 4 are possible",
                    set->size);
    if (!set->width || !set->height)
        return fail(CUDA_ERROR_INVALID_VALUE, "%zu x %zu elements", set->width, set->height);
    return CUDA_SUCCESS;
}

static CUresult check_memcpy(const CUDA_MEMCPY3D *copy)
{
    int to = copy->dstMemoryType, from = copy->srcMemoryType;
    if (to < MEMORY_HOST || to > MEMORY_UNIFIED || from < MEMORY_HOST || from > MEMORY_UNIFIED)
        return fail(CUDA_ERROR_INVALID_VALUE, "memory of types %d and %d", from, to);
    return CUDA_SUCCESS;
}

static bool is_conditional(int type) { return type == NODE_CONDITIONAL; }

static CUresult prepare_child(const Graph *parent, NodeParams *params)
{
    NEED_GRAPH(graph, params->child.graph);
    const bool moved = params->child.ownership == CHILD_MOVED;
    if (params->child.ownership != CHILD_CLONED && !moved)
        return fail(CUDA_ERROR_INVALID_VALUE, "there is no ownership %d", params->child.ownership);
    for (const Graph *around = parent; around; around = graph_around(around))
        if (around == graph)
            return fail(CUDA_ERROR_INVALID_VALUE, "a graph cannot be its own child");
    if (graph_holds(graph, is_conditional) || (!moved && graph_holds(graph, node_is_of_memory)))
        return fail(CUDA_ERROR_NOT_SUPPORTED,
                    "a child's graph cannot have conditions, and can allocate or free memory only "
                    "if it is moved");
    if (graph_is_bound(graph))
        return fail(CUDA_ERROR_INVALID_VALUE, "the graph is in a node of graph %p already",
                    graph_around(graph)->handle);
    Graph *own = moved ? graph : graph_clone(graph);
    if (!own) return fail(CUDA_ERROR_OUT_OF_MEMORY, NULL);
    params->child.graph = own->handle;
    return CUDA_SUCCESS;
}

bool graph_is_bound(const Graph *graph)
{
    const Node *node = graph->within;
    return node && (node->params.type != NODE_GRAPH || node->params.child.ownership == CHILD_MOVED);
}

CUresult node_prepare(Graph *graph, NodeParams *params, NodeArguments **arguments)
{
    *arguments = NULL;
    switch (params->type) {
    case NODE_KERNEL: return launch_prepare(&params->kernel, arguments);
    case NODE_MEMCPY: return check_memcpy(&params->memcpy.copy);
    case NODE_MEMSET: return check_memset(&params->memset);
    case NODE_HOST:
        return params->host.call ? CUDA_SUCCESS : fail(CUDA_ERROR_INVALID_VALUE, "no function");
    case NODE_GRAPH: return prepare_child(graph, params);
    case NODE_EMPTY: return CUDA_SUCCESS;
    case NODE_WAIT_EVENT:
    case NODE_EVENT_RECORD:
        return handle_object(EVENT, params->event)
                   ? CUDA_SUCCESS
                   : fail(CUDA_ERROR_INVALID_VALUE, "no such event");
    case NODE_MEM_ALLOC: return graph_allocate(graph, &params->alloc);
    case NODE_MEM_FREE: return graph_frees(graph, params->freed);
    case NODE_CONDITIONAL: return condition_prepare(graph, &params->conditional);
    default:
        return fail(CUDA_ERROR_NOT_SUPPORTED,
                    "the software GPU does not support nodes of type %d in graphs (semaphores, "
                    "words of memory)",
                    params->type);
    }
}

CUresult check_edges(const EdgeData *edges, size_t count)
{
    const EdgeData usual = {0};
    for (size_t i = 0; edges && i < count; i++)
        if (memcmp(&edges[i], &usual, sizeof usual))
            return fail(CUDA_ERROR_NOT_SUPPORTED,
                        "the software GPU does not support edges with ports or types");
    return CUDA_SUCCESS;
}

CUresult check_before(const Graph *graph, const CUgraphNode *before, size_t count)
{
    if (count && !before) return fail(CUDA_ERROR_INVALID_VALUE, "no dependencies");
    for (size_t i = 0; i < count; i++) {
        NEED_NODE(node, before[i]);
        if (node->graph != graph)
            return fail(CUDA_ERROR_INVALID_VALUE, "a dependency is a node of another graph");
        for (size_t j = 0; j < i; j++)
            if (before[j] == before[i])
                return fail(CUDA_ERROR_INVALID_VALUE, "a dependency is named twice");
    }
    return CUDA_SUCCESS;
}

CUresult node_change(Node *node, const NodeParams *wanted)
{
    NodeParams params = *wanted;
    NodeArguments *arguments;
    NEED_TYPE(node, params.type);
    if (node_is_single(params.type))
        return fail(CUDA_ERROR_NOT_SUPPORTED, "nodes of type %d stay as they are", params.type);
    CUresult result = node_prepare(node->graph, &params, &arguments);
    if (result) return result;
    node_set(node, &params, arguments);
    launch_bind(node);
    return CUDA_SUCCESS;
}
