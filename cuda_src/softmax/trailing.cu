// Softmax of rows: x[batch, hidden] -> y[batch, hidden]. Launch batch * parts + lag blocks of BLOCK
// threads, parts = ceil(hidden / TILE) <= lag, of hidden + PACK - 1 if PACK does not divide it. x and y are
// aligned to a pack; WHOLE = 1 if TILE divides hidden. slots (batch * parts) and *ticket are zero before the launch.
// Step 5: one launch. Each block measures a tile, and writes the one that was measured `lag` tiles
// ago: its row is complete by now, and still in the L2 cache, so that memory is read only once.
// Limit: the traffic between the L2 cache and the multiprocessors: two reads, one write.
#include "common/edges.cuh"
#include "common/reduce.cuh"
#include "softmax/running.cuh"
using T = float;
using Acc = float;
constexpr int PACK = 4;
constexpr int PACKS = 8;
constexpr int BLOCK = 256;
constexpr int WHOLE = 0;

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

// Packs of a row, the first of which may begin before it.
struct Tile {
    unsigned row;
    int length, first;  // of the row; this thread's first element, in it
    long long start;  // of the row
    __device__ Tile(const T *x, unsigned tile, unsigned parts, long long hidden)
        : row(tile / parts), length(hidden), start(row * hidden)
    { first = (tile - row * parts) * TILE + threadIdx.x * PACK - elements_before<PACK>(x, start); }
    __device__ int at(int j) const { return first + j * BLOCK * PACK; }
    __device__ bool has(int j, int k) const { return WHOLE || unsigned(at(j) + k) < length; }
    __device__ void load(Pack (&p)[PACKS], const T *x, long long size) const
    {
#pragma unroll
        for (int j = 0; j < PACKS; ++j)
            if (WHOLE || at(j) < length) p[j] = load_within<PACK>(x, start + at(j), size);
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
    Tile next(x, turn, parts, hidden), old(x, turn - lag, parts, hidden);
    Pack p[PACKS], q[PACKS];
    if (measures) next.load(p, x, batch * hidden);
    if (writes) old.load(q, x, batch * hidden);

    if (measures) {
        Acc peak = -INFINITY, sum = 0;
#pragma unroll
        for (int j = 0; j < PACKS; ++j)
            for (int k = 0; k < PACK; ++k)
                if (next.has(j, k)) peak = max(peak, Acc(p[j][k]));
        peak = block_reduce(peak, Max<Acc>());
        Acc base = peak == -INFINITY ? Acc(0) : peak;  // exp(-inf - 0) is 0
#pragma unroll
        for (int j = 0; j < PACKS; ++j)
            for (int k = 0; k < PACK; ++k)
                if (next.has(j, k)) sum += exp(Acc(p[j][k]) - base);
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
#pragma unroll
        for (int j = 0; j < PACKS; ++j) {
            for (int k = 0; k < PACK; ++k) q[j][k] = T(exp(Acc(q[j][k]) - peak) * scale);
            store_within(y, old.start + old.at(j), old.start, old.start + hidden, q[j]);
        }
    }
}
