// Product of halves: a[m, k] times b[k, n] -> c[m, n], all by rows. The maps are of a in boxes of 128 x 64, and of b in boxes
// of 64 x 64, as arrays of three dimensions, the first of size 1. Launch (m / 128, n / 256) blocks, rounded up, of 384
// threads, with STAGES * STAGE + 8 * PATCH_BYTES bytes of shared memory. steps: k / 64, rounded up.
#include "common/stages.cuh"
#include "gemm/lines.cuh"
#include "gemm/pipeline.cuh"
constexpr int ROWS = 128, COLUMNS = 256, STAGES = 4;
constexpr int OF_A = ROWS * LINE, STAGE = OF_A + COLUMNS * LINE;  // bytes

__global__ __launch_bounds__(384, 1) void two_consumers(const __grid_constant__ Maps<2> maps,
                                                        half *c, long long m, long long n,
                                                        int steps)
{
    extern __shared__ __align__(1024) unsigned char tiles[];
    __shared__ __align__(8) unsigned long long barriers[2 * STAGES];
    Stages<STAGES> stages(__cvta_generic_to_shared(tiles), __cvta_generic_to_shared(barriers),
                          STAGE);
    int top = blockIdx.x * ROWS, left = blockIdx.y * COLUMNS;
    int group = threadIdx.x / GROUP, warp = threadIdx.x / 32;
    // BEGIN how many arrive before a stage is full, and how many before it is empty?
    if (threadIdx.x == 0) stages.prepare(1, 2), show_barriers();
    // STUB if (threadIdx.x == 0) stages.prepare(1, 1), show_barriers();
    // END
    __syncthreads();
    if (group == 2) {  // the producer
        give_registers<40>();
        if (threadIdx.x % GROUP) return;
        for (int step = 0; step < steps; ++step, stages.advance()) {
            stages.expect();
            copy_lines<half, true, ROWS>(stages.tile(), maps.of[0], top, step, 0, stages.comes());
            copy_lines<half, false, COLUMNS>(stages.tile() + OF_A, maps.of[1], left, step, 0,
                                             stages.comes());
        }
        return;
    }
    take_registers<232>();
    float sum[COLUMNS / 2] = {};
    // BEGIN your loop over steps: wait for a stage, multiply this group's rows of a by all of b, leave it
    for (int step = 0; step < steps; ++step) {
        stages.await();
        unsigned a = stages.tile() + group * GROUP_ROWS * LINE, b = stages.tile() + OF_A;
        multiply_stage<half, true, false>(sum, a, b, true);
        wait_for_products<0>();
        stages.leave();
    }
    // END
    float *patch = reinterpret_cast<float *>(tiles + STAGES * STAGE + warp * PATCH_BYTES);
    store<COLUMNS>(Product<half, float, 8>{c, m, n}, top + warp * HIGH, left, sum, patch);
}
