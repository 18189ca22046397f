// Reduction of rows: x[batch, hidden] -> out[batch]. Launch batch blocks of whole warps.
// Step 5: block_per_row.cu in packs of 16 bytes, UNROLL of them in flight per thread.
// Limit: memory, while there are rows enough for all multiprocessors.
#include "common/operators.cuh"
#include "common/reduce.cuh"
using T = float;
using Acc = float;
using Out = float;
using Op = Sum<Acc>;
constexpr int UNROLL = 4;

extern "C" __global__ void block_packed(const T *__restrict__ x, Out *out, long long batch,
                                        long long hidden)
{
    Op op;
    long long row = blockIdx.x, thread = threadIdx.x, threads = blockDim.x;
    Acc acc = block_reduce(fold<UNROLL>(x + row * hidden, 0LL, hidden, thread, threads, op), op);
    if (thread == 0) out[row] = Out(op.finish(acc, hidden));
}
