// Scores of attention: scale * q[units, queries, size] times k[units, keys, size], transposed -> s[units, queries, keys].
// CAUSAL: -inf for keys past a query's own place. Launch a grid of (keys / 16, queries / 16, units) blocks, rounded up,
// of 16 x 16 threads.
// Step 1: the first of three kernels; softmax/online.cu and gemm/naive.cu are the others.
// Limit: queries * keys numbers go to memory and back, twice.
#include <cuda_fp16.h>
using T = float;
using Acc = float;
constexpr int CAUSAL = 0;

extern "C" __global__ void scores(const T *__restrict__ q, const T *__restrict__ k, T *s,
                                  long long queries, long long keys, long long size, Acc scale)
{
    long long query = blockIdx.y * 16LL + threadIdx.y, key = blockIdx.x * 16LL + threadIdx.x;
    if (query >= queries || key >= keys) return;
    q += (blockIdx.z * queries + query) * size, k += (blockIdx.z * keys + key) * size;
    Acc sum = 0;
    for (long long i = 0; i < size; ++i) sum += Acc(q[i]) * Acc(k[i]);
    bool hidden = CAUSAL && key > query;
    s[(blockIdx.z * queries + query) * keys + key] = hidden ? T(-INFINITY) : T(sum * scale);
}
