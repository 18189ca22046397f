// Statistics of the rows of a softmax: x[batch, hidden] -> stats[batch, parts], the maximum and the sum
// of each TILE elements of a row. Launch batch * parts blocks, parts * TILE >= hidden. PACK divides
// hidden and TILE, x is aligned to a pack.
// Step 4, first launch: a row that no block can hold in registers is cut into parts. This is a
// reduction like any other; each pack finds its own maximum first, to spend one exp() an element.
// Limit: the memory; and write.cu must read x again.
#include "common/reduce.cuh"
#include "softmax/running.cuh"
using T = float;
using Acc = float;
constexpr int PACK = 4;
constexpr int TILE = 8192;

extern "C" __global__ void measure(const T *__restrict__ x, Running<Acc> *stats, long long batch,
                                   long long hidden, int parts)
{
    Softmax<Acc> op;
    Max<Acc> greater;
    long long row = blockIdx.x / parts, first = blockIdx.x % parts * (long long)TILE;
    int packs = min((long long)TILE, hidden - first) / PACK;
    auto in = reinterpret_cast<const Packed<T, PACK> *>(x + row * hidden + first);

    Running<Acc> acc = op.initial();
#pragma unroll 4
    for (int i = threadIdx.x; i < packs; i += blockDim.x) {
        Packed<T, PACK> p = in[i];
        Running<Acc> own = op.initial();
        for (int k = 0; k < PACK; ++k) own.peak = greater(own.peak, Acc(p[k]));
        for (int k = 0; k < PACK; ++k) own.sum += exp(Acc(p[k]) - own.peak);
        acc = op(acc, own);
    }
    acc = block_reduce(acc, op);
    if (threadIdx.x == 0) stats[blockIdx.x] = acc;
}
