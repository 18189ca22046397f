// Product of matrices by tensor cores: a[m, k] times b[k, n] -> c[m, n], a batch of them over blockIdx.z. Launch a
// grid of (n / SIDE, m / SIDE / WARPS, batch) blocks, rounded up, of 32 * WARPS threads.
// Step 5: a warp makes SIDE x SIDE elements of c. Its lanes hold fragments of a, b and c together; which lane
// holds which element is up to wmma. Fragments that stick out of a matrix are gathered in shared memory first.
// Limit: every fragment of a is fetched n / SIDE times, of b m / SIDE times.
#include <cuda_bf16.h>
#include <mma.h>
using T = half;
using Acc = float;
constexpr int WARPS = 4;

constexpr int SIDE = 16;

namespace wmma = nvcuda::wmma;

// x: `lines` lines of `length` elements; edge: room for a fragment.
template <typename Fragment>
__device__ void load(Fragment &fragment, const T *x, long long lines, long long length,
                     long long line, long long first, T *edge)
{
    const T *from = x + line * length + first;
    if (line + SIDE <= lines && first + SIDE <= length && length % SIDE == 0) {
        wmma::load_matrix_sync(fragment, from, length);
        return;
    }
    __syncwarp();
    for (int i = threadIdx.x % 32; i < SIDE * SIDE; i += 32) {
        int down = i / SIDE, along = i % SIDE;
        bool inside = line + down < lines && first + along < length;
        edge[i] = inside ? from[down * length + along] : T(0);
    }
    __syncwarp();
    wmma::load_matrix_sync(fragment, edge, SIDE);
}

extern "C" __global__ __launch_bounds__(32 * WARPS) void fragments(const T *__restrict__ a,
                                                                   const T *__restrict__ b, T *c,
                                                                   long long m, long long n,
                                                                   long long k)
{
    __shared__ __align__(32) T edges[WARPS][SIDE * SIDE];
    __shared__ __align__(32) Acc sums[WARPS][SIDE * SIDE];
    int warp = threadIdx.x / 32;
    long long top = (blockIdx.y * (long long)WARPS + warp) * SIDE,
              left = blockIdx.x * (long long)SIDE;
    a += blockIdx.z * m * k, b += blockIdx.z * k * n, c += blockIdx.z * m * n;
    if (top >= m) return;
    wmma::fragment<wmma::matrix_a, SIDE, SIDE, SIDE, T, wmma::row_major> p;
    wmma::fragment<wmma::matrix_b, SIDE, SIDE, SIDE, T, wmma::row_major> q;
    wmma::fragment<wmma::accumulator, SIDE, SIDE, SIDE, Acc> sum;
    wmma::fill_fragment(sum, Acc(0));
    for (long long first = 0; first < k; first += SIDE) {
        load(p, a, m, k, top, first, edges[warp]);
        load(q, b, k, n, first, left, edges[warp]);
        wmma::mma_sync(sum, p, q, sum);
    }
    wmma::store_matrix_sync(sums[warp], sum, SIDE, wmma::mem_row_major);
    __syncwarp();
    for (int i = threadIdx.x % 32; i < SIDE * SIDE; i += 32) {
        long long row = top + i / SIDE, column = left + i % SIDE;
        if (row < m && column < n) c[row * n + column] = T(sums[warp][i]);
    }
}
