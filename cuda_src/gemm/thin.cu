// Product of a few rows and a matrix whose columns lie along k: a[m, k] times b[k, n] -> c[m, n], m <= ROWS, a batch of
// them over blockIdx.z, `strides` apart. PACK divides k, the addresses and the strides of b and, unless it is 1, of a.
// Launch a grid of (n / COLUMNS, rounded up, splits, batch) blocks of BLOCK threads. all: a float for each element of
// each split's tile, and a counter for each tile, 0 between launches.
// No tile goes through shared memory, since each element of b is used for a few rows only: a thread loads PACK of each
// of 4 columns, and as many of each row of a, which stay in L1. The threads divide k among them. Sums are folded by
// shuffles, then in shared memory, then by the last block of a tile.
// Limit: memory: b once.
#include "common/reduce.cuh"
#include "common/word.cuh"
using T = float;
using Out = float;
constexpr int PACK = 4;
constexpr int ROWS = 4;

constexpr int BLOCK = 256, WARPS = BLOCK / 32, COLUMNS = 4, SUMS = ROWS * COLUMNS;
constexpr int UNROLL = PACK * sizeof(T) < 16 ? 4 : ROWS < 4 ? 2 : 1;

struct Strides {
    long long a, a_k, b;  // from row to row of a, from k to k, from column to column of b
    long long a_batch, b_batch;
    long long c, c_column;  // from row to row, from column to column
};

struct Splits {
    float *sums;
    unsigned *arrived;
};

// Adds COUNT sums over a warp, from the lanes STEP apart on. Each lane keeps a part of the sums, in the first places,
// from the number on that is returned.
template <int COUNT, int STEP = 16>
__device__ int fold(float *sum)
{
    if constexpr (STEP == 0) return 0;
    else if constexpr (COUNT == 1) {
        sum[0] += __shfl_xor_sync(FULL_WARP, sum[0], STEP);
        return fold<1, STEP / 2>(sum);
    } else {
        constexpr int HALF = COUNT / 2;
        bool upper = threadIdx.x & STEP;
#pragma unroll
        for (int i = 0; i < HALF; ++i) {
            float given = upper ? sum[i] : sum[i + HALF];
            sum[i] = (upper ? sum[i + HALF] : sum[i]) + __shfl_xor_sync(FULL_WARP, given, STEP);
        }
        return (upper ? HALF : 0) + fold<HALF, STEP / 2>(sum);
    }
}

extern "C" __global__ __launch_bounds__(BLOCK, 3) void thin(const T *__restrict__ a,
                                                            const T *__restrict__ b, Out *c,
                                                            long long m, long long n, long long k,
                                                            Strides strides, Splits all)
{
    using Pack = Packed<T, PACK>;
    __shared__ float part[WARPS][SUMS];
    long long each = (k / PACK + gridDim.y - 1) / gridDim.y * PACK, left = blockIdx.x * COLUMNS;
    long long end = min(k, (blockIdx.y + 1) * each);
    const T *columns[COLUMNS];
    int rows[ROWS];
    a += blockIdx.z * strides.a_batch, b += blockIdx.z * strides.b_batch;
#pragma unroll
    for (int r = 0; r < ROWS; ++r) rows[r] = min((long long)r, m - 1) * strides.a;
#pragma unroll
    for (int i = 0; i < COLUMNS; ++i) columns[i] = b + min(left + i, n - 1) * strides.b;

    float sum[SUMS] = {};
#pragma unroll(UNROLL)
    for (long long at = blockIdx.y * each + threadIdx.x * PACK; at < end; at += BLOCK * PACK) {
        Pack of_b[COLUMNS];
#pragma unroll
        for (int i = 0; i < COLUMNS; ++i)
            of_b[i] = *reinterpret_cast<const Pack *>(columns[i] + at);
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
            Pack of_a = *reinterpret_cast<const Pack *>(a + rows[r] + at * strides.a_k);
#pragma unroll
            for (int e = 0; e < PACK; ++e)
#pragma unroll
                for (int i = 0; i < COLUMNS; ++i)
                    sum[r * COLUMNS + i] += float(of_a[e]) * float(of_b[i][e]);
        }
    }

    int number = fold<SUMS>(sum), i = threadIdx.x;
    if (i % (32 / SUMS) == 0) part[i / 32][number] = sum[0];
    __syncthreads();
    float total = 0;
    for (int warp = 0; warp < WARPS; ++warp) total += part[warp][i % SUMS];
    if (gridDim.y > 1) {
        long long place = blockIdx.z * gridDim.x + blockIdx.x;
        float *sums = all.sums + place * gridDim.y * SUMS + i % SUMS;
        if (i < SUMS) sums[blockIdx.y * SUMS] = total;
        if (!last_to_arrive(all.arrived + place, gridDim.y)) return;
        total = 0;
#pragma unroll 8
        for (int p = 0; p < gridDim.y; ++p) total += __ldcg(sums + p * SUMS);
    }
    long long row = i / COLUMNS, column = left + i % COLUMNS;
    if (i < SUMS && row < m && column < n)
        c[blockIdx.z * m * n + row * strides.c + column * strides.c_column] = Out(total);
}
