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

CUDART cudaGraphCreate(cudaGraph_t *out, unsigned flags) { return CALL(cuGraphCreate(out, flags)); }

CUDART cudaGraphDestroy(cudaGraph_t graph) { return CALL(cuGraphDestroy(graph)); }

CUDART cudaGraphClone(cudaGraph_t *out, cudaGraph_t graph)
{ return CALL(cuGraphClone(out, graph)); }

CUDART cudaGraphNodeFindInClone(cudaGraphNode_t *out, cudaGraphNode_t node, cudaGraph_t clone)
{ return CALL(cuGraphNodeFindInClone(out, node, clone)); }

CUDART cudaGraphDestroyNode(cudaGraphNode_t node) { return CALL(cuGraphDestroyNode(node)); }

CUDART cudaGraphNodeGetType(cudaGraphNode_t node, enum cudaGraphNodeType *type)
{ return CALL(cuGraphNodeGetType(node, (CUgraphNodeType *)type)); }

CUDART cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count)
{ return CALL(cuGraphGetNodes(graph, nodes, count)); }

CUDART cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count)
{ return CALL(cuGraphGetRootNodes(graph, nodes, count)); }

CUDART cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to,
                         EDGES(cudaGraphEdgeData *edges) size_t *count)
{ return CALL(cuGraphGetEdges(graph, from, to, EDGES((void *)edges) count)); }

CUDART cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t *nodes,
                                    EDGES(cudaGraphEdgeData *edges) size_t *count)
{ return CALL(cuGraphNodeGetDependencies(node, nodes, EDGES((void *)edges) count)); }

CUDART cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t *nodes,
                                      EDGES(cudaGraphEdgeData *edges) size_t *count)
{ return CALL(cuGraphNodeGetDependentNodes(node, nodes, EDGES((void *)edges) count)); }

CUDART cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                const cudaGraphNode_t *to,
                                EDGES(const cudaGraphEdgeData *edges) size_t count)
{ return CALL(cuGraphAddDependencies(graph, from, to, EDGES((void *)edges) count)); }

CUDART cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                   const cudaGraphNode_t *to,
                                   EDGES(const cudaGraphEdgeData *edges) size_t count)
{ return CALL(cuGraphRemoveDependencies(graph, from, to, EDGES((void *)edges) count)); }

CUDART cudaGraphDebugDotPrint(cudaGraph_t graph, const char *path, unsigned flags)
{ return CALL(cuGraphDebugDotPrint(graph, path, flags)); }

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

CUDART cudaGraphKernelNodeGetAttribute(cudaGraphNode_t node, cudaLaunchAttributeID id,
                                       cudaLaunchAttributeValue *out)
{
    return CALL(cuGraphKernelNodeGetAttribute(node, (CUlaunchAttributeID)id,
                                              (CUlaunchAttributeValue *)out));
}

CUDART cudaGraphKernelNodeSetAttribute(cudaGraphNode_t node, cudaLaunchAttributeID id,
                                       const cudaLaunchAttributeValue *value)
{
    return CALL(cuGraphKernelNodeSetAttribute(node, (CUlaunchAttributeID)id,
                                              (const CUlaunchAttributeValue *)value));
}

CUDART cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t to, cudaGraphNode_t from)
{ return CALL(cuGraphKernelNodeCopyAttributes(to, from)); }

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

CUDART cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, struct cudaMemsetParams *out)
{ return CALL(cuGraphMemsetNodeGetParams(node, (void *)out)); }

CUDART cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const struct cudaMemsetParams *set)
{ return CALL(cuGraphMemsetNodeSetParams(node, (const void *)set)); }

CUDART cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                        const struct cudaMemsetParams *set)
{ return CALL(cuGraphExecMemsetNodeSetParams(exec, node, (const void *)set, here())); }

CUDART cudaGraphAddHostNode(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *before,
                            size_t count, const struct cudaHostNodeParams *host)
{ return CALL(cuGraphAddHostNode(out, graph, before, count, (const void *)host)); }

