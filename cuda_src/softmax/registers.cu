// Softmax of rows: x[batch, hidden] -> y[batch, hidden]. GROUP threads per row: part of a warp, in blocks
// of up to 256 threads, or a block of that size. x and y are aligned to a pack, PACK divides hidden unless
// EDGES = 1, which wants 2 * PACK - 2 <= GROUP; hidden <= GROUP * PACKS * PACK.
// Step 3: one read: the row stays in the registers of its threads, PACKS packs each, all in flight
// at once; maximum and sum then cost no memory traffic. EDGES = 1: rows begin anywhere, and what lies
// before the first whole pack and after the last is shared out, an element a thread.
// Limit: memory: one read, one write. A row must fit into a block's registers.
#include "common/operators.cuh"
#include "common/reduce.cuh"
using T = float;
using Acc = float;
constexpr int PACK = 4;
constexpr int GROUP = 32;
constexpr int PACKS = 8;
constexpr int EDGES = 0;

template <typename Op>
__device__ Acc group_reduce(Acc acc, Op op)
{
    if constexpr (GROUP > 32) return block_reduce(acc, op);
    else return warp_reduce<GROUP>(acc, op);
}

extern "C" __global__
__launch_bounds__(GROUP > 32 ? GROUP : 256) void registers(const T *__restrict__ x, T *y,
                                                           long long batch, long long hidden)
{
    long long row = (blockIdx.x * (long long)blockDim.x + threadIdx.x) / GROUP;
    bool inside = row < batch;
    if (!inside) row = batch - 1;  // stays, as its warp's shuffles need it
    int head = EDGES ? -unsigned(row * hidden) % PACK : 0, packs = (hidden - head) / PACK;
    int tid = threadIdx.x % GROUP, edge = tid < head ? tid : packs * PACK + tid;
    bool has_edge = EDGES && edge < hidden;
    x += row * hidden, y += row * hidden;
    auto in = reinterpret_cast<const Packed<T, PACK> *>(x + head);
    auto out = reinterpret_cast<Packed<T, PACK> *>(y + head);

    Acc other = has_edge ? Acc(x[edge]) : -INFINITY;
    Packed<T, PACK> p[PACKS];
#pragma unroll
    for (int j = 0; j < PACKS; ++j)
        if (tid + j * GROUP < packs) p[j] = in[tid + j * GROUP];

    Max<Acc> greater;
    Acc value[PACKS][PACK], peak = other;  // of its element outside of packs, or -inf
#pragma unroll
    for (int j = 0; j < PACKS; ++j)
#pragma unroll
        for (int k = 0; k < PACK; ++k) {
            value[j][k] = tid + j * GROUP < packs ? Acc(p[j][k]) : greater.initial();
            peak = greater(peak, value[j][k]);
        }
    peak = group_reduce(peak, greater);
    Acc sum = other = has_edge ? exp(other - peak) : 0;
#pragma unroll
    for (int j = 0; j < PACKS; ++j)
#pragma unroll
        for (int k = 0; k < PACK; ++k) sum += value[j][k] = exp(value[j][k] - peak);
    Acc scale = 1 / group_reduce(sum, Sum<Acc>());
    if (inside && has_edge) y[edge] = T(other * scale);
#pragma unroll
    for (int j = 0; j < PACKS; ++j) {
#pragma unroll
        for (int k = 0; k < PACK; ++k) p[j][k] = T(value[j][k] * scale);
        if (inside && tid + j * GROUP < packs) out[tid + j * GROUP] = p[j];
    }
}
