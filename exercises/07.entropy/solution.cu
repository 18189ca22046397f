// Loss of the rows of x[batch, hidden] with label[batch] -> loss[batch]. Launch batch blocks of 128.
#include "common/operators.cuh"
#include "common/reduce.cuh"

__global__ void entropy(const float *x, const int *label, float *loss, long long hidden)
{
    long long start = blockIdx.x * hidden, tid = threadIdx.x, threads = blockDim.x;
    float peak = -INFINITY, sum = 0;
    // BEGIN your lines
    for (long long i = tid; i < hidden; i += threads) peak = fmaxf(peak, x[start + i]);
    peak = block_reduce(peak, Max<float>());
    for (long long i = tid; i < hidden; i += threads) sum += expf(x[start + i] - peak);
    sum = block_reduce(sum, Sum<float>());
    if (tid == 0) loss[blockIdx.x] = logf(sum) - (x[start + label[blockIdx.x]] - peak);
    // END
}
