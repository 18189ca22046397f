// Reduction of rows: x[batch, hidden] -> out[batch]. Launch warps for at least batch rows.
// Step 1: one warp per row: its lanes stride over the row side by side, five shuffles fold the rest.
// Limit: long rows give each lane much to do in turn, and few rows leave most of the GPU idle.
#include "common/operators.cuh"
#include "common/reduce.cuh"
using T = float;
using Acc = float;
using Out = float;
using Op = Sum<Acc>;

extern "C" __global__ void warp_per_row(const T *__restrict__ x, Out *out, long long batch,
                                        long long hidden)
{
    Op op;
    int lane = threadIdx.x % 32;
    long long row = (blockIdx.x * (long long)blockDim.x + threadIdx.x) / 32;
    if (row >= batch) return;  // the whole warp leaves together

    Acc acc = op.initial();
    for (long long i = lane; i < hidden; i += 32) acc = op(acc, op.from(x[row * hidden + i], i));
    acc = warp_reduce(acc, op);
    if (lane == 0) out[row] = Out(op.finish(acc, hidden));
}
