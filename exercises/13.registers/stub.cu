// Product of matrices: a[m, k] times b[k, n] -> c[m, n]. Launch (n / SIDE, m / SIDE) blocks, rounded up, of
// (16, 16) threads.
using T = float;
using Acc = float;
constexpr int EACH = 8;
constexpr int DEEP = 8;

constexpr int THREADS = 16, SIDE = THREADS * EACH, BLOCK = THREADS * THREADS;

__global__ __launch_bounds__(BLOCK) void registers(const T *__restrict__ a, const T *__restrict__ b,
                                                   T *c, long long m, long long n, long long k)
{
    __shared__ Acc tile_a[DEEP][SIDE + 4];  // 4 more: elements of a column in different banks
    __shared__ Acc tile_b[DEEP][SIDE];
    int x = threadIdx.x, y = threadIdx.y, thread = y * THREADS + x;
    long long top = blockIdx.y * (long long)SIDE, left = blockIdx.x * (long long)SIDE;
    Acc sum[EACH][EACH] = {};
    for (long long first = 0; first < k; first += DEEP) {
        for (int i = thread; i < DEEP * SIDE; i += BLOCK) {
            long long row = top + i / DEEP, i_a = first + i % DEEP;
            long long column = left + i % SIDE, i_b = first + i / SIDE;
            tile_a[i % DEEP][i / DEEP] = row < m && i_a < k ? a[row * k + i_a] : 0;
            tile_b[i / SIDE][i % SIDE] = i_b < k && column < n ? b[i_b * n + column] : 0;
        }
        // your lines: multiply the tiles
    }
    // your lines: store the sums
}
