// Product of matrices of halves by warpgroups, for GPUs of compute capability 9.0: as gemm/boxes.cu, in a grid of as many
// blocks of block_of(ROWS) threads, with STAGES * (ROWS + COLUMNS) * 128 + ROWS / 16 * PATCH_BYTES bytes of shared memory.
// Step: a producer does nothing but copy, as far ahead as STAGES have room; consumers, a warpgroup for each 64 ROWS, do
// nothing but multiply. Larger tiles are copied less often: 128 x 256 needs half the bytes of 64 x 128 for a product.
// Limit: a block's first copies and its stores, while nothing is multiplied.
#include "common/stages.cuh"
#include "gemm/lines.cuh"
#include "gemm/pipeline.cuh"
using T = half;
constexpr int C_PACK = 8;
constexpr int ROWS = 128;
constexpr int COLUMNS = 256;
constexpr int STAGES = 4;

extern "C" __global__ __launch_bounds__(block_of(ROWS),
                                        1) void producer(const __grid_constant__ Maps<2> maps, T *c,
                                                         long long m, long long n, int steps)
{
    constexpr int GROUPS = ROWS / GROUP_ROWS, OF_A = ROWS * LINE, STAGE = OF_A + COLUMNS * LINE;
    extern __shared__ __align__(1024) unsigned char tiles[];
    __shared__ __align__(8) unsigned long long barriers[2 * STAGES];
    Stages<STAGES> stages(__cvta_generic_to_shared(tiles), __cvta_generic_to_shared(barriers),
                          STAGE);
    int top = blockIdx.x * ROWS, left = blockIdx.y * COLUMNS;
    int group = threadIdx.x / GROUP, warp = threadIdx.x / 32;
    if (threadIdx.x == 0) stages.prepare(1, GROUPS), show_barriers();
    __syncthreads();
    if (group == GROUPS) {
        if (GROUPS > 1) give_registers<40>();
        if (threadIdx.x % GROUP) return;
        for (int step = 0; step < steps; ++step, stages.advance()) {
            stages.expect();
            copy_lines<T, true, ROWS>(stages.tile(), maps.of[0], top, step, 0, stages.comes());
            copy_lines<T, false, COLUMNS>(stages.tile() + OF_A, maps.of[1], left, step, 0,
                                          stages.comes());
        }
        return;
    }
    if (GROUPS > 1) take_registers<232>();
    float sum[COLUMNS / 2] = {};
    for (int step = 0; step < steps; ++step) {
        stages.await();
        multiply_stage<T, true, false>(sum, stages.tile() + group * GROUP_ROWS * LINE,
                                       stages.tile() + OF_A, true);
        wait_for_products<0>();
        stages.leave();
    }
    float *patch = reinterpret_cast<float *>(tiles + STAGES * STAGE + warp * PATCH_BYTES);
    store<COLUMNS>(Product<T, float, C_PACK>{c, m, n}, top + warp * HIGH, left, sum, patch);
}
