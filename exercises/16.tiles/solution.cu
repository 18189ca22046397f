// Attention: softmax(scale * q kᵀ) v -> out[units, queries, SIZE], for q[units, queries, SIZE] and k and
// v[units, keys, SIZE]. causal: query i sees keys 0 to i. Launch (queries / BLOCK, units) blocks, rounded up, of BLOCK
// threads: a thread for each query.
constexpr int SIZE = 32, TILE = 16, BLOCK = 64;

// The part of x that begins with this line: TILE lines, zeros past the last one.
__device__ void fetch(float (&tile)[TILE][SIZE], const float *x, int first, int lines)
{
    for (int i = threadIdx.x; i < TILE * SIZE; i += BLOCK)
        tile[i / SIZE][i % SIZE] = first + i / SIZE < lines ? x[(long long)first * SIZE + i] : 0;
}

__global__ void tiles(const float *q, const float *k, const float *v, float *out, int queries,
                      int keys, float scale, int causal)
{
    __shared__ float tile_k[TILE][SIZE], tile_v[TILE][SIZE];
    int query = blockIdx.x * BLOCK + threadIdx.x;
    long long row = blockIdx.y * (long long)queries + min(query, queries - 1);
    k += blockIdx.y * (long long)keys * SIZE, v += blockIdx.y * (long long)keys * SIZE;
    int seen = causal ? min(keys, query + 1) : keys;
    int last = causal ? min(keys, int(blockIdx.x + 1) * BLOCK) : keys;
    float own[SIZE], o[SIZE] = {}, peak = -INFINITY, sum = 0;
    for (int i = 0; i < SIZE; ++i) own[i] = q[row * SIZE + i];
    for (int first = 0; first < last; first += TILE) {
        __syncthreads();  // the last tiles are read
        fetch(tile_k, k, first, keys);
        fetch(tile_v, v, first, keys);
        __syncthreads();
        // BEGIN your lines: the scores of this tile, their maximum, what shrinks, what is added
        float score[TILE], most = peak;
#pragma unroll
        for (int key = 0; key < TILE; ++key) {
            float dot = 0;
            for (int i = 0; i < SIZE; ++i) dot += own[i] * tile_k[key][i];
            score[key] = first + key < seen ? dot * scale : -INFINITY;
            most = fmaxf(most, score[key]);
        }
        float shrink = expf(peak - most);
        peak = most;
        sum *= shrink;
        for (int i = 0; i < SIZE; ++i) o[i] *= shrink;
#pragma unroll
        for (int key = 0; key < TILE; ++key) {
            float power = expf(score[key] - peak);
            sum += power;
            for (int i = 0; i < SIZE; ++i) o[i] += power * tile_v[key][i];
        }
        // END
    }
    if (query < queries)
        for (int i = 0; i < SIZE; ++i) out[row * SIZE + i] = o[i] / sum;
}
