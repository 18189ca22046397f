// Softmax of rows: x[batch, hidden] -> y[batch, hidden]. PACK divides hidden, x and y are aligned to a
// pack; parts * TILE >= hidden; stats holds batch * parts values; ticket and done[batch] start at zero
// and are zero again at the end.
// Step 4: for rows longer than a block's registers: a row is cut into parts of TILE elements. Tickets,
// drawn in order, tell a block to measure a part (maximum and sum), or to write a part of the row
// `lag` rows earlier, which still lies in the L2 cache: the memory is read once.
// A block waits only for work whose ticket was drawn before its own, so it waits for a block that runs.
// Limit: the memory and the L2.
#include "common/reduce.cuh"
#include "softmax/running.cuh"
using T = float;
using Acc = float;
constexpr int PACK = 4;
constexpr int TILE = 16384;

// Maximum and sum of this thread's packs.
__device__ Running<Acc> measure(const Packed<T, PACK> *in, int packs)
{
    Softmax<Acc> op;
    Max<Acc> greater;
    Running<Acc> acc = op.initial();
#pragma unroll 4
    for (int i = threadIdx.x; i < packs; i += blockDim.x) {
        Packed<T, PACK> p = in[i];
        Running<Acc> own = op.initial();
        for (int k = 0; k < PACK; ++k) own.peak = greater(own.peak, Acc(p[k]));
        for (int k = 0; k < PACK; ++k) own.sum += exp(Acc(p[k]) - own.peak);
        acc = op(acc, own);
    }
    return acc;
}

extern "C" __global__ void tickets(const T *__restrict__ x, T *y, long long batch, long long hidden,
                                   int parts, int lag, Running<Acc> *stats, unsigned *ticket,
                                   unsigned *done)
{
    __shared__ unsigned drawn[2];
    Softmax<Acc> op;
    int tid = threadIdx.x;
    unsigned all = 2 * parts * (batch + lag),
             last = all + gridDim.x - 1;  // each block draws one more
    if (tid == 0) drawn[0] = atomicInc(ticket, last);
    __syncthreads();  // the first ticket is drawn
    for (int turn = 0; drawn[turn] < all; turn = 1 - turn) {
        int part = drawn[turn] % parts;
        bool write = drawn[turn] / parts % 2;
        long long row = drawn[turn] / (2 * parts) - (write ? lag : 0);
        if (tid == 0) drawn[1 - turn] = atomicInc(ticket, last);  // the next one, in good time
        if (row < 0 || row >= batch) {
            __syncthreads();  // it is drawn
            continue;
        }
        long long first = (long long)part * TILE;
        int packs = min((long long)TILE, hidden - first) / PACK;
        auto in = reinterpret_cast<const Packed<T, PACK> *>(x + row * hidden + first);
        auto out = reinterpret_cast<Packed<T, PACK> *>(y + row * hidden + first);
        if (!write) {
            Running<Acc> acc = block_reduce(measure(in, packs), op);
            if (tid == 0) {
                stats[row * parts + part] = acc;
                __threadfence();  // whoever sees the count sees the part too
                atomicInc(done + row, 2 * parts - 1);
            }
            continue;
        }
        if (tid == 0) {
            while (*(volatile unsigned *)(done + row) < parts) {}
            __threadfence();
            atomicInc(done + row, 2 * parts - 1);  // the last to write wraps it to zero
        }
        __syncthreads();  // the row is measured
        Running<Acc> all_parts = fold<1>(stats + row * parts, 0, parts, tid % 32, 32, op);
        all_parts = warp_reduce(all_parts, op);
        Acc scale = 1 / all_parts.sum;
#pragma unroll 4
        for (int i = tid; i < packs; i += blockDim.x) {
            Packed<T, PACK> p = in[i];
            for (int k = 0; k < PACK; ++k) p[k] = T(exp(Acc(p[k]) - all_parts.peak) * scale);
            out[i] = p;
        }
    }
}
