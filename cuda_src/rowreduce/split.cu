// Reduction of rows: x[batch, hidden] -> out[batch]. Launch batch * splits blocks; totals holds as many
// values; arrived[batch] starts at zero and is zero again at the end.
// Step 7: for few long rows: splits blocks share a row, and the last of them to arrive finishes it. One
// row is the reduction of a vector; splits = 1 is block_packed.cu.
// Limit: memory.
#include "common/operators.cuh"
#include "common/reduce.cuh"
using T = float;
using Acc = float;
using Out = float;
using Op = Sum<Acc>;
constexpr int UNROLL = 8;

extern "C" __global__ void split(const T *__restrict__ x, Out *out, long long batch,
                                 long long hidden, int splits, Acc *totals, unsigned *arrived)
{
    Op op;
    long long row = blockIdx.x / splits;
    int part = blockIdx.x % splits;
    long long thread = part * (long long)blockDim.x + threadIdx.x;
    long long threads = splits * (long long)blockDim.x;
    Acc acc = block_reduce(fold<UNROLL>(x + row * hidden, 0LL, hidden, thread, threads, op), op);

    if (splits > 1) {
        if (threadIdx.x == 0) totals[blockIdx.x] = acc;
        if (!last_to_arrive(arrived + row, splits)) return;
        acc = fold<1>(totals + row * splits, 0, splits, (int)threadIdx.x, (int)blockDim.x, op);
        acc = block_reduce(acc, op);
    }
    if (threadIdx.x == 0) out[row] = Out(op.finish(acc, hidden));
}
