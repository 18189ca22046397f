// WRONG on purpose: shared.cu without its second barrier. A warp that is ahead writes the next tiles while
// others still read these.
#include <cuda_fp16.h>
using T = float;
using Acc = float;
constexpr int SIDE = 32;

extern "C" __global__ void wrong_barrier(const T *__restrict__ a, const T *__restrict__ b, T *c,
                                         long long m, long long n, long long k)
{
    __shared__ Acc tile_a[SIDE][SIDE], tile_b[SIDE][SIDE];
    int x = threadIdx.x, y = threadIdx.y;
    long long row = blockIdx.y * (long long)SIDE + y, column = blockIdx.x * (long long)SIDE + x;
    a += blockIdx.z * m * k, b += blockIdx.z * k * n, c += blockIdx.z * m * n;
    Acc sum = 0;
    for (long long first = 0; first < k; first += SIDE) {
        tile_a[y][x] = row < m && first + x < k ? Acc(a[row * k + first + x]) : Acc(0);
        tile_b[y][x] = first + y < k && column < n ? Acc(b[(first + y) * n + column]) : Acc(0);
        __syncthreads();  // the tiles are written
        for (int i = 0; i < SIDE; ++i) sum += tile_a[y][i] * tile_b[i][x];
    }
    if (row < m && column < n) c[row * n + column] = T(sum);
}
