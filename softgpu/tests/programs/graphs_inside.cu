// Graphs that allocate memory and ask conditions; the answers are in test_programs.py.
#include <cstdio>

__global__ void add(int *to, int number) { *to += number; }
__global__ void copy(int *to, const int *from) { *to = *from; }

// Reads what nobody has written, which the sanitizer tells.
__global__ void count_down(cudaGraphConditionalHandle more, int *left, int *to)
{
    *to += 1 + 0 * *(volatile int *)(to + 1);
    cudaGraphSetConditional(more, --*left);
}

#define MUST(call)                                                                                 \
    do {                                                                                           \
        cudaError_t error = call;                                                                  \
        if (error) return printf("%s: %s\n", #call, cudaGetErrorName(error)), 1;                   \
    } while (0)

static int at(const int *place)
{
    int value = -1;
    cudaMemcpy(&value, place, 4, cudaMemcpyDeviceToHost);
    return value;
}

struct Kernel {
    void *arguments[3];
    cudaGraphNodeParams node = {cudaGraphNodeTypeKernel};
    template <typename... Arguments>
    Kernel(void *function, Arguments *...given) : arguments{(void *)given...}
    {
        node.kernel.func = function;
        node.kernel.gridDim = node.kernel.blockDim = dim3(1);
        node.kernel.kernelParams = arguments;
    }
};

static cudaMemAllocNodeParams allocation(size_t bytes)
{
    cudaMemAllocNodeParams params = {};
    params.poolProps.allocType = cudaMemAllocationTypePinned;
    params.poolProps.location = {cudaMemLocationTypeDevice, 0};
    params.bytesize = bytes;
    return params;
}

static int by_nodes(int *out, int *left)
{
    cudaGraph_t graph, clone;
    cudaGraphExec_t executable;
    cudaGraphNode_t made, set, looped, freed, got, more;
    cudaGraphConditionalHandle again;
    MUST(cudaGraphCreate(&graph, 0));
    cudaMemAllocNodeParams memory = allocation(8), told;
    MUST(cudaGraphAddMemAllocNode(&made, graph, nullptr, 0, &memory));
    MUST(cudaGraphMemAllocNodeGetParams(made, &told));
    int *inside = (int *)memory.dptr;
    cudaGraphNodeParams zero = {cudaGraphNodeTypeMemset};
    zero.memset.dst = inside;
    zero.memset.elementSize = 4;
    zero.memset.width = zero.memset.height = 1;
    MUST(cudaGraphAddNode(&set, graph, &made, nullptr, 1, &zero));
    MUST(cudaGraphConditionalHandleCreate(&again, graph, 1, cudaGraphCondAssignDefault));
    cudaGraphNodeParams loop = {cudaGraphNodeTypeConditional};
    loop.conditional.handle = again;
    loop.conditional.type = cudaGraphCondTypeWhile;
    loop.conditional.size = 1;
    MUST(cudaGraphAddNode(&looped, graph, &set, nullptr, 1, &loop));
    Kernel step((void *)count_down, &again, &left, &inside), last((void *)copy, &out, &inside);
    MUST(cudaGraphAddNode(&more, loop.conditional.phGraph_out[0], nullptr, nullptr, 0, &step.node));
    MUST(cudaGraphAddNode(&got, graph, &looped, nullptr, 1, &last.node));
    size_t nodes, inner;
    MUST(cudaGraphGetNodes(graph, nullptr, &nodes));
    MUST(cudaGraphAddMemFreeNode(&freed, graph, &got, 1, inside));
    void *address;
    MUST(cudaGraphMemFreeNodeGetParams(freed, &address));
    MUST(cudaGraphGetNodes(graph, nullptr, &inner));
    printf("in the graph: %d %zu\n", (told.dptr == inside) + (address == inside) + (inner > nodes),
           inner);
    MUST(cudaGraphInstantiate(&executable, graph, 0));
    int ten = 10;
    MUST(cudaMemcpy(left, &ten, 4, cudaMemcpyHostToDevice));
    MUST(cudaGraphLaunch(executable, nullptr));
    printf("counted down: %d %d\n", at(out), at(left));
    count_down<<<1, 1>>>(again, left, out);
    printf("by itself: %d %d\n", at(out), at(left));
    cudaError_t cloned = cudaGraphClone(&clone, graph);
    if (cloned != cudaErrorNotSupported) return 1;
    cudaGetLastError();
    return 0;
}

static int kept_after(int *out)
{
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    cudaGraphNode_t made, put, chosen;
    cudaGraphConditionalHandle never;
    MUST(cudaGraphCreate(&graph, 0));
    cudaGraphNodeParams memory = {cudaGraphNodeTypeMemAlloc};
    memory.alloc.poolProps.allocType = cudaMemAllocationTypePinned;
    memory.alloc.poolProps.location = {cudaMemLocationTypeDevice, 0};
    memory.alloc.bytesize = 4;
    MUST(cudaGraphAddNode(&made, graph, nullptr, nullptr, 0, &memory));
    int *kept = (int *)memory.alloc.dptr, ten = 10;
    Kernel first((void *)copy, &kept, &out), second((void *)add, &out, &ten);
    MUST(cudaGraphAddNode(&put, graph, &made, nullptr, 1, &first.node));
    MUST(cudaGraphAddNode(&put, graph, &put, nullptr, 1, &second.node));
    MUST(cudaGraphConditionalHandleCreate(&never, graph, 0, cudaGraphCondAssignDefault));
    cudaGraphNodeParams choice = {cudaGraphNodeTypeConditional};
    choice.conditional.handle = never;
    choice.conditional.type = cudaGraphCondTypeIf;
    choice.conditional.size = 1;
    MUST(cudaGraphAddNode(&chosen, graph, &put, nullptr, 1, &choice));
    MUST(cudaGraphAddNode(&put, choice.conditional.phGraph_out[0], nullptr, nullptr, 0,
                          &second.node));
    MUST(cudaGraphInstantiate(&executable, graph, 0));
    MUST(cudaGraphLaunch(executable, nullptr));
    int value = at(kept);
    cudaError_t again = cudaGraphLaunch(executable, nullptr);
    printf("kept: %d, then %s, %d\n", value, cudaGetErrorName(again), at(out));
    cudaGetLastError();
    printf("no body: %d\n", at(out));
    MUST(cudaFree(kept));
    unsigned long long reserved, none = 0;
    MUST(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &none));
    MUST(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrReservedMemCurrent, &reserved));
    MUST(cudaDeviceGraphMemTrim(0));
    MUST(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrReservedMemCurrent, &none));
    printf("reserved: %d, then %llu\n", reserved > 0, none);
    return 0;
}

