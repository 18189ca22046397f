// Product of matrices: a[m, k] times b[k, n] -> c[m, n], a batch of them over blockIdx.z. Launch a grid of
// (n / SIDE, m / SIDE, batch) blocks, rounded up, of (16, 16) threads.
// Step 3: a thread makes EACH x EACH elements of c. What it takes from shared memory, it uses EACH times:
// 2 * EACH loads for EACH * EACH multiply-adds. The tile of a is stored with k first, as b's is.
// Limit: 4 bytes per load; and nothing is computed while the next tiles are on their way.
#include <cuda_fp16.h>
using T = float;
using Acc = float;
constexpr int EACH = 8;
constexpr int DEEP = 8;

constexpr int THREADS = 16, SIDE = THREADS * EACH, BLOCK = THREADS * THREADS;

extern "C" __global__ __launch_bounds__(BLOCK) void registers(const T *__restrict__ a,
                                                              const T *__restrict__ b, T *c,
                                                              long long m, long long n, long long k)
{
    __shared__ Acc tile_a[DEEP][SIDE + 4];  // 4 more: elements of a column in different banks
    __shared__ Acc tile_b[DEEP][SIDE];
    int x = threadIdx.x, y = threadIdx.y, thread = y * THREADS + x;
    long long top = blockIdx.y * (long long)SIDE, left = blockIdx.x * (long long)SIDE;
    a += blockIdx.z * m * k, b += blockIdx.z * k * n, c += blockIdx.z * m * n;
    Acc sum[EACH][EACH] = {};
    for (long long first = 0; first < k; first += DEEP) {
        for (int i = thread; i < DEEP * SIDE; i += BLOCK) {
            long long row = top + i / DEEP, i_a = first + i % DEEP;
            long long column = left + i % SIDE, i_b = first + i / SIDE;
            tile_a[i % DEEP][i / DEEP] = row < m && i_a < k ? Acc(a[row * k + i_a]) : Acc(0);
            tile_b[i / SIDE][i % SIDE] = i_b < k && column < n ? Acc(b[i_b * n + column]) : Acc(0);
        }
        __syncthreads();  // the tiles are written
#pragma unroll
        for (int i = 0; i < DEEP; ++i) {
            Acc p[EACH], q[EACH];
#pragma unroll
            for (int e = 0; e < EACH; ++e) {
                p[e] = tile_a[i][y + e * THREADS];
                q[e] = tile_b[i][x + e * THREADS];
            }
#pragma unroll
            for (int r = 0; r < EACH; ++r)
#pragma unroll
                for (int s = 0; s < EACH; ++s) sum[r][s] += p[r] * q[s];
        }
        __syncthreads();  // and read: the next ones may take their place
    }
#pragma unroll
    for (int r = 0; r < EACH; ++r)
#pragma unroll
        for (int s = 0; s < EACH; ++s) {
            long long row = top + y + r * THREADS, column = left + x + s * THREADS;
            if (row < m && column < n) c[row * n + column] = T(sum[r][s]);
        }
}
