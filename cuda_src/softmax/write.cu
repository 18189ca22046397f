// Softmax of rows, given their statistics: x[batch, hidden] and stats[batch, parts] of measure.cu ->
// y[batch, hidden]. Launch and alignment as there.
// Step 4, second launch: each warp merges the statistics of its row, then writes. The parts that
// were measured last come first: the L2 cache still holds them.
// Limit: memory: two reads, less what the L2 held, and one write.
#include "common/reduce.cuh"
#include "softmax/running.cuh"
using T = float;
using Acc = float;
constexpr int PACK = 4;
constexpr int TILE = 8192;

extern "C" __global__ void write(const T *__restrict__ x, T *y, long long batch, long long hidden,
                                 int parts, const Running<Acc> *__restrict__ stats)
{
    Softmax<Acc> op;
    long long part = gridDim.x - 1 - blockIdx.x;
    long long row = part / parts, first = part % parts * TILE;
    int packs = min((long long)TILE, hidden - first) / PACK;
    auto in = reinterpret_cast<const Packed<T, PACK> *>(x + row * hidden + first);
    auto out = reinterpret_cast<Packed<T, PACK> *>(y + row * hidden + first);

    int lane = threadIdx.x % 32;
    Running<Acc> acc = fold<1>(stats + row * parts, 0, parts, lane, 32, op);
    Acc peak = warp_reduce(acc.peak, Max<Acc>());
    Acc scale = 1 / warp_reduce(rescaled(acc, peak), Sum<Acc>());
#pragma unroll 4
    for (int i = threadIdx.x; i < packs; i += blockDim.x) {
        Packed<T, PACK> p = in[i];
        for (int k = 0; k < PACK; ++k) p[k] = T(exp(Acc(p[k]) - peak) * scale);
        out[i] = p;
    }
}
