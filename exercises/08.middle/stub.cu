// Reduction over the middle of x[outer, reduce, inner] -> out[outer, inner]. Launch blocks for at least
// inner columns, and outer of them in y.
#include "common/operators.cuh"
using T = float;
using Acc = float;
using Out = float;
using Op = Sum<Acc>;

__global__ void columns(const T *__restrict__ x, Out *out, long long outer, long long reduce,
                        long long inner)
{
    Op op;
    long long column = blockIdx.x * (long long)blockDim.x + threadIdx.x, slice = blockIdx.y;
    Acc acc = op.initial();
    // your lines
}
