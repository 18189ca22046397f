// Attention of one query per text: softmax(scale * q · key) values -> out[texts, 32], over the
// first seen[text] slots. Keys and values lie in pages[page, PAGE, 32], which table[text, most]
// names in order. Launch a block of 32 threads per text.
constexpr int PAGE = 16;

__global__ void query(const float *q, const float *keys, const float *values, const int *table,
                      const int *seen, float *out, int most, float scale)
{
    long long text = blockIdx.x;
    int lane = threadIdx.x;
    float own = q[text * 32 + lane] * scale, peak = -INFINITY, sum = 0, o = 0;
    // BEGIN your lines
    for (int slot = 0; slot < seen[text]; ++slot) {
        long long page = table[text * most + slot / PAGE];
        long long at = (page * PAGE + slot % PAGE) * 32 + lane;
        float score = own * keys[at];
        for (int mask = 16; mask > 0; mask /= 2) score += __shfl_xor_sync(0xffffffff, score, mask);
        float more = fmaxf(peak, score), shrink = expf(peak - more), power = expf(score - more);
        peak = more;
        sum = sum * shrink + power;
        o = o * shrink + power * values[at];
    }
    // END
    out[text * 32 + lane] = o / sum;
}
