// Graphs by nodes and by capture, as programs make them; the answers are in test_programs.py.
#include <cstdio>

__global__ void add(int *to, const int *from, int number)
{ to[threadIdx.x] += from[threadIdx.x] * number; }

__constant__ int factor;
__global__ void scale(int *to) { to[0] *= factor; }

#define MUST(call)                                                                                 \
    do {                                                                                           \
        cudaError_t error = call;                                                                  \
        if (error) return printf("%s: %s\n", #call, cudaGetErrorName(error)), 1;                   \
    } while (0)

static void say(const char *what, cudaError_t error)
{
    printf("%s: %s\n", what, cudaGetErrorName(error));
    cudaGetLastError();
}

static void count(void *calls) { ++*(int *)calls; }

struct Add {
    int *to;
    const int *from;
    int number;
    void *arguments[3] = {&to, &from, &number};
    cudaKernelNodeParams node(unsigned threads)
    { return {(void *)add, dim3(1), dim3(threads), 0, arguments, nullptr}; }
};

static int by_nodes(const char *picture)
{
    int *to, *from, back[3], calls = 0, sevens[3] = {7, 7, 7};
    MUST(cudaMalloc(&to, 12));
    MUST(cudaMalloc(&from, 12));
    MUST(cudaMemset(to, 0, 12));
    cudaGraph_t graph;
    cudaGraphNode_t put, added, got, told;
    Add what{to, from, 3};
    cudaKernelNodeParams kernel = what.node(3);
    cudaHostNodeParams host{count, &calls};
    MUST(cudaGraphCreate(&graph, 0));
    MUST(cudaGraphAddKernelNode(&added, graph, nullptr, 0, &kernel));
    MUST(cudaGraphAddMemcpyNode1D(&put, graph, nullptr, 0, from, sevens, 12,
                                  cudaMemcpyHostToDevice));
    MUST(cudaGraphAddDependencies(graph, &put, &added, nullptr, 1));
    MUST(cudaGraphAddMemcpyNode1D(&got, graph, &added, 1, back, to, 12, cudaMemcpyDefault));
    MUST(cudaGraphAddHostNode(&told, graph, &got, 1, &host));
    MUST(cudaGraphDebugDotPrint(graph, picture, 0));
    cudaGraphExec_t executable;
    MUST(cudaGraphInstantiate(&executable, graph, 0));
    for (const char *when : {"nodes", "again"}) {
        MUST(cudaGraphLaunch(executable, nullptr));
        printf("%s: %d %d %d, host %d\n", when, back[0], back[1], back[2], calls);
    }
    MUST(cudaMemset(to + 1, 0, 8));
    kernel = what.node(1);
    MUST(cudaGraphExecKernelNodeSetParams(executable, added, &kernel));
    MUST(cudaGraphLaunch(executable, nullptr));
    printf("other arguments: %d %d %d\n", back[0], back[1], back[2]);
    MUST(cudaGraphKernelNodeGetParams(added, &kernel));
    *(int *)kernel.kernelParams[2] += 2;
    printf("kernel: grid %u, block %u, added %d to the same, %s\n", kernel.gridDim.x,
           kernel.blockDim.x, *(int *)kernel.kernelParams[2],
           kernel.func == (void *)add ? "found again" : "lost");
    MUST(cudaGraphKernelNodeSetParams(added, &kernel));
    MUST(cudaGraphExecDestroy(executable));
    MUST(cudaGraphDestroy(graph));

    int nine = 9, one = 1;
    cudaGraphNode_t first, second;
    void *arguments[] = {&to};
    cudaKernelNodeParams scaled{(void *)scale, dim3(1), dim3(1), 0, arguments, nullptr};
    MUST(cudaMemcpy(to, &one, 4, cudaMemcpyHostToDevice));
    MUST(cudaGraphCreate(&graph, 0));
    MUST(cudaGraphAddMemcpyNodeToSymbol(&first, graph, nullptr, 0, factor, &nine, 4, 0,
                                        cudaMemcpyHostToDevice));
    MUST(cudaGraphAddKernelNode(&second, graph, &first, 1, &scaled));
    MUST(cudaGraphInstantiate(&executable, graph, 0));
    MUST(cudaGraphLaunch(executable, nullptr));
    MUST(cudaMemcpy(back, to, 4, cudaMemcpyDeviceToHost));
    printf("copied to the symbol: %d\n", back[0]);
    return 0;
}

// to = {10, 20, 10} + number, in two streams
static cudaError_t capture(cudaGraph_t *graph, cudaStream_t stream, cudaStream_t other, int *to,
                           int *ones, int number)
{
    static const int tens[] = {10, 20, 10};
    cudaEvent_t begun, done;
    cudaEventCreate(&begun);
    cudaEventCreate(&done);
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    cudaMemcpyAsync(to, tens, 12, cudaMemcpyHostToDevice, stream);
    cudaEventRecord(begun, stream);
    cudaStreamWaitEvent(other, begun);
    add<<<1, 1, 0, stream>>>(to, ones, number);
    add<<<1, 1, 0, other>>>(to + 1, ones, number + 1);
    cudaEventRecord(done, other);
    cudaStreamWaitEvent(stream, done);
    add<<<1, 1, 0, stream>>>(to + 2, ones, number);
    return cudaStreamEndCapture(stream, graph);
}

static int by_capture()
{
    int *to, *ones, back[3], one = 1;
    cudaStream_t stream, other;
    cudaGraph_t graph, later, longer;
    cudaGraphExec_t executable;
    cudaStreamCaptureStatus during, after;
    MUST(cudaMalloc(&to, 12));
    MUST(cudaMalloc(&ones, 4));
    MUST(cudaMemcpy(ones, &one, 4, cudaMemcpyHostToDevice));
    MUST(cudaStreamCreate(&stream));
    MUST(cudaStreamCreate(&other));
    MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    MUST(cudaStreamIsCapturing(stream, &during));
    MUST(cudaMemsetAsync(to, 0, 12, stream));
    MUST(cudaStreamEndCapture(stream, &longer));
    MUST(cudaStreamIsCapturing(stream, &after));
    MUST(capture(&graph, stream, other, to, ones, 1));
    size_t nodes;
    MUST(cudaGraphGetNodes(graph, nullptr, &nodes));
    printf("captured: %zu nodes, status %d then %d\n", nodes, during, after);
    MUST(cudaGraphInstantiate(&executable, graph, 0));
    for (const char *when : {"forked", "updated"}) {
        MUST(cudaGraphLaunch(executable, stream));
        MUST(cudaStreamSynchronize(stream));
        MUST(cudaMemcpy(back, to, 12, cudaMemcpyDeviceToHost));
        printf("%s: %d %d %d\n", when, back[0], back[1], back[2]);
        cudaGraphExecUpdateResultInfo how;
        MUST(capture(&later, stream, other, to, ones, 2));
        MUST(cudaGraphExecUpdate(executable, later, &how));
    }
    cudaGraphExecUpdateResultInfo how;
    say("topology", cudaGraphExecUpdate(executable, longer, &how));

    MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    say("synchronised", cudaStreamSynchronize(stream));
    graph = later;
    cudaError_t ended = cudaStreamEndCapture(stream, &graph);
    printf("ended: %s, %s\n", cudaGetErrorName(ended), graph ? "a graph" : "no graph");
    cudaGetLastError();
    MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    say("plain copy", cudaMemcpy(back, to, 12, cudaMemcpyDeviceToHost));
    cudaStreamEndCapture(stream, &graph);
    cudaGetLastError();
    return 0;
}

int main(int count, char **words)
{
    if (count < 2 || by_nodes(words[1]) || by_capture()) return 1;
    cudaGraph_t graph;
    cudaGraphNode_t node;
    MUST(cudaGraphCreate(&graph, 0));
    say("semaphore", cudaGraphAddExternalSemaphoresSignalNode(&node, graph, nullptr, 0, nullptr));
    say("no graph", cudaGraphLaunch(nullptr, nullptr));
    Add nowhere{nullptr, nullptr, 1};
    cudaKernelNodeParams kernel = nowhere.node(1);
    cudaGraphExec_t executable;
    MUST(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &kernel));
    MUST(cudaGraphInstantiate(&executable, graph, 0));
    MUST(cudaGraphLaunch(executable, nullptr));
    say("fault", cudaDeviceSynchronize());
}
