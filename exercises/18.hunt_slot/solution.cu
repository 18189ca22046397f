// A word's attention, for each text: its new key and value go into slot seen - 1 of keys and
// values[texts, SLOTS, 32]; then its query sees `seen` slots: softmax(scale * q · key) values ->
// out[texts, 32]. Launch a block of SLOTS threads per text.
#include "common/operators.cuh"
#include "common/reduce.cuh"
constexpr int SLOTS = 128;

__global__ void word(const float *q, const float *key, const float *value, const int *seen,
                     float *keys, float *values, float *out, float scale)
{
    __shared__ float shares[SLOTS];
    int own = blockIdx.x * 32, slot = threadIdx.x, last = seen[blockIdx.x] - 1;
    keys += blockIdx.x * (SLOTS * 32LL), values += blockIdx.x * (SLOTS * 32LL);
    if (slot < 32) {
        keys[last * 32 + slot] = key[own + slot];
        values[last * 32 + slot] = value[own + slot];
    }
    // BEGIN
    __syncthreads();
    // END
    float score = slot <= last ? 0 : -INFINITY;
    if (slot <= last)
        for (int i = 0; i < 32; ++i) score += scale * q[own + i] * keys[slot * 32 + i];
    float power = expf(score - block_reduce(score, Max<float>()));
    shares[slot] = power / block_reduce(power, Sum<float>());
    __syncthreads();
    if (slot >= 32) return;
    float sum = 0;
    for (int i = 0; i <= last; ++i) sum += shares[i] * values[i * 32 + slot];
    out[own + slot] = sum;
}
