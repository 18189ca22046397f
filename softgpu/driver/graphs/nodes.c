/* Nodes of graphs: how they are added, what they do, how that is changed. */
#include <string.h>

#include "internal.h"

static CUresult add(CUgraphNode *out, CUgraph handle, const CUgraphNode *before, size_t count,
                    NodeParams params)
{
    NEED_CONTEXT(context);
    NEED_GRAPH(graph, handle);
    if (!out) return fail(CUDA_ERROR_INVALID_VALUE, "no place for the node");
    CUresult result = check_before(graph, before, count);
    NodeArguments *arguments;
    if (!result) result = node_prepare(graph, &params, &arguments);
    if (result) return result;
    Node *node = node_new(graph, &params, arguments);
    bool whole = node;
    if (whole) launch_bind(node);
    for (size_t i = 0; whole && i < count; i++)
        whole = node_follow(node, handle_object(GRAPH_NODE, before[i]));
    if (!whole) return fail(CUDA_ERROR_OUT_OF_MEMORY, NULL);
    if (params.type == NODE_CONDITIONAL) condition_of(node)->node = node->handle;
    *out = node->handle;
    return CUDA_SUCCESS;
}

#define NEED_PARAMS(params)                                                                        \
    if (!(params)) return fail(CUDA_ERROR_INVALID_VALUE, "no parameters")

CUAPI cuGraphAddNode_v2(CUgraphNode *out, CUgraph graph, const CUgraphNode *before,
                        const EdgeData *edges, size_t count, NodeParams *params)
{
    NEED_PARAMS(params);
    CUresult result = check_edges(edges, count);
    if (!result) result = add(out, graph, before, count, *params);
    if (result) return result;
    const NodeParams *made = &((Node *)handle_object(GRAPH_NODE, *out))->params;
    switch (params->type) {
    case NODE_GRAPH: params->child.graph = made->child.graph; break;
    case NODE_MEM_ALLOC: params->alloc.address = made->alloc.address; break;
    case NODE_CONDITIONAL: params->conditional.bodies = made->conditional.bodies; break;
    default: break;
    }
    return CUDA_SUCCESS;
}

CUAPI cuGraphAddNode(CUgraphNode *out, CUgraph graph, const CUgraphNode *before, size_t count,
                     NodeParams *params)
{ return cuGraphAddNode_v2(out, graph, before, NULL, count, params); }

CUAPI cuGraphNodeSetParams(CUgraphNode handle, NodeParams *params)
{
    NEED_NODE(node, handle);
    NEED_PARAMS(params);
    return node_change(node, params);
}

CUAPI cuGraphAddEmptyNode(CUgraphNode *out, CUgraph graph, const CUgraphNode *before, size_t count)
{ return add(out, graph, before, count, (NodeParams){.type = NODE_EMPTY}); }

/* ---- kernels, copies, sets, functions of the host ---- */

static NodeParams params_of(int type, size_t place, const void *from, size_t bytes)
{
    NodeParams params = {.type = type};
    memcpy((char *)&params + place, from, bytes);
    if (type == NODE_MEMCPY) params.memcpy.context = current_handle();
    if (type == NODE_MEMSET) params.memset.context = current_handle();
    return params;
}

/* A call that reads what a node of the wanted type has in a member. */
#define READS(name, wanted, Type, member, bytes)                                                   \
    CUAPI name(CUgraphNode handle, Type *out)                                                      \
    {                                                                                              \
        NEED_NODE(node, handle);                                                                   \
        NEED_TYPE(node, wanted);                                                                   \
        NEED_PARAMS(out);                                                                          \
        memcpy(out, &node->params.member, bytes);                                                  \
        return CUDA_SUCCESS;                                                                       \
    }

#define NO_MORE
#define NEED_NO_MORE
#define CONTEXT_TOO , CUcontext context
#define NEED_CONTEXT_TOO                                                                           \
    do {                                                                                           \
        if (!handle_object(CONTEXT, context))                                                      \
            return fail(CUDA_ERROR_INVALID_CONTEXT, "no such context");                            \
    } while (0)

/* The calls for nodes of a type, the first bytes of whose member are parameters. */
#define CALLS(Name, version, wanted, Type, member, bytes, more)                                    \
    CUAPI cuGraphAdd##Name##Node##version(CUgraphNode *out, CUgraph graph,                         \
                                          const CUgraphNode *before, size_t count,                 \
                                          const Type *params more)                                 \
    {                                                                                              \
        NEED_PARAMS(params);                                                                       \
        NEED_##more;                                                                               \
        return add(out, graph, before, count,                                                      \
                   params_of(wanted, offsetof(NodeParams, member), params, bytes));                \
    }                                                                                              \
    READS(cuGraph##Name##NodeGetParams##version, wanted, Type, member, bytes)                      \
    CUAPI cuGraph##Name##NodeSetParams##version(CUgraphNode handle, const Type *params)            \
    {                                                                                              \
        NEED_NODE(node, handle);                                                                   \
        NEED_PARAMS(params);                                                                       \
        NodeParams changed = params_of(wanted, offsetof(NodeParams, member), params, bytes);       \
        return node_change(node, &changed);                                                        \
    }                                                                                              \
    CUAPI cuGraphExec##Name##NodeSetParams##version(CUgraphExec exec, CUgraphNode node,            \
                                                    const Type *params more)                       \
    {                                                                                              \
        NEED_PARAMS(params);                                                                       \
        NEED_##more;                                                                               \
        NodeParams changed = params_of(wanted, offsetof(NodeParams, member), params, bytes);       \
        return exec_change(exec, node, &changed);                                                  \
    }

