/* What nodes may be made of, and what of them may change. */
#include <string.h>

#include "graphs.h"

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

static CUresult prepare_child(NodeParams *params)
{
    enum { CLONED, MOVED };
    NEED_GRAPH(graph, params->child.graph);
    if (params->child.ownership != CLONED && params->child.ownership != MOVED)
        return fail(CUDA_ERROR_INVALID_VALUE, "there is no ownership %d", params->child.ownership);
    Graph *own = params->child.ownership == MOVED ? graph : graph_clone(graph);
    if (!own) return fail(CUDA_ERROR_OUT_OF_MEMORY, NULL);
    own->inner = true;
    params->child.graph = own->handle;
    return CUDA_SUCCESS;
}

CUresult node_prepare(NodeParams *params, NodeArguments **arguments)
{
    *arguments = NULL;
    switch (params->type) {
    case NODE_KERNEL: return launch_prepare(&params->kernel, arguments);
    case NODE_MEMCPY: return check_memcpy(&params->memcpy.copy);
    case NODE_MEMSET: return check_memset(&params->memset);
    case NODE_HOST:
        return params->host.call ? CUDA_SUCCESS : fail(CUDA_ERROR_INVALID_VALUE, "no function");
    case NODE_GRAPH: return prepare_child(params);
    case NODE_EMPTY: return CUDA_SUCCESS;
    case NODE_WAIT_EVENT:
    case NODE_EVENT_RECORD:
        return handle_object(EVENT, params->event)
                   ? CUDA_SUCCESS
                   : fail(CUDA_ERROR_INVALID_VALUE, "no such event");
    default:
        return fail(CUDA_ERROR_NOT_SUPPORTED,
                    "the software GPU does not support nodes of type %d in graphs (memory, "
                    "semaphores, conditions)",
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
    CUresult result = node_prepare(&params, &arguments);
    if (!result) node_set(node, &params, arguments);
    return result;
}
