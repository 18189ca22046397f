// Attention of a few keys: softmax(scale * q kᵀ) v -> out[units, queries, size], for q[units, queries, size] and k and
// v[units, keys, size]. CAUSAL: keys past a query's own place are left out. Launch a grid of (queries, units) blocks of
// whole warps, with keys floats of shared memory.
// Step 2: one kernel: the scores of a query stay in shared memory.
// Limit: keys that shared memory has room for; each query reads all keys and values again.
#include "common/operators.cuh"
#include "common/reduce.cuh"
using T = float;
using Acc = float;
constexpr int CAUSAL = 0;

extern "C" __global__ void fused(const T *__restrict__ q, const T *__restrict__ k,
                                 const T *__restrict__ v, T *out, long long queries, long long keys,
                                 long long size, Acc scale)
{
    extern __shared__ __align__(16) unsigned char memory[];
    Acc *scores = reinterpret_cast<Acc *>(memory), peak = -INFINITY, sum = 0;
    long long row = blockIdx.y * queries + blockIdx.x, seen = keys;
    if (CAUSAL) seen = min(keys, blockIdx.x + 1LL);
    q += row * size, k += blockIdx.y * keys * size, v += blockIdx.y * keys * size;
    for (long long key = threadIdx.x; key < seen; key += blockDim.x) {
        Acc dot = 0;
        for (long long i = 0; i < size; ++i) dot += Acc(q[i]) * Acc(k[key * size + i]);
        scores[key] = dot * scale;
        peak = max(peak, scores[key]);
    }
    peak = block_reduce(peak, Max<Acc>());
    for (long long key = threadIdx.x; key < seen; key += blockDim.x) {
        scores[key] = exp(scores[key] - peak);
        sum += scores[key];
    }
    sum = block_reduce(sum, Sum<Acc>());  // its barriers: the scores are written
    for (long long i = threadIdx.x; i < size; i += blockDim.x) {
        Acc total = 0;
        for (long long key = 0; key < seen; ++key) total += scores[key] * Acc(v[key * size + i]);
        out[row * size + i] = T(total / sum);
    }
}
