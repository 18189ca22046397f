// WRONG on purpose: last_block.cu that takes the block with the highest number for the last to finish.
// Blocks run in any order and side by side, so it may fold totals that have not been written yet.
#include "common/operators.cuh"
#include "common/reduce.cuh"
using T = float;
using Acc = float;
using Out = float;
using Op = Sum<Acc>;
constexpr int UNROLL = 4;

extern "C" __global__ void wrong_last_block(const T *__restrict__ x, Out *out, long long n,
                                            Acc *totals)
{
    Op op;
    long long thread = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    long long threads = gridDim.x * (long long)blockDim.x;
    Acc acc = block_reduce(fold<UNROLL>(x, 0LL, n, thread, threads, op), op);
    if (threadIdx.x == 0) totals[blockIdx.x] = acc;
    if (blockIdx.x != gridDim.x - 1) return;

    __syncthreads();  // this block's total is written; the others' may not be
    acc = fold<1>(totals, 0, (int)gridDim.x, (int)threadIdx.x, (int)blockDim.x, op);
    acc = block_reduce(acc, op);
    if (threadIdx.x == 0) *out = Out(op.finish(acc, n));
}
