// WRONG on purpose: warp_per_row.cu without its row guard. If batch is not a multiple of the warps in a
// block, the last block reads rows past the end of x and writes past that of out.
#include "common/operators.cuh"
#include "common/reduce.cuh"
using T = float;
using Acc = float;
using Out = float;
using Op = Sum<Acc>;

extern "C" __global__ void wrong_row_guard(const T *__restrict__ x, Out *out, long long batch,
                                           long long hidden)
{
    Op op;
    int lane = threadIdx.x % 32;
    long long row = (blockIdx.x * (long long)blockDim.x + threadIdx.x) / 32;

    Acc acc = op.initial();
    for (long long i = lane; i < hidden; i += 32) acc = op(acc, op.from(x[row * hidden + i], i));
    acc = warp_reduce(acc, op);
    if (lane == 0) out[row] = Out(op.finish(acc, hidden));
}
