// Reduction of rows: x[batch, hidden] -> out[batch]. Launch batch blocks of whole warps.
// Step 2: one block per row: more loads in flight for a long row.
// Limit: a short row leaves most threads without work, and every row pays for two barriers.
#include "common/operators.cuh"
#include "common/reduce.cuh"
using T = float;
using Acc = float;
using Out = float;
using Op = Sum<Acc>;

extern "C" __global__ void block_per_row(const T *__restrict__ x, Out *out, long long batch,
                                         long long hidden)
{
    Op op;
    long long row = blockIdx.x;
    Acc acc = op.initial();
    for (long long i = threadIdx.x; i < hidden; i += blockDim.x)
        acc = op(acc, op.from(x[row * hidden + i], i));
    acc = block_reduce(acc, op);
    if (threadIdx.x == 0) out[row] = Out(op.finish(acc, hidden));
}
