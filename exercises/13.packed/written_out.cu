// The stub with its lines written out, for wrong.toml.
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
    __shared__ __align__(16) Acc tiles_a[2][DEEP][ROWS + 4], tiles_b[2][DEEP][COLUMNS + 4];
    long long tiles = (m + ROWS - 1) / ROWS;
    long long top = blockIdx.x % tiles * ROWS, left = blockIdx.x / tiles * COLUMNS;
    Matrix<T, 4, true> of_a = {a, strides.a, k, m};
    Matrix<T, 4, false> of_b = {b, strides.b, k, n};
    Load<Matrix<T, 4, true>, Acc, DEEP, ROWS> load_a;
    Load<Matrix<T, 4, false>, Acc, DEEP, COLUMNS> load_b;
    using Quad = Packed<Acc, 4>;
    Quad sum[2][4][2] = {};
    int y = threadIdx.x / 16 * 4, x = threadIdx.x % 16 * 4, now = 0;
    load_a.fetch(of_a, 0, top);
    load_b.fetch(of_b, 0, left);
    for (long long first = 0; first < k; first += DEEP, now ^= 1) {
        load_a.put(tiles_a[now]);
        load_b.put(tiles_b[now]);
        __syncthreads();
        load_a.fetch(of_a, first + DEEP, top);
        load_b.fetch(of_b, first + DEEP, left);
#pragma unroll
        for (int i = 0; i < DEEP; ++i) {
            Quad p[2], q[2];
#pragma unroll
            for (int h = 0; h < 2; ++h) {
                p[h] = *reinterpret_cast<Quad *>(&tiles_a[now][i][y + 64 * h]);
                q[h] = *reinterpret_cast<Quad *>(&tiles_b[now][i][x + 64 * h]);
            }
#pragma unroll
            for (int h = 0; h < 2; ++h)
#pragma unroll
                for (int r = 0; r < 4; ++r)
#pragma unroll
                    for (int w = 0; w < 2; ++w)
#pragma unroll
                        for (int s = 0; s < 4; ++s) sum[h][r][w][s] += p[h][r] * q[w][s];
        }
    }
    Product<Out, Acc, 4> product = {c, m, n};
    for (int h = 0; h < 2; ++h)
        for (int r = 0; r < 4; ++r)
            for (int w = 0; w < 2; ++w)
                product.store(top + y + 64 * h + r, left + x + 64 * w, sum[h][r][w]);
}
