// Greatest of each row of x[batch, hidden] -> out[batch]. Launch a warp for each row.
#include "common/operators.cuh"
#include "common/reduce.cuh"

__global__ void row_max(const float *x, float *out, long long batch, long long hidden)
{
    long long row = (blockIdx.x * (long long)blockDim.x + threadIdx.x) / 32;
    int lane = threadIdx.x % 32;
    // BEGIN your lines
    if (row >= batch) return;
    float most = -INFINITY;
    for (long long i = lane; i < hidden; i += 32) most = fmaxf(most, x[row * hidden + i]);
    most = warp_reduce(most, Max<float>());
    if (lane == 0) out[row] = most;
    // END
}
