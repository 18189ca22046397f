// log softmax of the rows of x[batch, hidden] -> y. Launch batch blocks of 128 threads.
#include "common/operators.cuh"
#include "common/reduce.cuh"

__global__ void log_softmax(const float *x, float *y, long long hidden)
{
    long long start = blockIdx.x * hidden, tid = threadIdx.x, threads = blockDim.x;
    float peak = -INFINITY, sum = 0;
    for (long long i = tid; i < hidden; i += threads) peak = fmaxf(peak, x[start + i]);
    peak = block_reduce(peak, Max<float>());
    for (long long i = tid; i < hidden; i += threads) sum += expf(x[start + i] - peak);
    sum = block_reduce(sum, Sum<float>());
    // BEGIN your lines
    float rest = logf(sum);
    for (long long i = tid; i < hidden; i += threads) y[start + i] = x[start + i] - peak - rest;
    // END
}
