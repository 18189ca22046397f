// Product of matrices of floats: as gemm/staged.cu, but the SPLITS of a tile, at most 8, are a cluster, which adds them: no
// second launch does. For compute capability 9.0 or later. Launch a grid of (m / ROWS * n / COLUMNS, rounded up, SPLITS,
// batch) blocks, with room for STAGES tiles, and for ROWS * COLUMNS floats.
// Step: a block leaves its sums in its shared memory; then each reads all blocks' sums of its share of the tile.
// Limit: the multiply-adds; where there are few, the beginning and the end of a block.
#include "common/cluster.cuh"
#include "gemm/staged.cuh"
constexpr int A_ALONG_K = 1;
constexpr int B_ALONG_K = 0;
constexpr int A_PIECE = 4;  // bytes that are copied at once across k
constexpr int B_PIECE = 16;
constexpr int C_PACK = 4;
constexpr int ROWS = 128;
constexpr int COLUMNS = 128;
constexpr int DEEP = 16;
constexpr int STAGES = 3;
constexpr int WARP_ROWS = 64;
constexpr int WARP_COLUMNS = 64;
constexpr int BLOCKS = 2;  // on a multiprocessor
constexpr int SPLITS = 2;

constexpr int THREADS = ROWS / WARP_ROWS * (COLUMNS / WARP_COLUMNS) * 32;
constexpr int ROUND = SPLITS * THREADS * FOUR;                 // floats that a cluster adds
constexpr int TOGETHER = SPLITS < EIGHT ? EIGHT / SPLITS : 1;  // rounds whose loads are under way

struct Strides {
    long long a, b;  // from one line to the next
    long long a_batch, b_batch;
};
using Quad = Packed<float, FOUR>;
extern __shared__ __align__(16) unsigned char memory[];

// Leaves a tile in shared memory, which begins at this row and column of the product.
struct Left {
    static constexpr int AT_ONCE = FOUR;
    long long top, left;
    __device__ Quad *place(long long row, long long column) const
    { return reinterpret_cast<Quad *>(memory) + ((row - top) * COLUMNS + column - left) / FOUR; }
    __device__ void store(long long row, long long column, Quad sum) const
    { *place(row, column) = sum; }
};

extern "C" __global__ __cluster_dims__(1, SPLITS, 1)
    __launch_bounds__(THREADS, BLOCKS) void joined(const float *__restrict__ a,
                                                   const float *__restrict__ b, float *c,
                                                   long long m, long long n, long long k,
                                                   Strides strides)
{
    long long tiles = (m + ROWS - 1) / ROWS;
    long long top = blockIdx.x % tiles * ROWS, left = blockIdx.x / tiles * COLUMNS;
    Share share(k, DEEP);
    Copier<A_ALONG_K, ROWS, DEEP, A_PIECE, THREADS> of_a(a, strides.a, strides.a_batch, top,
                                                         share.begin, m);
    Copier<B_ALONG_K, COLUMNS, DEEP, B_PIECE, THREADS> of_b(b, strides.b, strides.b_batch, left,
                                                            share.begin, n);
    Left tile = {top, left};
    multiply<ROWS, COLUMNS, DEEP, STAGES, WARP_ROWS, WARP_COLUMNS>(of_a, of_b, tile, top, left,
                                                                   share);
    arrive_in_cluster();
    wait_in_cluster();  // all blocks have left their sums
    Floats<C_PACK> product = {c + blockIdx.z * m * n, m, n};
    for (int at = (blockIdx.y * THREADS + threadIdx.x) * FOUR; at < ROWS * COLUMNS;
         at += TOGETHER * ROUND) {
        Quad part[TOGETHER][SPLITS];
        auto row = [&](int n) { return tile.top + (at + n * ROUND) / COLUMNS; };
        auto column = [&](int n) { return tile.left + (at + n * ROUND) % COLUMNS; };
#pragma unroll
        for (int n = 0; n < TOGETHER; ++n)
#pragma unroll
            for (int p = 0; p < SPLITS && at + n * ROUND < ROWS * COLUMNS; ++p)
                part[n][p] = *in_block(tile.place(row(n), column(n)), p);
#pragma unroll
        for (int n = 0; n < TOGETHER && at + n * ROUND < ROWS * COLUMNS; ++n) {
            Quad sum = {};
#pragma unroll
            for (int p = 0; p < SPLITS; ++p)
#pragma unroll
                for (int e = 0; e < FOUR; ++e) sum[e] += part[n][p][e];
            product.store(row(n), column(n), sum);
        }
    }
    arrive_in_cluster();
    wait_in_cluster();  // no block goes while another reads its sums
}