CALLS(Kernel, , NODE_KERNEL, KernelNode, kernel, offsetof(KernelNode, kernel), NO_MORE)
CALLS(Kernel, _v2, NODE_KERNEL, KernelNode, kernel, sizeof(KernelNode), NO_MORE)
CALLS(Memcpy, , NODE_MEMCPY, CUDA_MEMCPY3D, memcpy.copy, sizeof(CUDA_MEMCPY3D), CONTEXT_TOO)
CALLS(Memset, , NODE_MEMSET, MemsetNode, memset, offsetof(MemsetNode, context), CONTEXT_TOO)
CALLS(Host, , NODE_HOST, HostNode, host, sizeof(HostNode), NO_MORE)

/* ---- attributes of kernels ---- */

enum { COOPERATIVE = 2, CLUSTER = 4 }; /* CU_LAUNCH_ATTRIBUTE_... */

CUAPI cuGraphKernelNodeSetAttribute(CUgraphNode handle, int attribute, const int *value)
{
    NEED_NODE(node, handle);
    NEED_TYPE(node, NODE_KERNEL);
    NEED_PARAMS(value);
    if (attribute == COOPERATIVE) node->together.cooperative = *value;
    if (attribute == CLUSTER) memcpy(node->together.cluster, value, sizeof node->together.cluster);
    return CUDA_SUCCESS;
}

/* Of hints, what they are by default. */
CUAPI cuGraphKernelNodeGetAttribute(CUgraphNode handle, int attribute, int *value)
{
    NEED_NODE(node, handle);
    NEED_TYPE(node, NODE_KERNEL);
    NEED_PARAMS(value);
    memset(value, 0, sizeof(((LaunchAttribute *)0)->pad));
    if (attribute == COOPERATIVE) *value = node->together.cooperative;
    if (attribute == CLUSTER) memcpy(value, node->together.cluster, sizeof node->together.cluster);
    return CUDA_SUCCESS;
}

CUAPI cuGraphKernelNodeCopyAttributes(CUgraphNode to, CUgraphNode from)
{
    NEED_NODE(target, to);
    NEED_NODE(source, from);
    NEED_TYPE(target, NODE_KERNEL);
    NEED_TYPE(source, NODE_KERNEL);
    target->together = source->together;
    return CUDA_SUCCESS;
}

/* ---- children and events ---- */

CUAPI cuGraphAddChildGraphNode(CUgraphNode *out, CUgraph graph, const CUgraphNode *before,
                               size_t count, CUgraph child)
{ return add(out, graph, before, count, (NodeParams){.type = NODE_GRAPH, .child.graph = child}); }

READS(cuGraphChildGraphNodeGetGraph, NODE_GRAPH, CUgraph, child.graph, sizeof *out)

CUAPI cuGraphExecChildGraphNodeSetParams(CUgraphExec exec, CUgraphNode node, CUgraph child)
{ return exec_change(exec, node, &(NodeParams){.type = NODE_GRAPH, .child.graph = child}); }

#define EVENT_CALLS(Name, wanted)                                                                  \
    CUAPI cuGraphAdd##Name##Node(CUgraphNode *out, CUgraph graph, const CUgraphNode *before,       \
                                 size_t count, CUevent event)                                      \
    { return add(out, graph, before, count, (NodeParams){.type = wanted, .event = event}); }       \
    READS(cuGraph##Name##NodeGetEvent, wanted, CUevent, event, sizeof *out)                        \
    CUAPI cuGraph##Name##NodeSetEvent(CUgraphNode handle, CUevent event)                           \
    {                                                                                              \
        NEED_NODE(node, handle);                                                                   \
        return node_change(node, &(NodeParams){.type = wanted, .event = event});                   \
    }                                                                                              \
    CUAPI cuGraphExec##Name##NodeSetEvent(CUgraphExec exec, CUgraphNode handle, CUevent event)     \
    { return exec_change(exec, handle, &(NodeParams){.type = wanted, .event = event}); }

EVENT_CALLS(EventRecord, NODE_EVENT_RECORD)
EVENT_CALLS(EventWait, NODE_WAIT_EVENT)

/* ---- memory ---- */

CUAPI cuGraphAddMemAllocNode(CUgraphNode *out, CUgraph graph, const CUgraphNode *before,
                             size_t count, AllocNode *alloc)
{
    NEED_PARAMS(alloc);
    NodeParams params = {.type = NODE_MEM_ALLOC, .alloc = *alloc};
    CUresult result = cuGraphAddNode(out, graph, before, count, &params);
    if (!result) alloc->address = params.alloc.address;
    return result;
}

CUAPI cuGraphAddMemFreeNode(CUgraphNode *out, CUgraph graph, const CUgraphNode *before,
                            size_t count, CUdeviceptr address)
{ return add(out, graph, before, count, (NodeParams){.type = NODE_MEM_FREE, .freed = address}); }

READS(cuGraphMemAllocNodeGetParams, NODE_MEM_ALLOC, AllocNode, alloc, sizeof *out)
READS(cuGraphMemFreeNodeGetParams, NODE_MEM_FREE, CUdeviceptr, freed, sizeof *out)

/* ---- nodes of executable graphs ---- */

CUAPI cuGraphExecNodeSetParams(CUgraphExec exec, CUgraphNode node, NodeParams *params)
{
    NEED_PARAMS(params);
    return exec_change(exec, node, params);
}