static int one_of_a_kind(int *out)
{
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    cudaStream_t stream;
    int *meanwhile;
    MUST(cudaStreamCreate(&stream));
    MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    MUST(cudaMallocAsync(&meanwhile, 4, stream));
    MUST(cudaMemsetAsync(meanwhile, 8, 4, stream));
    copy<<<1, 1, 0, stream>>>(out, meanwhile);
    MUST(cudaFreeAsync(meanwhile, stream));
    MUST(cudaStreamEndCapture(stream, &graph));
    cudaGraphNode_t node;
    cudaGraph_t parent;
    MUST(cudaGraphCreate(&parent, 0));
    cudaError_t refused = cudaGraphAddChildGraphNode(&node, parent, nullptr, 0, graph);
    printf("one of a kind: %s\n", cudaGetErrorName(refused));
    cudaGetLastError();
    size_t nodes;
    MUST(cudaGraphGetNodes(graph, nullptr, &nodes));
    MUST(cudaGraphInstantiate(&executable, graph, 0));
    MUST(cudaGraphLaunch(executable, stream));
    MUST(cudaStreamSynchronize(stream));
    printf("captured: %zu nodes, %d\n", nodes, at(out) & 0xff);
    return 0;
}

int main()
{
    int *places;
    MUST(cudaMalloc(&places, 8));
    return by_nodes(places, places + 1) || kept_after(places) || one_of_a_kind(places);
}
