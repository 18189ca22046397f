// Product of matrices: as gemm/packed.cu, but the SPLITS of a tile, at most 8, are a cluster, which adds them: no second
// launch does. For compute capability 9.0 or later. Launch a grid of (m / ROWS * n / COLUMNS, rounded up, SPLITS, batch)
// blocks of 256 threads, with ROWS * COLUMNS * sizeof(Acc) bytes of shared memory.
// Step: a block leaves its sums in its shared memory; then each reads all blocks' sums of its share of the tile.
// Limit: the multiply-adds; where there are few, the beginning and the end of a block.
#include "common/cluster.cuh"
#include "gemm/tiles.cuh"
using T = float;
using Acc = float;
using Out = float;
constexpr int A_ALONG_K = 1;
constexpr int B_ALONG_K = 0;
constexpr int A_PACK = 4;
constexpr int B_PACK = 4;
constexpr int C_PACK = 4;
constexpr int ROWS = 64;
constexpr int COLUMNS = 64;
constexpr int DEEP = 16;
constexpr int SPLITS = 2;

struct Strides {
    long long a, b;  // from one line to the next
    long long a_batch, b_batch;
};

using Quad = Packed<Acc, FOUR>;
extern __shared__ __align__(16) unsigned char memory[];

// Leaves a tile in shared memory, which begins at this row and column of the product.
struct Left {
    long long top, left;
    __device__ Quad *place(long long row, long long column) const
    { return reinterpret_cast<Quad *>(memory) + ((row - top) * COLUMNS + column - left) / FOUR; }
    __device__ void store(long long row, long long column, Quad sum) const
    { *place(row, column) = sum; }
};

extern "C" __global__ __cluster_dims__(1, SPLITS, 1)
    __launch_bounds__(BLOCK, sizeof(Acc) == 4 ? 2 : 1) void joined(const T *__restrict__ a,
                                                                   const T *__restrict__ b, Out *c,
                                                                   long long m, long long n,
                                                                   long long k, Strides strides)
{
    long long tiles = (m + ROWS - 1) / ROWS;
    Left tile = {blockIdx.x % tiles * ROWS, blockIdx.x / tiles * COLUMNS};
    Share share(k, DEEP);
    Matrix<T, A_PACK, A_ALONG_K> of_a = {a + blockIdx.z * strides.a_batch, strides.a, share.end, m};
    Matrix<T, B_PACK, B_ALONG_K> of_b = {b + blockIdx.z * strides.b_batch, strides.b, share.end, n};
    multiply<ROWS, COLUMNS, DEEP, Acc>(of_a, of_b, tile, tile.top, tile.left, share);
    arrive_in_cluster();
    wait_in_cluster();  // all blocks have left their sums
    Product<Out, Acc, C_PACK> product = {c + blockIdx.z * m * n, m, n};
    for (int at = (blockIdx.y * BLOCK + threadIdx.x) * FOUR; at < ROWS * COLUMNS;
         at += SPLITS * BLOCK * FOUR) {
        long long row = tile.top + at / COLUMNS, column = tile.left + at % COLUMNS;
        Quad sum = {}, part[SPLITS];
#pragma unroll
        for (int p = 0; p < SPLITS; ++p) part[p] = *in_block(tile.place(row, column), p);
#pragma unroll
        for (int p = 0; p < SPLITS; ++p)
#pragma unroll
            for (int e = 0; e < FOUR; ++e) sum[e] += part[p][e];
        product.store(row, column, sum);
    }
    arrive_in_cluster();
    wait_in_cluster();  // no block goes while another reads its sums
}
