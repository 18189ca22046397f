// Rows of x[batch, hidden] -> y[batch, hidden], each of length one. Launch batch blocks of 128 threads.
#include "common/operators.cuh"
#include "common/reduce.cuh"

__global__ void unit(const float *x, float *y, long long hidden)
{
    long long start = blockIdx.x * hidden;
    // BEGIN your lines
    float squares = 0;
    for (long long i = threadIdx.x; i < hidden; i += blockDim.x)
        squares += x[start + i] * x[start + i];
    squares = block_reduce(squares, Sum<float>());
    float scale = squares > 0 ? 1 / sqrtf(squares) : 0.f;
    for (long long i = threadIdx.x; i < hidden; i += blockDim.x)
        y[start + i] = x[start + i] * scale;
    // END
}
