// Attention of one query over a cache: q[heads, HEAD], keys and values[pages, key_heads, PAGE, HEAD] -> out[splits,
// heads, HEAD], logs[splits, heads], for attention/merge.cu; of the first *position + 1 slots, at most `capacity`,
// whose pages the table names in order (decode/pages.cuh). FOLD = heads / key_heads queries share keys. Launch a grid
// of (key_heads, splits) blocks of BLOCK threads.
// The keys are split among blocks, since one query gives too few of them, as in step 6 of attention/. Here the scores
// are no tile: LANES lanes share a key, each has PACK elements of it, and softmax runs along the keys of a group, which
// loads KEYS of them at once.
// Limit: memory: keys and values once, for all queries that share them.
#include "common/reduce.cuh"
#include "decode/pages.cuh"
#include <cuda_fp16.h>
using T = float;
constexpr int HEAD = 32;
constexpr int PAGE = 16;
constexpr int FOLD = 1;
constexpr int PACK = 4;
constexpr int BLOCK = 128;
constexpr int KEYS = 4;

constexpr int LANES = HEAD / PACK, GROUPS = BLOCK / LANES;
static_assert(LANES <= 32 && (LANES & LANES - 1) == 0, "a warp's lanes share keys evenly");

struct Running {
    float peak = -INFINITY, total = 0, sum[PACK] = {};
    __device__ void add(float score, Packed<T, PACK> value)
    {
        float most = fmaxf(peak, score), shrink = expf(peak - most), power = expf(score - most);
        peak = most, total = total * shrink + power;
        for (int e = 0; e < PACK; ++e) sum[e] = sum[e] * shrink + power * float(value[e]);
    }
};

__device__ Packed<T, PACK> pack_of(const T *from)
{ return *reinterpret_cast<const Packed<T, PACK> *>(from); }

extern "C" __global__ __launch_bounds__(BLOCK) void attend(const float *__restrict__ q, float *out,
                                                           long long heads, long long capacity,
                                                           float scale, const T *__restrict__ keys,
                                                           const T *__restrict__ values,
                                                           const int *__restrict__ table,
                                                           const int *position, float *logs)
{
    __shared__ float peaks[GROUPS][FOLD], totals[GROUPS][FOLD], sums[GROUPS][FOLD][HEAD];
    int group = threadIdx.x / LANES, along = threadIdx.x % LANES * PACK;
    long long seen = min(*position + 1LL, capacity), each = (seen + gridDim.y - 1) / gridDim.y;
    long long begin = blockIdx.y * each, end = min(seen, begin + each), first = blockIdx.x * FOLD;
    float query[FOLD][PACK];
    for (int f = 0; f < FOLD; ++f)
        for (int e = 0; e < PACK; ++e) query[f][e] = q[(first + f) * HEAD + along + e] * scale;

    Running mine[FOLD];
    for (long long some = begin; some < end; some += KEYS * GROUPS) {  // all stay: they shuffle
        Packed<T, PACK> k[KEYS], v[KEYS];
#pragma unroll
        for (int j = 0; j < KEYS; ++j) {
            long long key = min(some + j * GROUPS + group, end - 1);
            long long at = slot_of<PAGE>(table, key, blockIdx.x, gridDim.x) * HEAD + along;
            k[j] = pack_of(keys + at), v[j] = pack_of(values + at);
        }
#pragma unroll
        for (int j = 0; j < KEYS; ++j)
#pragma unroll
            for (int f = 0; f < FOLD; ++f) {
                float score = 0;
                for (int e = 0; e < PACK; ++e) score += query[f][e] * float(k[j][e]);
                score = warp_reduce<LANES>(score, [](float a, float b) { return a + b; });
                if (some + j * GROUPS + group < end) mine[f].add(score, v[j]);
            }
    }
    for (int f = 0; f < FOLD; ++f) {
        if (along == 0) peaks[group][f] = mine[f].peak, totals[group][f] = mine[f].total;
        for (int e = 0; e < PACK; ++e) sums[group][f][along + e] = mine[f].sum[e];
    }
    __syncthreads();
    for (int i = threadIdx.x; i < FOLD * HEAD; i += BLOCK) {
        int f = i / HEAD, column = i % HEAD;
        float peak = -INFINITY, total = 0, sum = 0;
        for (int g = 0; g < GROUPS; ++g) peak = fmaxf(peak, peaks[g][f]);
        for (int g = 0; g < GROUPS; ++g) {
            float shrink = peaks[g][f] == -INFINITY ? 0 : expf(peaks[g][f] - peak);
            total += shrink * totals[g][f], sum += shrink * sums[g][f][column];
        }
        long long row = blockIdx.y * heads + first + f;
        out[row * HEAD + column] = total == 0 ? 0 : sum / total;
        if (column == 0) logs[row] = total == 0 ? -INFINITY : peak + logf(total);
    }
}
