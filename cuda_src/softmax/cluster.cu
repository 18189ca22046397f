// Softmax of rows: x[batch, hidden] -> y[batch, hidden]. Launch batch * BLOCKS blocks of THREADS threads, on compute
// capability 9.0 or later. PACK divides hidden unless EDGES = 1 (see registers.cu), x and y are aligned to a
// pack, and hidden <= BLOCKS * THREADS * PACKS * PACK.
// Step 6: registers.cu for rows that no block can hold: a cluster of BLOCKS blocks holds one. Each block tells
// every other its maximum and sum, by writing them into its shared memory.
// Limit: memory: one read, one write. A row must fit into the registers of a cluster.
#include "common/cluster.cuh"
#include "common/reduce.cuh"
#include "softmax/running.cuh"
using T = float;
using Acc = float;
constexpr int PACK = 4;
constexpr int PACKS = 8;
constexpr int THREADS = 256;
constexpr int BLOCKS = 8;  // the most that every GPU with clusters has room for
constexpr int EDGES = 0;

extern "C" __global__ __cluster_dims__(BLOCKS, 1, 1)
    __launch_bounds__(THREADS) void cluster(const T *__restrict__ x, T *y, long long batch,
                                            long long hidden)
{
    __shared__ Running<Acc> parts[BLOCKS];
    arrive_in_cluster();  // this block is there, and can be written to
    long long row = blockIdx.x / BLOCKS;
    int head = EDGES ? -unsigned(row * hidden) % PACK : 0, packs = (hidden - head) / PACK;
    int rank = blockIdx.x % BLOCKS, first = rank * THREADS + threadIdx.x, step = BLOCKS * THREADS;
    int edge = first < head ? first : packs * PACK + first;
    bool has_edge = EDGES && edge < hidden;
    x += row * hidden, y += row * hidden;
    auto in = reinterpret_cast<const Packed<T, PACK> *>(x + head);
    auto out = reinterpret_cast<Packed<T, PACK> *>(y + head);

    Acc other = has_edge ? Acc(x[edge]) : -INFINITY;
    Packed<T, PACK> p[PACKS];
#pragma unroll
    for (int j = 0; j < PACKS; ++j)
        if (first + j * step < packs) p[j] = in[first + j * step];

    Max<Acc> greater;
    Acc value[PACKS][PACK], peak = other;
#pragma unroll
    for (int j = 0; j < PACKS; ++j)
#pragma unroll
        for (int k = 0; k < PACK; ++k) {
            value[j][k] = first + j * step < packs ? Acc(p[j][k]) : greater.initial();
            peak = greater(peak, value[j][k]);
        }
    peak = block_reduce(peak, greater);
    Acc base = peak == -INFINITY ? Acc(0) : peak;  // exp(-inf - 0) is 0
    Acc sum = other = has_edge ? exp(other - base) : 0;
#pragma unroll
    for (int j = 0; j < PACKS; ++j)
#pragma unroll
        for (int k = 0; k < PACK; ++k) sum += value[j][k] = exp(value[j][k] - base);
    sum = block_reduce(sum, Sum<Acc>());

    wait_in_cluster();  // so are the others
    if (threadIdx.x < BLOCKS) *in_block(&parts[rank], threadIdx.x) = {peak, sum};
    arrive_in_cluster();
    wait_in_cluster();  // all parts are written

    Softmax<Acc> op;
    Running<Acc> all = op.initial();
    for (int i = 0; i < BLOCKS; ++i) all = op(all, parts[i]);
    Acc scale = rescaled({peak, Acc(sum != 0)}, all.peak) / all.sum;
    if (has_edge) y[edge] = T(other * scale);
#pragma unroll
    for (int j = 0; j < PACKS; ++j) {
#pragma unroll
        for (int k = 0; k < PACK; ++k) p[j][k] = T(value[j][k] * scale);
        if (first + j * step < packs) out[first + j * step] = p[j];
    }
}
