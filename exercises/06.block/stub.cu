// Reduction of rows: x[batch, hidden] -> out[batch]. Launch batch blocks of whole warps.
#include "common/operators.cuh"
#include "common/reduce.cuh"
using T = float;
using Acc = float;
using Out = float;
using Op = Sum<Acc>;

__global__ void block_per_row(const T *__restrict__ x, Out *out, long long batch, long long hidden)
{
    Op op;
    long long row = blockIdx.x;
    Acc acc = op.initial();
    // your lines
}
