// Attention: softmax(scale * q kᵀ) v -> out[units, queries, SIZE]. Launch (queries / 64, units) blocks, rounded up, of 64
// threads: a thread for each query.
constexpr int SIZE = 32;

__global__ void running(const float *q, const float *k, const float *v, float *out, int queries,
                        int keys, float scale)
{
    int query = blockIdx.x * blockDim.x + threadIdx.x;
    if (query >= queries) return;
    long long row = blockIdx.y * (long long)queries + query, unit = blockIdx.y * (long long)keys;
    float o[SIZE] = {}, peak = -INFINITY, sum = 0;
    for (long long key = 0; key < keys; ++key) {
        float score = 0;
        for (int i = 0; i < SIZE; ++i) score += q[row * SIZE + i] * k[(unit + key) * SIZE + i];
        float most = fmaxf(peak, score *= scale);
        // BEGIN
        float shrink = expf(peak - most);
        peak = most;
        // STUB peak = most;
        // STUB float shrink = expf(peak - most);
        // END
        float power = expf(score - most);
        sum = sum * shrink + power;
        for (int i = 0; i < SIZE; ++i) o[i] = o[i] * shrink + power * v[(unit + key) * SIZE + i];
    }
    for (int i = 0; i < SIZE; ++i) out[row * SIZE + i] = o[i] / sum;
}
