// Softmax of the rows of x[batch, hidden] at temperature t -> y. Launch batch blocks of 128 threads.
#include "common/operators.cuh"
#include "common/reduce.cuh"

__global__ void tempered(const float *x, float *y, float t, long long hidden)
{
    long long start = blockIdx.x * hidden, tid = threadIdx.x, threads = blockDim.x;
    float peak = -INFINITY, sum = 0;
    for (long long i = tid; i < hidden; i += threads) peak = fmaxf(peak, x[start + i]);
    peak = block_reduce(peak, Max<float>());
    // BEGIN your lines
    for (long long i = tid; i < hidden; i += threads) sum += expf((x[start + i] - peak) / t);
    sum = block_reduce(sum, Sum<float>());
    for (long long i = tid; i < hidden; i += threads)
        y[start + i] = expf((x[start + i] - peak) / t) / sum;
    // END
}
