// Sum over ranks: out[i] = of[0][i] + of[1][i] + ..., i < count, where each array lies in the memory of
// another device. Any launch of one dimension; with PACK above 1, all arrays are aligned to PACK
// elements.
// Step 1: every device reads what it needs from its neighbours. All add in the order of the ranks,
// so that they come to the same bits.
// Limit: the link that most bytes come over.
#include "common/packed.cuh"
using T = float;
using Acc = float;
constexpr int RANKS = 2;
constexpr int PACK = 1;

struct Ranks {
    const T *of[RANKS];
};

extern "C" __global__ void one_shot(const Ranks ranks, T *out, long long count)
{
    long long packs = count / PACK, step = gridDim.x * (long long)blockDim.x;
    long long thread = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    for (long long i = thread; i < packs; i += step) {
        Packed<T, PACK> got[RANKS], sum;
#pragma unroll
        for (int r = 0; r < RANKS; ++r)
            got[r] = reinterpret_cast<const Packed<T, PACK> *>(ranks.of[r])[i];
#pragma unroll
        for (int k = 0; k < PACK; ++k) {
            Acc total = got[0][k];
#pragma unroll
            for (int r = 1; r < RANKS; ++r) total += Acc(got[r][k]);
            sum[k] = T(total);
        }
        reinterpret_cast<Packed<T, PACK> *>(out)[i] = sum;
    }
    for (long long i = packs * PACK + thread; i < count; i += step) {
        Acc total = ranks.of[0][i];
        for (int r = 1; r < RANKS; ++r) total += Acc(ranks.of[r][i]);
        out[i] = T(total);
    }
}
