// Sum of a vector: x[n] -> out[1], which the caller sets to zero. Launch any number of whole warps.
// Step 12: as many blocks as the GPU holds at once, and each thread strides over x: it adds while it
// loads, and the tree at the end is paid once per thread, not once per element.
// Limit: a thread asks for 4 bytes at a time and waits: too few bytes in flight.
#include "common/operators.cuh"
#include "common/reduce.cuh"
using T = float;
using Acc = float;

extern "C" __global__ void grid_stride(const T *__restrict__ x, Acc *out, long long n)
{
    long long threads = gridDim.x * (long long)blockDim.x;
    Acc sum = 0;
    for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n; i += threads)
        sum += Acc(x[i]);
    sum = block_reduce(sum, Sum<Acc>());
    if (threadIdx.x == 0) atomicAdd(out, sum);
}
