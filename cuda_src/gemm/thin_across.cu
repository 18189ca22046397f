// Product of a few rows and a matrix whose rows are its lines: a[m, k] times b[k, n] -> c[m, n], m <= ROWS, a batch of them
// over blockIdx.z, `strides` apart. PACK divides n, and the address and the strides of b. Launch a grid of (n / COLUMNS,
// rounded up, splits, batch) blocks of BLOCK threads. all: as of gemm/thin.cu.
// Step: a warp reads a piece of a line of b, which needs no sum over the warp; the warps divide k among them, and their sums
// are added in shared memory, then by the last block of a tile.
// Limit: memory: b once.
#include "common/reduce.cuh"
#include "common/word.cuh"
using T = float;
using Out = float;
constexpr int PACK = 4;
constexpr int ROWS = 4;

constexpr int BLOCK = 256, WARPS = BLOCK / 32, COLUMNS = 32 * PACK, SUMS = ROWS * COLUMNS;
constexpr int UNROLL = ROWS * PACK > 16 ? 4 : 8;

struct Strides {
    long long a, a_k, b;  // from row to row of a, from k to k, from line to line of b
    long long a_batch, b_batch;
    long long c, c_column;  // from row to row, from column to column
};

struct Splits {
    float *sums;
    unsigned *arrived;
};

extern "C" __global__ __launch_bounds__(BLOCK, 3) void thin_across(const T *__restrict__ a,
                                                                   const T *__restrict__ b, Out *c,
                                                                   long long m, long long n,
                                                                   long long k, Strides strides,
                                                                   Splits all)
{
    using Pack = Packed<T, PACK>;
    __shared__ __align__(16) float part[WARPS][ROWS][COLUMNS];
    long long each = (k + gridDim.y - 1) / gridDim.y, left = blockIdx.x * (long long)COLUMNS;
    long long end = min(k, (blockIdx.y + 1) * each);
    int warp = threadIdx.x / 32, column = threadIdx.x % 32 * PACK;
    long long rows[ROWS];
#pragma unroll
    for (int r = 0; r < ROWS; ++r) rows[r] = min((long long)r, m - 1) * strides.a;
    a += blockIdx.z * strides.a_batch;
    b += blockIdx.z * strides.b_batch + min(left + column, n - PACK);

    Packed<float, PACK> sum[ROWS] = {};
#pragma unroll(UNROLL)
    for (long long at = blockIdx.y * each + warp; at < end; at += WARPS) {
        Pack of_b = *reinterpret_cast<const Pack *>(b + at * strides.b);
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
            float of_a = a[rows[r] + at * strides.a_k];
#pragma unroll
            for (int e = 0; e < PACK; ++e) sum[r][e] += of_a * float(of_b[e]);
        }
    }

#pragma unroll
    for (int r = 0; r < ROWS; ++r)
        *reinterpret_cast<Packed<float, PACK> *>(&part[warp][r][column]) = sum[r];
    __syncthreads();
    long long place = blockIdx.z * (long long)gridDim.x + blockIdx.x;
    float *sums = all.sums + place * gridDim.y * SUMS;
    auto store = [&](int i, float total) {
        long long row = i / COLUMNS, at = left + i % COLUMNS;
        if (row < m && at < n)
            c[blockIdx.z * m * n + row * strides.c + at * strides.c_column] = Out(total);
    };
    for (int i = threadIdx.x; i < SUMS; i += BLOCK) {
        float total = 0;
#pragma unroll
        for (int w = 0; w < WARPS; ++w) total += part[w][i / COLUMNS][i % COLUMNS];
        if (gridDim.y > 1) sums[blockIdx.y * SUMS + i] = total;
        else store(i, total);
    }
    if (gridDim.y == 1 || !last_to_arrive(all.arrived + place, gridDim.y)) return;
    for (int i = threadIdx.x; i < SUMS; i += BLOCK) {
        float total = 0;
#pragma unroll 8
        for (int p = 0; p < gridDim.y; ++p) total += __ldcg(sums + p * SUMS + i);
        store(i, total);
    }
}
