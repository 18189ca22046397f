// Product of matrices: a[m, k] times b[k, n] -> c[m, n]. Launch (n / SIDE, m / SIDE) blocks, rounded up, of
// (SIDE, SIDE) threads.
using T = float;
using Acc = float;
constexpr int SIDE = 32;

__global__ void shared(const T *__restrict__ a, const T *__restrict__ b, T *c, long long m,
                       long long n, long long k)
{
    __shared__ Acc tile_a[SIDE][SIDE], tile_b[SIDE][SIDE];
    int x = threadIdx.x, y = threadIdx.y;
    long long row = blockIdx.y * (long long)SIDE + y, column = blockIdx.x * (long long)SIDE + x;
    Acc sum = 0;
    for (long long first = 0; first < k; first += SIDE) {
        // your lines: fetch both tiles, and multiply
    }
    if (row < m && column < n) c[row * n + column] = T(sum);
}
