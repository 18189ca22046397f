// Scores of attention: scale * q[units, queries, size] times k[units, keys, size], transposed -> s[units, queries, keys].
// Launch (keys / 16, queries / 16, units) blocks, rounded up, of 16 x 16 threads.
using T = float;
using Acc = float;
constexpr int CAUSAL = 0;

__global__ void scores(const T *__restrict__ q, const T *__restrict__ k, T *s, long long queries,
                       long long keys, long long size, Acc scale)
{
    long long query = blockIdx.y * 16LL + threadIdx.y, key = blockIdx.x * 16LL + threadIdx.x;
    bool hidden = CAUSAL && key > query;  // then the score is -INFINITY
    // your lines
}
