// Statistics of the rows of a softmax: x[batch, hidden] -> stats[batch, parts], the maximum and the sum
// of each TILE elements of a row. Launch batch * parts blocks, parts * TILE >= hidden. PACK divides
// hidden and TILE, x is aligned to a pack.
// Step 4, first launch: a row that no block can hold in registers is cut into parts. This is a
// reduction like any other; UNROLL packs find their maximum first, to spend one exp() an element.
// Limit: memory; and write.cu must read x again.
#include "common/reduce.cuh"
#include "softmax/running.cuh"
using T = float;
using Acc = float;
constexpr int PACK = 4;
constexpr int TILE = 8192;
constexpr int UNROLL = 4;

extern "C" __global__ void measure(const T *__restrict__ x, Running<Acc> *stats, long long batch,
                                   long long hidden, int parts)
{
    Softmax<Acc> op;
    long long row = blockIdx.x / parts, first = blockIdx.x % parts * (long long)TILE;
    int packs = min((long long)TILE, hidden - first) / PACK, threads = blockDim.x;
    auto in = reinterpret_cast<const Packed<T, PACK> *>(x + row * hidden + first);

    Running<Acc> acc = op.initial();
    for (int i = threadIdx.x; i < packs; i += UNROLL * threads) {
        Acc value[UNROLL][PACK];
#pragma unroll
        for (int u = 0; u < UNROLL; ++u) {
            bool inside = i + u * threads < packs;
            Packed<T, PACK> p = in[inside ? i + u * threads : i];
            for (int k = 0; k < PACK; ++k) value[u][k] = inside ? Acc(p[k]) : -INFINITY;
        }
        Running<Acc> own = op.initial();
#pragma unroll
        for (int u = 0; u < UNROLL; ++u)
            for (int k = 0; k < PACK; ++k) own.peak = max(own.peak, value[u][k]);
        Acc base = own.peak == -INFINITY ? Acc(0) : own.peak;  // exp(-inf - 0) is 0
#pragma unroll
        for (int u = 0; u < UNROLL; ++u)
            for (int k = 0; k < PACK; ++k) own.sum += exp(value[u][k] - base);
        acc = op(acc, own);
    }
    Acc peak = block_reduce(acc.peak, Max<Acc>());  // first, so that each thread rescales once
    Acc sum = block_reduce(rescaled(acc, peak), Sum<Acc>());
    if (threadIdx.x == 0) stats[blockIdx.x] = {peak, sum};
}
