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

/* ---- kernels ---- */

static NodeParams of_kernel(const KernelNode *kernel, bool whole)
{
    NodeParams params = {.type = NODE_KERNEL};
    memcpy(&params.kernel, kernel, whole ? sizeof *kernel : offsetof(KernelNode, kernel));
    return params;
}

#define KERNEL_CALLS(version, whole)                                                               \
    CUAPI cuGraphAddKernelNode##version(CUgraphNode *out, CUgraph graph,                           \
                                        const CUgraphNode *before, size_t count,                   \
                                        const KernelNode *params)                                  \
    {                                                                                              \
        NEED_PARAMS(params);                                                                       \
        return add(out, graph, before, count, of_kernel(params, whole));                           \
    }                                                                                              \
    CUAPI cuGraphKernelNodeGetParams##version(CUgraphNode handle, KernelNode *params)              \
    {                                                                                              \
        NEED_NODE(node, handle);                                                                   \
        NEED_TYPE(node, NODE_KERNEL);                                                              \
        NEED_PARAMS(params);                                                                       \
        memcpy(params, &node->params.kernel,                                                       \
               whole ? sizeof *params : offsetof(KernelNode, kernel));                             \
        return CUDA_SUCCESS;                                                                       \
    }                                                                                              \
    CUAPI cuGraphKernelNodeSetParams##version(CUgraphNode handle, const KernelNode *params)        \
    {                                                                                              \
        NEED_NODE(node, handle);                                                                   \
        NEED_PARAMS(params);                                                                       \
        NodeParams wanted = of_kernel(params, whole);                                              \
        return node_change(node, &wanted);                                                         \
    }

KERNEL_CALLS(, false)
KERNEL_CALLS(_v2, true)

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

/* ---- copies, sets, functions of the host ---- */

static NodeParams of_memcpy(const CUDA_MEMCPY3D *copy)
{
    NodeParams params = {.type = NODE_MEMCPY};
    params.memcpy.context = current_handle();
    params.memcpy.copy = *copy;
    return params;
}

static NodeParams of_memset(const MemsetNode *set)
{
    NodeParams params = {.type = NODE_MEMSET};
    memcpy(&params.memset, set, offsetof(MemsetNode, context));
    params.memset.context = current_handle();
    return params;
}

static NodeParams of_host(const HostNode *host)
{ return (NodeParams){.type = NODE_HOST, .host = *host}; }

#define IN_CONTEXT(params, context)                                                                \
    NEED_PARAMS(params);                                                                           \
    if (!handle_object(CONTEXT, context))                                                          \
    return fail(CUDA_ERROR_INVALID_CONTEXT, "no such "                                             \
                                            "context")

CUAPI cuGraphAddMemcpyNode(CUgraphNode *out, CUgraph graph, const CUgraphNode *before, size_t count,
                           const CUDA_MEMCPY3D *copy, CUcontext context)
{
    IN_CONTEXT(copy, context);
    return add(out, graph, before, count, of_memcpy(copy));
}

CUAPI cuGraphAddMemsetNode(CUgraphNode *out, CUgraph graph, const CUgraphNode *before, size_t count,
                           const MemsetNode *set, CUcontext context)
{
    IN_CONTEXT(set, context);
    return add(out, graph, before, count, of_memset(set));
}

CUAPI cuGraphAddHostNode(CUgraphNode *out, CUgraph graph, const CUgraphNode *before, size_t count,
                         const HostNode *host)
{
    NEED_PARAMS(host);
    return add(out, graph, before, count, of_host(host));
}

#define ACCESS(Name, wanted, Type, member, bytes, of)                                              \
    CUAPI cuGraph##Name##NodeGetParams(CUgraphNode handle, Type *params)                           \
    {                                                                                              \
        NEED_NODE(node, handle);                                                                   \
        NEED_TYPE(node, wanted);                                                                   \
        NEED_PARAMS(params);                                                                       \
        memcpy(params, &node->params.member, bytes);                                               \
        return CUDA_SUCCESS;                                                                       \
    }                                                                                              \
    CUAPI cuGraph##Name##NodeSetParams(CUgraphNode handle, const Type *params)                     \
    {                                                                                              \
        NEED_NODE(node, handle);                                                                   \
        NEED_PARAMS(params);                                                                       \
        NodeParams changed = of(params);                                                           \
        return node_change(node, &changed);                                                        \
    }

