// All-reduce of x[n] over ranks, one launch for each: out[i] is the sum in the order of the ranks.
// Launch (blocks, y) blocks; rank `first` + blockIdx.y is a block's, so that one launch may play
// several ranks. All ranks have as many blocks, all of which must be there at once. Flags are
// RANKS * blocks a rank; `turn` is larger each time.
// Step 3: each rank adds up its share, then takes the others' from where they lie. Flags say when.
// Limit: the links, each of which carries both shots at once; two waits.
#include "ranks/flags.cuh"
using T = float;
using Acc = float;
constexpr int RANKS = 2;

struct Ranks {
    const T *x[RANKS];
    T *out[RANKS];
    unsigned *flags[RANKS];
};

extern "C" __global__ void two_shot(const Ranks ranks, long long n, int first, unsigned turn)
{
    int rank = first + blockIdx.y;
    long long share = (n + RANKS - 1) / RANKS, step = gridDim.x * (long long)blockDim.x;
    long long thread = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    for (long long i = thread; i < share && rank * share + i < n; i += step) {
        Acc total = ranks.x[0][rank * share + i];
        for (int r = 1; r < RANKS; ++r) total += Acc(ranks.x[r][rank * share + i]);
        ranks.out[rank][rank * share + i] = T(total);
    }
    __syncthreads();
    if (threadIdx.x < RANKS) {
        post(&ranks.flags[threadIdx.x][rank * gridDim.x + blockIdx.x], turn);
        wait_for(&ranks.flags[rank][threadIdx.x * gridDim.x + blockIdx.x], turn);
    }
    __syncthreads();
    for (int r = 0; r < RANKS; ++r)
        for (long long i = thread; r != rank && i < share && r * share + i < n; i += step)
            ranks.out[rank][r * share + i] = ranks.out[r][r * share + i];
}
