// a[m, k] times b[k, n] -> c[m, n]. Launch (n / SIDE, m / SIDE / WARPS) blocks, rounded up, of 32 * WARPS threads: a
// warp makes SIDE x SIDE elements of c.
#include <cuda_fp16.h>
#include <mma.h>
using T = half;
using Acc = float;
constexpr int WARPS = 4;

constexpr int SIDE = 16;

namespace wmma = nvcuda::wmma;

// Load a fragment of x, `lines` lines of `length` elements, from this line and place on: zeros past the edges.
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

__global__ void fragments(const T *__restrict__ a, const T *__restrict__ b, T *c, long long m,
                          long long n, long long k)
{
    __shared__ __align__(32) T edges[WARPS][SIDE * SIDE];
    __shared__ __align__(32) Acc sums[WARPS][SIDE * SIDE];
    int warp = threadIdx.x / 32;
    long long top = (blockIdx.y * (long long)WARPS + warp) * SIDE,
              left = blockIdx.x * (long long)SIDE;
    if (top >= m) return;
    // your lines: three fragments, and a loop over k that loads two and multiplies

    // store the sums into sums[warp], as SIDE rows of SIDE
    __syncwarp();
    for (int i = threadIdx.x % 32; i < SIDE * SIDE; i += 32) {
        long long row = top + i / SIDE, column = left + i % SIDE;
        if (row < m && column < n) c[row * n + column] = T(sums[warp][i]);
    }
}
