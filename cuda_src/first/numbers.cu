// Who am I: block[i], thread[i] of every thread i of the grid. The launch has as many threads as elements.
// The first kernel: nothing is computed, each thread only writes down its own two numbers.
extern "C" __global__ void numbers(int *block, int *thread)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    block[i] = blockIdx.x;
    thread[i] = threadIdx.x;
}
