// Reduction of rows: x[batch, hidden] -> out[batch]. Launch warps for at least batch rows.
// Step 4: warp_per_row.cu in packs of 16 bytes, UNROLL of them in flight per lane. A row may start
// anywhere: fold() takes scalars up to the first 16-byte boundary and after the last.
// Limit: as before, long rows; rows of less than 32 packs leave lanes idle.
#include "common/operators.cuh"
#include "common/reduce.cuh"
using T = float;
using Acc = float;
using Out = float;
using Op = Sum<Acc>;
constexpr int UNROLL = 4;

extern "C" __global__ void warp_packed(const T *__restrict__ x, Out *out, long long batch,
                                       long long hidden)
{
    Op op;
    long long lane = threadIdx.x % 32;
    long long row = (blockIdx.x * (long long)blockDim.x + threadIdx.x) / 32;
    if (row >= batch) return;

    Acc acc = fold<UNROLL>(x + row * hidden, 0LL, hidden, lane, 32LL, op);
    acc = warp_reduce(acc, op);
    if (lane == 0) out[row] = Out(op.finish(acc, hidden));
}
