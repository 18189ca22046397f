/* Graphs and captures: the driver's, with kernels and variables by the host's addresses of them. */
#include <string.h>

#include "cudart.h"

/* The calls of CUDA 12, the driver's too, do without edges' data. */
#if CUDART_VERSION >= 13000
#define EDGES(parameter) parameter,
#else
#define EDGES(parameter)
#endif

static CUcontext here(void)
{
    CUcontext context = NULL;
    cuCtxGetCurrent(&context);
    return context;
}

/* ---- graphs ---- */

FORWARD(cudaGraphCreate, cuGraphCreate)
FORWARD(cudaGraphDestroy, cuGraphDestroy)
FORWARD(cudaGraphClone, cuGraphClone)
FORWARD(cudaGraphNodeFindInClone, cuGraphNodeFindInClone)
FORWARD(cudaGraphDestroyNode, cuGraphDestroyNode)
FORWARD(cudaGraphNodeGetType, cuGraphNodeGetType)
FORWARD(cudaGraphGetNodes, cuGraphGetNodes)
FORWARD(cudaGraphGetRootNodes, cuGraphGetRootNodes)
FORWARD(cudaGraphGetEdges, cuGraphGetEdges)
FORWARD(cudaGraphNodeGetDependencies, cuGraphNodeGetDependencies)
FORWARD(cudaGraphNodeGetDependentNodes, cuGraphNodeGetDependentNodes)
FORWARD(cudaGraphAddDependencies, cuGraphAddDependencies)
FORWARD(cudaGraphRemoveDependencies, cuGraphRemoveDependencies)
FORWARD(cudaGraphDebugDotPrint, cuGraphDebugDotPrint)

/* ---- kernels ---- */

static CUresult kernel_of(const struct cudaKernelNodeParams *asked, CUDA_KERNEL_NODE_PARAMS *out)
{
    *out = (CUDA_KERNEL_NODE_PARAMS){
        .gridDimX = asked->gridDim.x,
        .gridDimY = asked->gridDim.y,
        .gridDimZ = asked->gridDim.z,
        .blockDimX = asked->blockDim.x,
        .blockDimY = asked->blockDim.y,
        .blockDimZ = asked->blockDim.z,
        .sharedMemBytes = asked->sharedMemBytes,
        .kernelParams = asked->kernelParams,
        .extra = asked->extra,
    };
    return ready() ?: function_of(asked->func, &out->func);
}

CUDART cudaGraphAddKernelNode(cudaGraphNode_t *out, cudaGraph_t graph,
                              const cudaGraphNode_t *before, size_t count,
                              const struct cudaKernelNodeParams *asked)
{
    CUDA_KERNEL_NODE_PARAMS kernel;
    return told(kernel_of(asked, &kernel)
                    ?: cuGraphAddKernelNode(out, graph, before, count, &kernel));
}

CUDART cudaGraphKernelNodeGetParams(cudaGraphNode_t node, struct cudaKernelNodeParams *out)
{
    CUDA_KERNEL_NODE_PARAMS kernel;
    CUresult result = ready() ?: cuGraphKernelNodeGetParams(node, &kernel);
    if (result) return told(result);
    *out = (struct cudaKernelNodeParams){
        .func = (void *)host_of(kernel.func),
        .gridDim = {kernel.gridDimX, kernel.gridDimY, kernel.gridDimZ},
        .blockDim = {kernel.blockDimX, kernel.blockDimY, kernel.blockDimZ},
        .sharedMemBytes = kernel.sharedMemBytes,
        .kernelParams = kernel.kernelParams,
        .extra = kernel.extra,
    };
    return told(CUDA_SUCCESS);
}

CUDART cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const struct cudaKernelNodeParams *asked)
{
    CUDA_KERNEL_NODE_PARAMS kernel;
    return told(kernel_of(asked, &kernel) ?: cuGraphKernelNodeSetParams(node, &kernel));
}

CUDART cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                        const struct cudaKernelNodeParams *asked)
{
    CUDA_KERNEL_NODE_PARAMS kernel;
    return told(kernel_of(asked, &kernel) ?: cuGraphExecKernelNodeSetParams(exec, node, &kernel));
}

FORWARD(cudaGraphKernelNodeGetAttribute, cuGraphKernelNodeGetAttribute)
FORWARD(cudaGraphKernelNodeSetAttribute, cuGraphKernelNodeSetAttribute)
FORWARD(cudaGraphKernelNodeCopyAttributes, cuGraphKernelNodeCopyAttributes)

/* ---- copies ---- */

CUDART cudaGraphAddMemcpyNode(cudaGraphNode_t *out, cudaGraph_t graph,
                              const cudaGraphNode_t *before, size_t count,
                              const struct cudaMemcpy3DParms *asked)
{
    CUDA_MEMCPY3D copy;
    return told(copy_of(asked, &copy)
                    ?: cuGraphAddMemcpyNode(out, graph, before, count, &copy, here()));
}

CUDART cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node, const struct cudaMemcpy3DParms *asked)
{
    CUDA_MEMCPY3D copy;
    return told(copy_of(asked, &copy) ?: cuGraphMemcpyNodeSetParams(node, &copy));
}

