// Attention of a few keys: softmax(scale * q kᵀ) v -> out[units, queries, size], for q[units, queries, size] and k and
// v[units, keys, size]. Launch (queries, units) blocks of 64 threads, with keys floats of shared memory.
#include "common/operators.cuh"
#include "common/reduce.cuh"
using T = float;
using Acc = float;
constexpr int CAUSAL = 0;

__global__ void fused(const T *__restrict__ q, const T *__restrict__ k, const T *__restrict__ v,
                      T *out, long long queries, long long keys, long long size, Acc scale)
{
    extern __shared__ __align__(16) unsigned char memory[];
    Acc *scores = reinterpret_cast<Acc *>(memory), peak = -INFINITY, sum = 0;
    long long row = blockIdx.y * queries + blockIdx.x, seen = keys;
    if (CAUSAL) seen = min(keys, blockIdx.x + 1LL);
    q += row * size, k += blockIdx.y * keys * size, v += blockIdx.y * keys * size;
    // your lines
}
