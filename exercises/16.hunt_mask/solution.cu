// Attention: softmax(scale * q kᵀ) v -> out[units, queries, SIZE], where sees[queries, keys] is not 0. Launch
// (queries / 64, units) blocks, rounded up, of 64 threads: a thread for each query.
constexpr int SIZE = 32;

__global__ void masked(const float *q, const float *k, const float *v, const signed char *sees,
                       float *out, int queries, int keys, float scale)
{
    int query = blockIdx.x * blockDim.x + threadIdx.x;
    if (query >= queries) return;
    long long row = blockIdx.y * (long long)queries + query, unit = blockIdx.y * (long long)keys;
    float o[SIZE] = {}, peak = -INFINITY, sum = 0;
    for (long long key = 0; key < keys; ++key) {
        float score = 0;
        for (int i = 0; i < SIZE; ++i) score += q[row * SIZE + i] * k[(unit + key) * SIZE + i];
        score = sees[query * (long long)keys + key] ? score * scale : -INFINITY;
        float most = fmaxf(peak, score);
        // BEGIN
        float from = most == -INFINITY ? 0 : most, shrink = expf(peak - from);
        // STUB float from = most, shrink = expf(peak - from);
        // END
        float power = expf(score - from);
        peak = most;
        sum = sum * shrink + power;
        for (int i = 0; i < SIZE; ++i) o[i] = o[i] * shrink + power * v[(unit + key) * SIZE + i];
    }
    // BEGIN
    for (int i = 0; i < SIZE; ++i) out[row * SIZE + i] = sum == 0 ? 0 : o[i] / sum;
    // STUB for (int i = 0; i < SIZE; ++i) out[row * SIZE + i] = o[i] / sum;
    // END
}