ACCESS(Memcpy, NODE_MEMCPY, CUDA_MEMCPY3D, memcpy.copy, sizeof *params, of_memcpy)
ACCESS(Memset, NODE_MEMSET, MemsetNode, memset, offsetof(MemsetNode, context), of_memset)
ACCESS(Host, NODE_HOST, HostNode, host, sizeof *params, of_host)

/* ---- children and events ---- */

CUAPI cuGraphAddChildGraphNode(CUgraphNode *out, CUgraph graph, const CUgraphNode *before,
                               size_t count, CUgraph child)
{ return add(out, graph, before, count, (NodeParams){.type = NODE_GRAPH, .child.graph = child}); }

CUAPI cuGraphChildGraphNodeGetGraph(CUgraphNode handle, CUgraph *graph)
{
    NEED_NODE(node, handle);
    NEED_TYPE(node, NODE_GRAPH);
    *graph = node->params.child.graph;
    return CUDA_SUCCESS;
}

#define EVENT_CALLS(Name, wanted)                                                                  \
    CUAPI cuGraphAdd##Name##Node(CUgraphNode *out, CUgraph graph, const CUgraphNode *before,       \
                                 size_t count, CUevent event)                                      \
    { return add(out, graph, before, count, (NodeParams){.type = wanted, .event = event}); }       \
    CUAPI cuGraph##Name##NodeGetEvent(CUgraphNode handle, CUevent *event)                          \
    {                                                                                              \
        NEED_NODE(node, handle);                                                                   \
        NEED_TYPE(node, wanted);                                                                   \
        *event = node->params.event;                                                               \
        return CUDA_SUCCESS;                                                                       \
    }                                                                                              \
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

CUAPI cuGraphMemAllocNodeGetParams(CUgraphNode handle, AllocNode *params)
{
    NEED_NODE(node, handle);
    NEED_TYPE(node, NODE_MEM_ALLOC);
    NEED_PARAMS(params);
    *params = node->params.alloc;
    return CUDA_SUCCESS;
}

CUAPI cuGraphAddMemFreeNode(CUgraphNode *out, CUgraph graph, const CUgraphNode *before,
                            size_t count, CUdeviceptr address)
{ return add(out, graph, before, count, (NodeParams){.type = NODE_MEM_FREE, .freed = address}); }

CUAPI cuGraphMemFreeNodeGetParams(CUgraphNode handle, CUdeviceptr *address)
{
    NEED_NODE(node, handle);
    NEED_TYPE(node, NODE_MEM_FREE);
    NEED_PARAMS(address);
    *address = node->params.freed;
    return CUDA_SUCCESS;
}

/* ---- nodes of executable graphs ---- */

CUAPI cuGraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode node, const KernelNode *params)
{
    NEED_PARAMS(params);
    const NodeParams changed = of_kernel(params, false);
    return exec_change(exec, node, &changed);
}

CUAPI cuGraphExecKernelNodeSetParams_v2(CUgraphExec exec, CUgraphNode node,
                                        const KernelNode *params)
{
    NEED_PARAMS(params);
    const NodeParams changed = of_kernel(params, true);
    return exec_change(exec, node, &changed);
}

CUAPI cuGraphExecMemcpyNodeSetParams(CUgraphExec exec, CUgraphNode node, const CUDA_MEMCPY3D *copy,
                                     CUcontext context)
{
    IN_CONTEXT(copy, context);
    const NodeParams changed = of_memcpy(copy);
    return exec_change(exec, node, &changed);
}

CUAPI cuGraphExecMemsetNodeSetParams(CUgraphExec exec, CUgraphNode node, const MemsetNode *set,
                                     CUcontext context)
{
    IN_CONTEXT(set, context);
    const NodeParams changed = of_memset(set);
    return exec_change(exec, node, &changed);
}

CUAPI cuGraphExecHostNodeSetParams(CUgraphExec exec, CUgraphNode node, const HostNode *host)
{
    NEED_PARAMS(host);
    const NodeParams changed = of_host(host);
    return exec_change(exec, node, &changed);
}

CUAPI cuGraphExecChildGraphNodeSetParams(CUgraphExec exec, CUgraphNode node, CUgraph child)
{
    const NodeParams changed = {.type = NODE_GRAPH, .child.graph = child};
    return exec_change(exec, node, &changed);
}

CUAPI cuGraphExecNodeSetParams(CUgraphExec exec, CUgraphNode node, NodeParams *params)
{
    NEED_PARAMS(params);
    return exec_change(exec, node, params);
}