CUDART cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                        const struct cudaMemcpy3DParms *asked)
{
    CUDA_MEMCPY3D copy;
    return told(copy_of(asked, &copy) ?: cuGraphExecMemcpyNodeSetParams(exec, node, &copy, here()));
}

static struct cudaMemcpy3DParms row(void *to, const void *from, size_t bytes,
                                    enum cudaMemcpyKind kind)
{
    return (struct cudaMemcpy3DParms){.srcPtr = {(void *)from, bytes, bytes, 1},
                                      .dstPtr = {to, bytes, bytes, 1},
                                      .extent = {bytes, 1, 1},
                                      .kind = kind};
}

CUDART cudaGraphAddMemcpyNode1D(cudaGraphNode_t *out, cudaGraph_t graph,
                                const cudaGraphNode_t *before, size_t count, void *to,
                                const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    const struct cudaMemcpy3DParms asked = row(to, from, bytes, kind);
    return cudaGraphAddMemcpyNode(out, graph, before, count, &asked);
}

CUDART cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void *to, const void *from,
                                      size_t bytes, enum cudaMemcpyKind kind)
{
    const struct cudaMemcpy3DParms asked = row(to, from, bytes, kind);
    return cudaGraphMemcpyNodeSetParams(node, &asked);
}

CUDART cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t exec, cudaGraphNode_t node, void *to,
                                          const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    const struct cudaMemcpy3DParms asked = row(to, from, bytes, kind);
    return cudaGraphExecMemcpyNodeSetParams(exec, node, &asked);
}

CUDART cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t *out, cudaGraph_t graph,
                                      const cudaGraphNode_t *before, size_t count,
                                      const void *symbol, const void *from, size_t bytes,
                                      size_t offset, enum cudaMemcpyKind kind)
{
    char *variable;
    return cudaGetSymbolAddress((void **)&variable, symbol)
               ?: cudaGraphAddMemcpyNode1D(out, graph, before, count, variable + offset, from,
                                           bytes, kind);
}

CUDART cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t *out, cudaGraph_t graph,
                                        const cudaGraphNode_t *before, size_t count, void *to,
                                        const void *symbol, size_t bytes, size_t offset,
                                        enum cudaMemcpyKind kind)
{
    const char *variable;
    return cudaGetSymbolAddress((void **)&variable, symbol)
               ?: cudaGraphAddMemcpyNode1D(out, graph, before, count, to, variable + offset, bytes,
                                           kind);
}

/* ---- other nodes ---- */

CUDART cudaGraphAddMemsetNode(cudaGraphNode_t *out, cudaGraph_t graph,
                              const cudaGraphNode_t *before, size_t count,
                              const struct cudaMemsetParams *set)
{ return CALL(cuGraphAddMemsetNode(out, graph, before, count, (const void *)set, here())); }

FORWARD(cudaGraphMemsetNodeGetParams, cuGraphMemsetNodeGetParams)
FORWARD(cudaGraphMemsetNodeSetParams, cuGraphMemsetNodeSetParams)

CUDART cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                        const struct cudaMemsetParams *set)
{ return CALL(cuGraphExecMemsetNodeSetParams(exec, node, (const void *)set, here())); }

FORWARD(cudaGraphAddHostNode, cuGraphAddHostNode)
FORWARD(cudaGraphHostNodeGetParams, cuGraphHostNodeGetParams)
FORWARD(cudaGraphHostNodeSetParams, cuGraphHostNodeSetParams)
FORWARD(cudaGraphExecHostNodeSetParams, cuGraphExecHostNodeSetParams)
FORWARD(cudaGraphAddEmptyNode, cuGraphAddEmptyNode)
FORWARD(cudaGraphAddChildGraphNode, cuGraphAddChildGraphNode)
FORWARD(cudaGraphChildGraphNodeGetGraph, cuGraphChildGraphNodeGetGraph)
FORWARD(cudaGraphExecChildGraphNodeSetParams, cuGraphExecChildGraphNodeSetParams)
FORWARD(cudaGraphAddEventRecordNode, cuGraphAddEventRecordNode)
FORWARD(cudaGraphEventRecordNodeGetEvent, cuGraphEventRecordNodeGetEvent)
FORWARD(cudaGraphEventRecordNodeSetEvent, cuGraphEventRecordNodeSetEvent)
FORWARD(cudaGraphExecEventRecordNodeSetEvent, cuGraphExecEventRecordNodeSetEvent)
FORWARD(cudaGraphAddEventWaitNode, cuGraphAddEventWaitNode)
FORWARD(cudaGraphEventWaitNodeGetEvent, cuGraphEventWaitNodeGetEvent)
FORWARD(cudaGraphEventWaitNodeSetEvent, cuGraphEventWaitNodeSetEvent)
FORWARD(cudaGraphExecEventWaitNodeSetEvent, cuGraphExecEventWaitNodeSetEvent)
FORWARD(cudaGraphAddMemAllocNode, cuGraphAddMemAllocNode)
FORWARD(cudaGraphMemAllocNodeGetParams, cuGraphMemAllocNodeGetParams)
FORWARD(cudaGraphAddMemFreeNode, cuGraphAddMemFreeNode)
FORWARD(cudaGraphMemFreeNodeGetParams, cuGraphMemFreeNodeGetParams)
FORWARD(cudaDeviceGraphMemTrim, cuDeviceGraphMemTrim)
FORWARD(cudaDeviceGetGraphMemAttribute, cuDeviceGetGraphMemAttribute)
FORWARD(cudaDeviceSetGraphMemAttribute, cuDeviceSetGraphMemAttribute)