CUDART cudaGraphHostNodeGetParams(cudaGraphNode_t node, struct cudaHostNodeParams *out)
{ return CALL(cuGraphHostNodeGetParams(node, (void *)out)); }

CUDART cudaGraphHostNodeSetParams(cudaGraphNode_t node, const struct cudaHostNodeParams *host)
{ return CALL(cuGraphHostNodeSetParams(node, (const void *)host)); }

CUDART cudaGraphExecHostNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                      const struct cudaHostNodeParams *host)
{ return CALL(cuGraphExecHostNodeSetParams(exec, node, (const void *)host)); }

CUDART cudaGraphAddEmptyNode(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *before,
                             size_t count)
{ return CALL(cuGraphAddEmptyNode(out, graph, before, count)); }

CUDART cudaGraphAddChildGraphNode(cudaGraphNode_t *out, cudaGraph_t graph,
                                  const cudaGraphNode_t *before, size_t count, cudaGraph_t child)
{ return CALL(cuGraphAddChildGraphNode(out, graph, before, count, child)); }

CUDART cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t *out)
{ return CALL(cuGraphChildGraphNodeGetGraph(node, out)); }

CUDART cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                            cudaGraph_t child)
{ return CALL(cuGraphExecChildGraphNodeSetParams(exec, node, child)); }

CUDART cudaGraphAddEventRecordNode(cudaGraphNode_t *out, cudaGraph_t graph,
                                   const cudaGraphNode_t *before, size_t count, cudaEvent_t event)
{ return CALL(cuGraphAddEventRecordNode(out, graph, before, count, event)); }

CUDART cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t *out)
{ return CALL(cuGraphEventRecordNodeGetEvent(node, out)); }

CUDART cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event)
{ return CALL(cuGraphEventRecordNodeSetEvent(node, event)); }

CUDART cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t exec, cudaGraphNode_t node,
                                            cudaEvent_t event)
{ return CALL(cuGraphExecEventRecordNodeSetEvent(exec, node, event)); }

CUDART cudaGraphAddEventWaitNode(cudaGraphNode_t *out, cudaGraph_t graph,
                                 const cudaGraphNode_t *before, size_t count, cudaEvent_t event)
{ return CALL(cuGraphAddEventWaitNode(out, graph, before, count, event)); }

CUDART cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node, cudaEvent_t *out)
{ return CALL(cuGraphEventWaitNodeGetEvent(node, out)); }

CUDART cudaGraphEventWaitNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event)
{ return CALL(cuGraphEventWaitNodeSetEvent(node, event)); }

CUDART cudaGraphExecEventWaitNodeSetEvent(cudaGraphExec_t exec, cudaGraphNode_t node,
                                          cudaEvent_t event)
{ return CALL(cuGraphExecEventWaitNodeSetEvent(exec, node, event)); }

CUDART cudaGraphAddMemAllocNode(cudaGraphNode_t *out, cudaGraph_t graph,
                                const cudaGraphNode_t *before, size_t count,
                                struct cudaMemAllocNodeParams *alloc)
{ return CALL(cuGraphAddMemAllocNode(out, graph, before, count, (void *)alloc)); }

CUDART cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node, struct cudaMemAllocNodeParams *out)
{ return CALL(cuGraphMemAllocNodeGetParams(node, (void *)out)); }

CUDART cudaGraphAddMemFreeNode(cudaGraphNode_t *out, cudaGraph_t graph,
                               const cudaGraphNode_t *before, size_t count, void *memory)
{ return CALL(cuGraphAddMemFreeNode(out, graph, before, count, (CUdeviceptr)memory)); }

CUDART cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void *out)
{ return CALL(cuGraphMemFreeNodeGetParams(node, out)); }

CUDART cudaDeviceGraphMemTrim(int device) { return CALL(cuDeviceGraphMemTrim(device)); }

