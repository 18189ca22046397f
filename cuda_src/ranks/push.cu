// All-reduce of x[n] over ranks, one launch for each: out[i] is the sum in the order of the ranks.
// Launch (blocks, y) blocks; rank `first` + blockIdx.y is a block's, as in two_shot.cu: all ranks have
// as many blocks, all of which must be there at once. Flags are 2 * RANKS * blocks a rank; `turn` is
// larger each time. With PACK above 1, all x and out are aligned to PACK elements.
// Step 5: each rank adds up its share and stores the sums into every rank's out. Nobody waits between
// the shots: only at the beginning, for all x, and at the end, for all sums.
// Limit: the links, half of whose bytes are loads and half are stores.
#include "common/packed.cuh"
#include "ranks/flags.cuh"
using T = float;
using Acc = float;
constexpr int RANKS = 2;
constexpr int PACK = 1;
constexpr int UNROLL = 2;  // packs of each rank that a thread has on their way

using Pack = Packed<T, PACK>;

struct Ranks {
    const T *x[RANKS];
    T *out[RANKS];
    unsigned *flags[RANKS];
    unsigned long long turn;
};

// All ranks' blocks of this number have come here, and what they did before is done.
__device__ void rank_barrier(const Ranks &ranks, int rank, int phase)
{
    __syncthreads();
    if (threadIdx.x < RANKS) {
        int mine = (phase * RANKS + rank) * gridDim.x + blockIdx.x,
            theirs = (phase * RANKS + threadIdx.x) * gridDim.x + blockIdx.x;
        post(&ranks.flags[threadIdx.x][mine], ranks.turn);
        wait_for(&ranks.flags[rank][theirs], ranks.turn);
    }
    __syncthreads();
}

__device__ Pack sum(Pack (&of)[RANKS])
{
    Pack sums;
#pragma unroll
    for (int k = 0; k < PACK; ++k) {
        Acc total = of[0][k];
#pragma unroll
        for (int r = 1; r < RANKS; ++r) total += Acc(of[r][k]);
        sums[k] = T(total);
    }
    return sums;
}

extern "C" __global__ void push(const Ranks ranks, long long n, long long share, int first)
{
    int rank = first + blockIdx.y;
    long long begin = rank * share, end = min(begin + share, n);
    long long packs = max(end - begin, 0ll) / PACK, step = gridDim.x * (long long)blockDim.x;
    long long thread = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    rank_barrier(ranks, rank, 0);
    for (long long i = thread; i < packs; i += UNROLL * step) {
        Pack of[UNROLL][RANKS];
#pragma unroll
        for (int u = 0; u < UNROLL; ++u)
#pragma unroll
            for (int r = 0; r < RANKS; ++r)
                if (i + u * step < packs)
                    of[u][r] = reinterpret_cast<const Pack *>(ranks.x[r] + begin)[i + u * step];
#pragma unroll
        for (int u = 0; u < UNROLL; ++u)
            if (i + u * step < packs) {
                Pack sums = sum(of[u]);
#pragma unroll
                for (int r = 0; r < RANKS; ++r)
                    reinterpret_cast<Pack *>(ranks.out[r] + begin)[i + u * step] = sums;
            }
    }
    for (long long i = begin + packs * PACK + thread; i < end; i += step) {
        Acc total = ranks.x[0][i];
        for (int r = 1; r < RANKS; ++r) total += Acc(ranks.x[r][i]);
        for (int r = 0; r < RANKS; ++r) ranks.out[r][i] = T(total);
    }
    rank_barrier(ranks, rank, 1);
}
