// A linear layer: x[m, k] times the transpose of w[n, k], and bias[n] to each row -> y[m, n]. 4 divides k, n and m
// are anything. Launch (n / COLUMNS, m / ROWS) blocks, rounded up, of THREADS threads.
// BEGIN your design
constexpr int ROWS = 128;
constexpr int COLUMNS = 128;
constexpr int THREADS = 256;
// STUB constexpr int ROWS = 8;
// STUB constexpr int COLUMNS = 32;
// STUB constexpr int THREADS = 256;
// END

// BEGIN
constexpr int DEEP = 8;

// Four neighbours along k of a line, or zeros where the matrix has none.
__device__ float4 taken(const float *matrix, int line, int lines, int i, int k)
{
    if (line >= lines || i >= k) return {};
    return *reinterpret_cast<const float4 *>(matrix + line * (long long)k + i);
}

// They lie along k, and the tile across it.
__device__ void put(float (*tile)[ROWS + 4], int line, int i, float4 pack)
{
    tile[i][line] = pack.x, tile[i + 1][line] = pack.y;
    tile[i + 2][line] = pack.z, tile[i + 3][line] = pack.w;
}

// Eight numbers of a tile's line: four neighbours, and the four that lie 64 further.
__device__ void eight(float *to, const float *from)
{
    *reinterpret_cast<float4 *>(to) = *reinterpret_cast<const float4 *>(from);
    *reinterpret_cast<float4 *>(to + 4) = *reinterpret_cast<const float4 *>(from + 64);
}

// END
__global__ void linear(const float *x, const float *w, const float *bias, float *y, int m, int n,
                       int k)
{
    // BEGIN and your lines
    __shared__ __align__(16) float tiles_x[2][DEEP][ROWS + 4], tiles_w[2][DEEP][COLUMNS + 4];
    int top = blockIdx.y * ROWS, left = blockIdx.x * COLUMNS, now = 0;
    int line = threadIdx.x / 2, i = threadIdx.x % 2 * 4;  // the pack that this thread fetches
    int down = threadIdx.x / 16 * 4, across = threadIdx.x % 16 * 4;
    float sum[8][8] = {};
    float4 next_x = taken(x, top + line, m, i, k), next_w = taken(w, left + line, n, i, k);
    for (int first = 0; first < k; first += DEEP, now ^= 1) {
        put(tiles_x[now], line, i, next_x);
        put(tiles_w[now], line, i, next_w);
        __syncthreads();
        next_x = taken(x, top + line, m, first + DEEP + i, k);
        next_w = taken(w, left + line, n, first + DEEP + i, k);
#pragma unroll
        for (int step = 0; step < DEEP; ++step) {
            __align__(16) float p[8], q[8];
            eight(p, &tiles_x[now][step][down]);
            eight(q, &tiles_w[now][step][across]);
#pragma unroll
            for (int r = 0; r < 8; ++r)
#pragma unroll
                for (int s = 0; s < 8; ++s) sum[r][s] += p[r] * q[s];
        }
    }
#pragma unroll
    for (int r = 0; r < 8; ++r)
#pragma unroll
        for (int s = 0; s < 8; ++s) {
            int row = top + down + r % 4 + r / 4 * 64, column = left + across + s % 4 + s / 4 * 64;
            if (row < m && column < n) y[row * (long long)n + column] = sum[r][s] + bias[column];
        }
    // END
}
