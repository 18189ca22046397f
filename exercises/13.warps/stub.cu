// Product of matrices: a[m, k] times b[k, n] -> c[m, n]; 4 divides k and n. Launch m / ROWS * n / COLUMNS blocks, each
// rounded up, of 256 threads with 2 * DEEP * (ROWS + COLUMNS + 8) floats of shared memory.
#include "gemm/carry.cuh"
using T = float;
using Acc = float;
using Out = float;
constexpr int A_ALONG_K = 1;
constexpr int B_ALONG_K = 0;
constexpr int C_PACK = 4;

constexpr int ROWS = 256, COLUMNS = 128, DEEP = 16;
constexpr int DOWN = 4, ACROSS = 8;  // lanes of a warp, whose tile is 16 * DOWN x 8 * ACROSS
using Quad = Packed<Acc, FOUR>;

struct Strides {
    long long a, b;  // from one line to the next
    long long a_batch, b_batch;
};

__global__ __launch_bounds__(BLOCK, 1) void warps(const T *__restrict__ a, const T *__restrict__ b,
                                                  Out *c, long long m, long long n, long long k,
                                                  Strides strides)
{
    extern __shared__ __align__(16) unsigned char memory[];
    using A = Carry<T, Acc, A_ALONG_K, DEEP, ROWS>;
    using B = Carry<T, Acc, B_ALONG_K, DEEP, COLUMNS>;
    Acc *tiles_a = reinterpret_cast<Acc *>(memory), *tiles_b = tiles_a + 2 * DEEP * A::LINE;
    long long tiles = (m + ROWS - 1) / ROWS;
    long long top = blockIdx.x % tiles * ROWS, left = blockIdx.x / tiles * COLUMNS;
    Share share(k, DEEP);
    A of_a(a + blockIdx.z * strides.a_batch, strides.a, share.begin, top, share.end - share.begin,
           m);
    B of_b(b + blockIdx.z * strides.b_batch, strides.b, share.begin, left, share.end - share.begin,
           n);
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    int y = 0, x = 0;  // your line: where in the block's tile this thread's first sum lies
    Quad p[2][4], q[2][2], sum[4][FOUR][2] = {};

    auto put = [&](int pair) {
        of_a.put(tiles_a + pair * DEEP * A::LINE);
        of_b.put(tiles_b + pair * DEEP * B::LINE);
    };
    auto fetch = [&] { of_a.fetch(), of_b.fetch(); };

    // your lines: what comes before the loop, and the loop

    Product<Out, Acc, C_PACK> product = {
        c + (blockIdx.z * (long long)gridDim.y + blockIdx.y) * m * n, m, n};
#pragma unroll
    for (int h = 0; h < 4; ++h)
#pragma unroll
        for (int r = 0; r < FOUR; ++r)
#pragma unroll
            for (int w = 0; w < 2; ++w)
                product.store(top + y + h * DOWN * FOUR + r, left + x + w * ACROSS * FOUR,
                              sum[h][r][w]);
}
