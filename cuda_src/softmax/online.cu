// Softmax of rows: x[batch, hidden] -> y[batch, hidden]. Launch batch blocks of whole warps.
// Step 2: maximum and sum in one pass: when the maximum grows, the sum so far shrinks by
// exp(old - new). Pairs of maximum and sum merge in any order, so it is a reduction like any other.
// Limit: the row is read twice; two exp() an element for the merging.
#include "common/reduce.cuh"
#include "softmax/running.cuh"
using T = float;
using Acc = float;

extern "C" __global__ void online(const T *__restrict__ x, T *y, long long batch, long long hidden)
{
    long long start = blockIdx.x * hidden, tid = threadIdx.x, threads = blockDim.x;
    Softmax<Acc> op;
    Running<Acc> row = op.initial();
    for (long long i = tid; i < hidden; i += threads) row = op(row, op.from(x[start + i], i));
    row = block_reduce(row, op);

    for (long long i = tid; i < hidden; i += threads)
        y[start + i] = T(exp(Acc(x[start + i]) - row.peak) / row.sum);
}
