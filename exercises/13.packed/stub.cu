// Product of matrices: a[m, k] times b[k, n] -> c[m, n]; 4 divides k and n. Launch m / 128 * n / 128 blocks, each
// rounded up, of 256 threads.
#include "gemm/tiles.cuh"
using T = float;
using Acc = float;
using Out = float;
constexpr int A_ALONG_K = 1;  // neighbours of a lie along k, neighbours of b across it
constexpr int B_ALONG_K = 0;
constexpr int A_PACK = 4;
constexpr int B_PACK = 4;
constexpr int C_PACK = 4;
constexpr int ROWS = 128;
constexpr int COLUMNS = 128;
constexpr int DEEP = 8;

struct Strides {
    long long a, b;  // from one line to the next
    long long a_batch, b_batch;
};

__global__ __launch_bounds__(BLOCK, 2) void packed(const T *__restrict__ a, const T *__restrict__ b,
                                                   Out *c, long long m, long long n, long long k,
                                                   Strides strides)
{
    using Quad = Packed<Acc, 4>;
    using A = Matrix<T, A_PACK, A_ALONG_K>;
    using B = Matrix<T, B_PACK, B_ALONG_K>;
    __shared__ __align__(16) Acc tiles_a[2][DEEP][ROWS + 4], tiles_b[2][DEEP][COLUMNS + 4];
    long long tiles = (m + ROWS - 1) / ROWS;
    long long top = blockIdx.x % tiles * ROWS, left = blockIdx.x / tiles * COLUMNS;
    A of_a = {a, strides.a, k, m};
    B of_b = {b, strides.b, k, n};
    Load<A, Acc, DEEP, ROWS> load_a;
    Load<B, Acc, DEEP, COLUMNS> load_b;
    Quad sum[2][4][2] = {};  // of rows y + 64 h + r, columns x + 64 w to x + 64 w + 3
    int y = threadIdx.x / 16 * 4, x = threadIdx.x % 16 * 4, now = 0;

    // your lines

    Product<Out, Acc, C_PACK> product = {c, m, n};
    for (int h = 0; h < 2; ++h)
        for (int r = 0; r < 4; ++r)
            for (int w = 0; w < 2; ++w)
                product.store(top + y + 64 * h + r, left + x + 64 * w, sum[h][r][w]);
}
