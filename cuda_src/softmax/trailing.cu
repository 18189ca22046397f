// Softmax of rows: x[batch, hidden] -> y[batch, hidden]. Launch batch * parts + lag blocks of BLOCK
// threads, parts = ceil(hidden / TILE) <= lag. PACK divides hidden unless EDGES = 1 (see registers.cu), x and
// y are aligned to a pack; WHOLE = 1 if TILE divides hidden. slots (batch * parts) and *ticket are zero before the launch.
// Step 5: one launch. Each block measures a tile, and writes the one that was measured `lag` tiles
// ago: its row is complete by now, and still in the L2 cache, so that memory is read only once.
// Limit: the traffic between the L2 cache and the multiprocessors: two reads, one write.
#include "common/reduce.cuh"
#include "softmax/running.cuh"
using T = float;
using Acc = float;
constexpr int PACK = 4;
constexpr int PACKS = 8;
constexpr int BLOCK = 256;
constexpr int WHOLE = 0;
constexpr int EDGES = 0;

using Pack = Packed<T, PACK>;
constexpr int TILE = BLOCK * PACKS * PACK;
constexpr int RESIDENT = sizeof(Acc) > 4 ? 2 : 3;  // blocks at a time on a multiprocessor

// A slot takes a value from one block to others. It is its own flag, and so needs no fence: +0 says
// that nothing has come yet, and a zero is sent as -0.
__device__ void send(volatile Running<Acc> *slot, Running<Acc> a)
{
    slot->peak = a.peak == 0 ? -Acc(0) : a.peak;
    slot->sum = a.sum == 0 ? -Acc(0) : a.sum;
}

__device__ bool is_empty(Acc a) { return a == 0 && !signbit(a); }

__device__ Running<Acc> receive(const volatile Running<Acc> *slot)
{
    Running<Acc> a;
    do a.peak = slot->peak, a.sum = slot->sum;
    while (is_empty(a.peak) || is_empty(a.sum));
    return a;
}

struct Tile {
    unsigned row;
    int packs;
    long long first, edge;  // edge: where this thread's element outside of packs is, or -1
    __device__ Tile(unsigned tile, unsigned parts, long long hidden) : row(tile / parts)
    {
        int head = EDGES ? -unsigned(row * hidden) % PACK : 0, tid = threadIdx.x;
        long long start = (long long)(tile - row * parts) * TILE;
        long long body = EDGES ? (hidden - head) / PACK * PACK : hidden;
        packs = min((long long)TILE, body - start) / PACK;
        first = row * hidden + head + start;
        edge = tid < head ? tid : body + tid;
        edge = EDGES && start == 0 && edge < hidden ? row * hidden + edge : -1;
    }
    __device__ bool has(int j) const { return WHOLE || threadIdx.x + j * BLOCK < packs; }
    __device__ void load(Pack (&p)[PACKS], const T *x) const
    {
        auto in = reinterpret_cast<const Pack *>(x + first) + threadIdx.x;
#pragma unroll
        for (int j = 0; j < PACKS; ++j)
            if (has(j)) p[j] = in[j * BLOCK];
    }
};

extern "C" __global__ __launch_bounds__(BLOCK, RESIDENT) void trailing(const T *__restrict__ x,
                                                                       T *y, long long batch,
                                                                       long long hidden, int parts,
                                                                       int lag, Running<Acc> *slots,
                                                                       unsigned *ticket)
{
    __shared__ unsigned turn;
    if (threadIdx.x == 0) turn = atomicAdd(ticket, 1);  // who waits, waits for lower tickets only
    __syncthreads();
    bool measures = turn < batch * parts, writes = turn >= lag;
    Tile next(turn, parts, hidden), old(turn - lag, parts, hidden);
    Pack p[PACKS], q[PACKS];
    Acc p_edge = measures && next.edge >= 0 ? Acc(x[next.edge]) : -INFINITY;
    if (measures) next.load(p, x);
    Acc q_edge = writes && old.edge >= 0 ? Acc(x[old.edge]) : 0;
    if (writes) old.load(q, x);

    if (measures) {
        Acc peak = p_edge, sum = 0;
#pragma unroll
        for (int j = 0; j < PACKS; ++j)
            for (int k = 0; k < PACK; ++k)
                if (next.has(j)) peak = max(peak, Acc(p[j][k]));
        peak = block_reduce(peak, Max<Acc>());
        Acc base = peak == -INFINITY ? Acc(0) : peak;  // exp(-inf - 0) is 0
#pragma unroll
        for (int j = 0; j < PACKS; ++j)
            for (int k = 0; k < PACK; ++k)
                if (next.has(j)) sum += exp(Acc(p[j][k]) - base);
        if (next.edge >= 0) sum += exp(p_edge - base);
        sum = block_reduce(sum, Sum<Acc>());
        if (threadIdx.x == 0) send(slots + turn, {peak, sum});
    }
    if (writes) {
        __shared__ Running<Acc> row;
        if (threadIdx.x < 32) {
            Softmax<Acc> op;
            Running<Acc> acc = op.initial();
            for (int i = threadIdx.x; i < parts; i += 32)
                acc = op(acc, receive(slots + old.row * parts + i));
            Acc peak = warp_reduce(acc.peak, Max<Acc>());
            Acc sum = warp_reduce(rescaled(acc, peak), Sum<Acc>());
            if (threadIdx.x == 0) row = {peak, sum};
        }
        __syncthreads();
        Acc peak = row.peak, scale = 1 / row.sum;
        if (old.edge >= 0) y[old.edge] = T(exp(q_edge - peak) * scale);
        auto out = reinterpret_cast<Pack *>(y + old.first) + threadIdx.x;
#pragma unroll
        for (int j = 0; j < PACKS; ++j) {
            for (int k = 0; k < PACK; ++k) q[j][k] = T(exp(Acc(q[j][k]) - peak) * scale);
            if (old.has(j)) out[j * BLOCK] = q[j];
        }
    }
}
