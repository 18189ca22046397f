// Attention in a sliding window: softmax(scale * q kᵀ) v -> out, all [units, n, SIZE]; query i sees keys i - window + 1
// to i. Launch (n / ROWS, units) blocks, rounded up, of THREADS threads.
constexpr int SIZE = 32;
// BEGIN your design
constexpr int ROWS = 128;
constexpr int THREADS = 128;
// STUB constexpr int ROWS = 1;
// STUB constexpr int THREADS = 32;
// END

// BEGIN
constexpr int TILE = 16;

// TILE lines of x from this one on, zeros where there are none.
__device__ void fetch(float (&tile)[TILE][SIZE], const float *x, int first, int n)
{
    for (int i = threadIdx.x; i < TILE * SIZE; i += THREADS)
        tile[i / SIZE][i % SIZE] = first + i / SIZE < n ? x[(long long)first * SIZE + i] : 0;
}

// END
__global__ void windowed(const float *q, const float *k, const float *v, float *out, int n,
                         int window, float scale)
{
    // BEGIN and your lines
    __shared__ float tile_k[TILE][SIZE], tile_v[TILE][SIZE];
    int top = blockIdx.x * ROWS, query = top + threadIdx.x;
    long long unit = blockIdx.y * (long long)n * SIZE, row = unit + min(query, n - 1) * SIZE;
    float own[SIZE], o[SIZE] = {}, peak = -INFINITY, sum = 0;
    for (int i = 0; i < SIZE; ++i) own[i] = q[row + i];
    for (int first = max(0, top - window + 1); first < min(n, top + ROWS); first += TILE) {
        __syncthreads();
        fetch(tile_k, k + unit, first, n);
        fetch(tile_v, v + unit, first, n);
        __syncthreads();
        float score[TILE], most = peak;
#pragma unroll
        for (int key = 0; key < TILE; ++key) {
            float dot = 0;
            for (int i = 0; i < SIZE; ++i) dot += own[i] * tile_k[key][i];
            bool is_seen = first + key <= query && query - (first + key) < window;
            score[key] = is_seen ? dot * scale : -INFINITY;
            most = fmaxf(most, score[key]);
        }
        float from = most == -INFINITY ? 0 : most, shrink = expf(peak - from);
        peak = most, sum *= shrink;
        for (int i = 0; i < SIZE; ++i) o[i] *= shrink;
#pragma unroll
        for (int key = 0; key < TILE; ++key) {
            float power = expf(score[key] - from);
            sum += power;
            for (int i = 0; i < SIZE; ++i) o[i] += power * tile_v[key][i];
        }
    }
    if (query < n)
        for (int i = 0; i < SIZE; ++i) out[row + i] = o[i] / sum;
    // END
}
