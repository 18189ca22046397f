// Product of matrices of halves by warpgroups, for GPUs of compute capability 9.0: as gemm/producer.cu, with an even
// number of blocks along x.
// Step: two blocks, a cluster, make tiles one below the other, which need the same tile of b. Each has one half of it
// copied to both, so that it is read once from the L2 cache. A stage is empty once the readers of both blocks are done.
// Limit: as before, and blocks wait for each other.
#include "common/cluster.cuh"
#include "common/stages.cuh"
#include "gemm/lines.cuh"
#include "gemm/pipeline.cuh"
using T = half;
constexpr int C_PACK = 8;
constexpr int ROWS = 128;
constexpr int COLUMNS = 256;
constexpr int STAGES = 4;

constexpr int BLOCKS = 2;  // of a cluster

extern "C" __global__ __cluster_dims__(BLOCKS)
    __launch_bounds__(block_of(ROWS), 1) void multicast(const __grid_constant__ Maps<2> maps, T *c,
                                                        long long m, long long n, int steps)
{
    constexpr int GROUPS = ROWS / GROUP_ROWS, OF_A = ROWS * LINE, STAGE = OF_A + COLUMNS * LINE;
    constexpr int DEEP = LINE / sizeof(T), SHARE = COLUMNS / BLOCKS;
    extern __shared__ __align__(1024) unsigned char tiles[];
    __shared__ __align__(8) unsigned long long barriers[2 * STAGES];
    Stages<STAGES> stages(__cvta_generic_to_shared(tiles), __cvta_generic_to_shared(barriers),
                          STAGE);
    int top = blockIdx.x * ROWS, left = blockIdx.y * COLUMNS, rank = blockIdx.x % BLOCKS;
    int group = threadIdx.x / GROUP, warp = threadIdx.x / 32;
    if (threadIdx.x == 0) stages.prepare(1, GROUPS * BLOCKS), show_barriers();
    arrive_in_cluster();
    wait_in_cluster();
    if (group == GROUPS) {
        if (GROUPS > 1) give_registers<40>();
        for (int step = 0; threadIdx.x % GROUP == 0 && step < steps; ++step, stages.advance()) {
            stages.expect();
            copy_lines<T, true, ROWS>(stages.tile(), maps.of[0], top, step, 0, stages.comes());
            for (int i = rank * SHARE; i < rank * SHARE + SHARE; i += DEEP)
                copy_box_to_all<BLOCKS>(stages.tile() + OF_A + i * LINE, maps.of[1], left + i,
                                        step * DEEP, 0, stages.comes());
        }
        __syncwarp();
    } else {
        if (GROUPS > 1) take_registers<232>();
        float sum[COLUMNS / 2] = {};
        for (int step = 0; step < steps; ++step, stages.advance()) {
            stages.await();
            multiply_stage<T, true, false>(sum, stages.tile() + group * GROUP_ROWS * LINE,
                                           stages.tile() + OF_A, true);
            wait_for_products<0>();
            if (threadIdx.x % GROUP < BLOCKS) arrive_in_block(stages.goes(), threadIdx.x % GROUP);
        }
        float *patch = reinterpret_cast<float *>(tiles + STAGES * STAGE + warp * PATCH_BYTES);
        store<COLUMNS>(Product<T, float, C_PACK>{c, m, n}, top + warp * HIGH, left, sum, patch);
    }
    arrive_in_cluster();  // no block goes while the other copies to it, or tells it something
    wait_in_cluster();
}