CUDART cudaDeviceGetGraphMemAttribute(int device, enum cudaGraphMemAttributeType id, void *out)
{ return CALL(cuDeviceGetGraphMemAttribute(device, (CUgraphMem_attribute)id, out)); }

CUDART cudaDeviceSetGraphMemAttribute(int device, enum cudaGraphMemAttributeType id, void *value)
{ return CALL(cuDeviceSetGraphMemAttribute(device, (CUgraphMem_attribute)id, value)); }

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

CUDART cudaGraphInstantiate(cudaGraphExec_t *out, cudaGraph_t graph, unsigned long long flags)
{ return CALL(cuGraphInstantiateWithFlags(out, graph, flags)); }

CUDART cudaGraphInstantiateWithFlags(cudaGraphExec_t *out, cudaGraph_t graph,
                                     unsigned long long flags)
{ return cudaGraphInstantiate(out, graph, flags); }

CUDART cudaGraphInstantiateWithParams(cudaGraphExec_t *out, cudaGraph_t graph,
                                      cudaGraphInstantiateParams *params)
{ return CALL(cuGraphInstantiateWithParams(out, graph, (void *)params)); }

CUDART cudaGraphExecGetFlags(cudaGraphExec_t exec, unsigned long long *flags)
{ return CALL(cuGraphExecGetFlags(exec, (cuuint64_t *)flags)); }

CUDART cudaGraphExecDestroy(cudaGraphExec_t exec) { return CALL(cuGraphExecDestroy(exec)); }

CUDART cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream)
{ return CALL(cuGraphUpload(exec, stream)); }

CUDART cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream)
{
    CUresult result = ready();
    return told(result ?: told_aloud(cuGraphLaunch(exec, stream)));
}

CUDART cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph,
                           cudaGraphExecUpdateResultInfo *out)
{ return CALL(cuGraphExecUpdate(exec, graph, (void *)out)); }

CUDART cudaGraphNodeSetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned on)
{ return CALL(cuGraphNodeSetEnabled(exec, node, on)); }

CUDART cudaGraphNodeGetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned *on)
{ return CALL(cuGraphNodeGetEnabled(exec, node, on)); }

/* ---- captures ---- */

CUDART cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode)
{ return CALL(cuStreamBeginCapture(stream, (CUstreamCaptureMode)mode)); }

#if CUDART_VERSION >= 12030
CUDART cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph,
                                     const cudaGraphNode_t *before, const cudaGraphEdgeData *edges,
                                     size_t count, enum cudaStreamCaptureMode mode)
{
    return CALL(cuStreamBeginCaptureToGraph(stream, graph, before, (const void *)edges, count,
                                            (CUstreamCaptureMode)mode));
}
#endif

CUDART cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *out)
{ return CALL(cuStreamEndCapture(stream, out)); }

CUDART cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *out)
{ return CALL(cuStreamIsCapturing(stream, (CUstreamCaptureStatus *)out)); }

#if CUDART_VERSION >= 13000
CUDART cudaStreamGetCaptureInfo(cudaStream_t stream, enum cudaStreamCaptureStatus *status,
                                unsigned long long *id, cudaGraph_t *graph,
                                const cudaGraphNode_t **before, const cudaGraphEdgeData **edges,
                                size_t *count)
{
    return CALL(cuStreamGetCaptureInfo(stream, (CUstreamCaptureStatus *)status, (cuuint64_t *)id,
                                       graph, before, (void *)edges, count));
}
#endif

CUDART cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t *nodes,
                                           EDGES(const cudaGraphEdgeData *edges) size_t count,
                                           unsigned flags)
{
    return CALL(
        cuStreamUpdateCaptureDependencies(stream, nodes, EDGES((void *)edges) count, flags));
}

CUDART cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode)
{ return CALL(cuThreadExchangeStreamCaptureMode((CUstreamCaptureMode *)mode)); }
