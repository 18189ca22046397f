// Product of matrices by tensor cores: a[m, k] times b[k, n] -> c[m, n], a batch of them over blockIdx.z. Launch a
// grid of (n / TILE, m / TILE, batch) blocks, rounded up, of 128 threads.
// Step 6: a block makes TILE x TILE elements of c from tiles in shared memory, which four warps share; a warp has
// 2 x 2 fragments of c, and uses each fragment of a and b twice.
// Limit: 2 bytes per load; nothing is multiplied while the next tiles are on their way.
#include <cuda_bf16.h>
#include <mma.h>
using T = half;
using Acc = float;

constexpr int SIDE = 16, EACH = 2, TILE = 2 * EACH * SIDE, DEEP = 32, BLOCK = 128;
constexpr int PADDING = 8;  // elements: the lines of a fragment lie in different banks

namespace wmma = nvcuda::wmma;

extern "C" __global__ __launch_bounds__(BLOCK) void fragments_shared(const T *__restrict__ a,
                                                                     const T *__restrict__ b, T *c,
                                                                     long long m, long long n,
                                                                     long long k)
{
    __shared__ __align__(32) T tile_a[TILE][DEEP + PADDING], tile_b[DEEP][TILE + PADDING];
    __shared__ __align__(32) Acc sums[TILE][TILE + PADDING];
    int warp = threadIdx.x / 32, y = warp / 2 * EACH * SIDE, x = warp % 2 * EACH * SIDE;
    long long top = blockIdx.y * (long long)TILE, left = blockIdx.x * (long long)TILE;
    a += blockIdx.z * m * k, b += blockIdx.z * k * n, c += blockIdx.z * m * n;
    wmma::fragment<wmma::matrix_a, SIDE, SIDE, SIDE, T, wmma::row_major> p[EACH];
    wmma::fragment<wmma::matrix_b, SIDE, SIDE, SIDE, T, wmma::row_major> q[EACH];
    wmma::fragment<wmma::accumulator, SIDE, SIDE, SIDE, Acc> sum[EACH][EACH];
    for (auto &row : sum)
        for (auto &fragment : row) wmma::fill_fragment(fragment, Acc(0));
    for (long long first = 0; first < k; first += DEEP) {
        for (int i = threadIdx.x; i < TILE * DEEP; i += BLOCK) {
            long long row = top + i / DEEP, i_a = first + i % DEEP;
            long long column = left + i % TILE, i_b = first + i / TILE;
            tile_a[i / DEEP][i % DEEP] = row < m && i_a < k ? a[row * k + i_a] : T(0);
            tile_b[i / TILE][i % TILE] = i_b < k && column < n ? b[i_b * n + column] : T(0);
        }
        __syncthreads();  // the tiles are written
#pragma unroll
        for (int step = 0; step < DEEP; step += SIDE) {
#pragma unroll
            for (int e = 0; e < EACH; ++e) {
                wmma::load_matrix_sync(p[e], &tile_a[y + e * SIDE][step], DEEP + PADDING);
                wmma::load_matrix_sync(q[e], &tile_b[step][x + e * SIDE], TILE + PADDING);
            }
#pragma unroll
            for (int r = 0; r < EACH; ++r)
#pragma unroll
                for (int s = 0; s < EACH; ++s) wmma::mma_sync(sum[r][s], p[r], q[s], sum[r][s]);
        }
        __syncthreads();  // and read: the next ones may take their place
    }
    for (int r = 0; r < EACH; ++r)
        for (int s = 0; s < EACH; ++s)
            wmma::store_matrix_sync(&sums[y + r * SIDE][x + s * SIDE], sum[r][s], TILE + PADDING,
                                    wmma::mem_row_major);
    __syncthreads();
    for (int i = threadIdx.x; i < TILE * TILE; i += BLOCK) {
        long long row = top + i / TILE, column = left + i % TILE;
        if (row < m && column < n) c[row * n + column] = T(sums[i / TILE][i % TILE]);
    }
}
