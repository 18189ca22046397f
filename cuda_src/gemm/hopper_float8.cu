// Product of matrices of 8-bit floats by warpgroups, for GPUs of compute capability 9.0: as gemm/hopper.cu, of a and b
// that both lie along k, times their scales: c = a * b * *scales.a * *scales.b.
// Step: sums of 13 bits become sums of floats (APART, 0: they don't), which costs registers: of a tile 256 wide, 128
// columns at a time.
// Limit: the power that the tensor cores may draw.
#include "gemm/pipeline.cuh"
#include "gemm/scaled.cuh"
using T = e4m3;
using Acc = float;
using Out = half;
constexpr int A_STEP = 1;
constexpr int B_STEP = 1;
constexpr int C_PACK = 8;
constexpr int ROWS = 128;
constexpr int COLUMNS = 256;
constexpr int STAGES = 4;
constexpr int APART = 128;
constexpr int BOXED = 0;
constexpr int SPLITS = 1;  // of k, that a cluster adds

struct Copies {
    const Map &of_a, &of_b;
    int top, left, product, place;
    __device__ void begin(Tile tile)
    {
        top = tile.top, left = tile.left, place = tile.first * LINE;
        product = tile.z / SPLITS;
    }
    __device__ void next(unsigned a, unsigned b, unsigned barrier)
    {
        copy_box(a, of_a, place, top, product * A_STEP, barrier);
        copy_box(b, of_b, place, left, product * B_STEP, barrier);
        place += LINE;
    }
};

__device__ void product(const Maps<2 + BOXED> &maps, Out *c, long long m, long long n, int steps,
                        int batch, Scales scales, float4 *sums)
{
    if (threadIdx.x == 0) prefetch(maps.of[0]), prefetch(maps.of[1]);
    Copies copies = {maps.of[0], maps.of[1]};
    float factor = scales.factor();
    auto results = [=](Tile tile) {
        return ScaledProduct<Out, C_PACK>{{c + tile.z * m * n, m, n}, factor};
    };
    multiply<T, ROWS, COLUMNS, STAGES, true, true, (APART < COLUMNS ? APART : COLUMNS), BOXED,
             SPLITS>(Tiles<ROWS, COLUMNS>(m, n, steps, SPLITS, batch), copies, results,
                     maps.of[BOXED * 2], sums);
}

extern "C" __global__ __launch_bounds__(block_of(ROWS), 1) void hopper_float8(
    const __grid_constant__ Maps<2 + BOXED> maps, Out *c, long long m, long long n, int steps,
    int batch, Scales scales)
{
    if constexpr (SPLITS == 1) product(maps, c, m, n, steps, batch, scales, nullptr);
}

extern "C" __global__ __cluster_dims__(SPLITS)
    __launch_bounds__(block_of(ROWS), 1) void joined(const __grid_constant__ Maps<2 + BOXED> maps,
                                                     Out *c, long long m, long long n, int steps,
                                                     int batch, float4 *sums, Scales scales)
{
    if constexpr (SPLITS > 1) product(maps, c, m, n, steps, batch, scales, sums);
}