/* ---- nodes of any type ---- */

#if CUDART_VERSION >= 12030
CUDART cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle *out, cudaGraph_t graph,
                                        unsigned value, unsigned flags)
{ return CALL(cuGraphConditionalHandleCreate((void *)out, graph, here(), value, flags)); }

/* The driver's have the same places for all but kernels and copies. */
static CUresult node_of(const struct cudaGraphNodeParams *asked, CUgraphNodeParams *out)
{
    CUDA_KERNEL_NODE_PARAMS kernel;
    CUresult result = CUDA_SUCCESS;
    memcpy(out, asked, sizeof *out);
    switch (asked->type) {
    case cudaGraphNodeTypeKernel:
        result = kernel_of((const void *)&asked->kernel, &kernel);
        memcpy(&out->kernel, &kernel, sizeof kernel);
        break;
    case cudaGraphNodeTypeMemcpy:
        out->memcpy.copyCtx = here();
        result = copy_of(&asked->memcpy.copyParams, &out->memcpy.copyParams);
        break;
    case cudaGraphNodeTypeMemset: out->memset.ctx = here(); break;
    default: break;
    }
    return result;
}

CUDART cudaGraphAddNode(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *before,
                        EDGES(const cudaGraphEdgeData *edges) size_t count,
                        struct cudaGraphNodeParams *asked)
{
    CUgraphNodeParams params;
    CUresult result = ready() ?: node_of(asked, &params);
    if (!result)
        result = cuGraphAddNode(out, graph, before, EDGES((const void *)edges) count, &params);
    if (result) return told(result);
    switch (asked->type) {
    case cudaGraphNodeTypeGraph: asked->graph.graph = params.graph.graph; break;
    case cudaGraphNodeTypeMemAlloc: asked->alloc.dptr = (void *)params.alloc.dptr; break;
    case cudaGraphNodeTypeConditional:
        asked->conditional.phGraph_out = params.conditional.phGraph_out;
        break;
    default: break;
    }
    return told(CUDA_SUCCESS);
}

CUDART cudaGraphNodeSetParams(cudaGraphNode_t node, struct cudaGraphNodeParams *asked)
{
    CUgraphNodeParams params;
    return told(ready() ?: node_of(asked, &params) ?: cuGraphNodeSetParams(node, &params));
}

CUDART cudaGraphExecNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                  struct cudaGraphNodeParams *asked)
{
    CUgraphNodeParams params;
    return told(ready() ?: node_of(asked, &params) ?: cuGraphExecNodeSetParams(exec, node, &params));
}
#endif

/* ---- executable graphs ---- */

FORWARD(cudaGraphInstantiate, cuGraphInstantiateWithFlags)

CUDART cudaGraphInstantiateWithFlags(cudaGraphExec_t *out, cudaGraph_t graph,
                                     unsigned long long flags)
{ return cudaGraphInstantiate(out, graph, flags); }

FORWARD(cudaGraphInstantiateWithParams, cuGraphInstantiateWithParams)
FORWARD(cudaGraphExecGetFlags, cuGraphExecGetFlags)
FORWARD(cudaGraphExecDestroy, cuGraphExecDestroy)
FORWARD(cudaGraphUpload, cuGraphUpload)

CUDART cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream)
{
    CUresult result = ready();
    return told(result ?: told_aloud(cuGraphLaunch(exec, stream)));
}

FORWARD(cudaGraphExecUpdate, cuGraphExecUpdate)
FORWARD(cudaGraphNodeSetEnabled, cuGraphNodeSetEnabled)
FORWARD(cudaGraphNodeGetEnabled, cuGraphNodeGetEnabled)

/* ---- captures ---- */

FORWARD(cudaStreamBeginCapture, cuStreamBeginCapture)

#if CUDART_VERSION >= 12030
FORWARD(cudaStreamBeginCaptureToGraph, cuStreamBeginCaptureToGraph)
#endif

FORWARD(cudaStreamEndCapture, cuStreamEndCapture)
FORWARD(cudaStreamIsCapturing, cuStreamIsCapturing)

#if CUDART_VERSION >= 13000
FORWARD(cudaStreamGetCaptureInfo, cuStreamGetCaptureInfo)
#endif

CUDART cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t *nodes,
                                           EDGES(const cudaGraphEdgeData *edges) size_t count,
                                           unsigned flags)
{
    return CALL(
        cuStreamUpdateCaptureDependencies(stream, nodes, EDGES((void *)edges) count, flags));
}

FORWARD(cudaThreadExchangeStreamCaptureMode, cuThreadExchangeStreamCaptureMode)
