// Product of matrices by warpgroups, for GPUs of compute capability 9.0: a[m, k] times b[k, n] -> c[m, n], a batch of
// them. Either may lie transposed, as in gemm/tensor.cu; of floats, which are multiplied as tf32, only a, and only if
// TURNED: then c[n, m] is the transposed product, so that the side with few elements may be n, as narrow as a tile of 16
// COLUMNS. Maps are of a and b, as 3-dimensional arrays whose boxes are 128 bytes wide: ROWS or COLUMNS lines high along
// k, else 128 bytes' worth. A_STEP, B_STEP: 1, or 0 where all products of the batch have the same. BOXED: 1 where a third
// map is of c. gemm/pipeline.cuh says how to launch, how splits of k are added, and what blocks BESIDE each other share.
// Step: the tensor memory accelerator computes addresses and copies; warpgroups multiply where the copies lie.
// Limit: the power that the tensor cores may draw.
#include "gemm/lines.cuh"
#include "gemm/pipeline.cuh"
using T = half;
using Acc = float;
using Out = half;
constexpr int A_ALONG_K = 1;
constexpr int B_ALONG_K = 0;
constexpr int A_STEP = 1;
constexpr int B_STEP = 1;
constexpr int C_PACK = 8;
constexpr int ROWS = 128;
constexpr int COLUMNS = 256;
constexpr int STAGES = 4;
constexpr int BOXED = 0;
constexpr int TURNED = 0;
constexpr int SPLITS = 1;  // of k, that a cluster adds
constexpr int BESIDE = 1;  // blocks of a cluster that share tiles of b, each with tiles of its own

struct Copies {
    const Map &of_a, &of_b;
    int top, left, product, step;
    __device__ void begin(Tile tile)
    {
        top = tile.top, left = tile.left, step = tile.first;
        product = tile.z / SPLITS;
    }
    __device__ void next(unsigned a, unsigned b, unsigned barrier)
    {
        copy_lines<T, A_ALONG_K, ROWS>(a, of_a, top, step, product * A_STEP, barrier);
        if constexpr (BESIDE > 1)
            share_lines<T, B_ALONG_K, COLUMNS, BESIDE>(b, of_b, left, step, product * B_STEP,
                                                       barrier);
        else copy_lines<T, B_ALONG_K, COLUMNS>(b, of_b, left, step, product * B_STEP, barrier);
        ++step;
    }
};

__device__ void product(const Maps<2 + BOXED> &maps, Out *c, long long m, long long n, int steps,
                        int batch, float4 *sums)
{
    if (threadIdx.x == 0) prefetch(maps.of[0]), prefetch(maps.of[1]);
    Copies copies = {maps.of[0], maps.of[1]};
    auto results = [=](Tile tile) {
        return Product<Out, Acc, C_PACK>{c + tile.z * m * n, TURNED ? n : m, TURNED ? m : n};
    };
    multiply<T, ROWS, COLUMNS, STAGES, A_ALONG_K, B_ALONG_K, 0, BOXED, SPLITS, TURNED, BESIDE>(
        Tiles<ROWS, COLUMNS>(m, n, steps, SPLITS, batch, BESIDE), copies, results,
        maps.of[BOXED * 2], sums);
}

extern "C" __global__ __launch_bounds__(block_of(ROWS),
                                        1) void hopper(const __grid_constant__ Maps<2 + BOXED> maps,
                                                       Out *c, long long m, long long n, int steps,
                                                       int batch)
{
    if constexpr (SPLITS * BESIDE == 1) product(maps, c, m, n, steps, batch, nullptr);
}

// A launch in clusters, even of one block, would keep some multiprocessors from the kernel above.
extern "C" __global__ __cluster_dims__(SPLITS *BESIDE)
    __launch_bounds__(block_of(ROWS), 1) void joined(const __grid_constant__ Maps<2 + BOXED> maps,
                                                     Out *c, long long m, long long n, int steps,
                                                     int batch, float4 *sums)
{
    if constexpr (SPLITS * BESIDE > 1) product(maps, c, m, n, steps, batch, sums);
}
