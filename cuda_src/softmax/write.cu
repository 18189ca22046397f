// Softmax of rows, given their statistics: x[batch, hidden] and stats[batch, parts] of measure.cu ->
// y[batch, hidden]. Launch and alignment as there.
// Step 4, second launch: each warp merges the statistics of its row, then writes. The parts that
// were measured last come first: the L2 cache still holds them.
// Limit: memory: two reads, less what the L2 held, and one write.
#include "common/edges.cuh"
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
    long long row = part / parts, begin = row * hidden, end = begin + hidden;
    long long start = begin - elements_before<PACK>(x, begin) + part % parts * TILE;
    long long last = min(start + TILE, end);

    int lane = threadIdx.x % 32;
    Running<Acc> acc = fold<1>(stats + row * parts, 0, parts, lane, 32, op);
    Acc peak = warp_reduce(acc.peak, Max<Acc>());
    Acc scale = 1 / warp_reduce(rescaled(acc, peak), Sum<Acc>());
#pragma unroll 4
    for (long long at = start + threadIdx.x * PACK; at < last; at += blockDim.x * PACK) {
        Packed<T, PACK> p = load_within<PACK>(x, at, batch * hidden);
        for (int k = 0; k < PACK; ++k) p[k] = T(exp(Acc(p[k]) - peak) * scale);
        store_within(y, at, begin, end, p);
    }
}
