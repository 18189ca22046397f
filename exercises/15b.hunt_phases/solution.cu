// Product of halves by any number of blocks: a[m, k] times b[k, n] -> c[m, n], in tiles of 128 x 128. The maps are of a in
// boxes of 128 x 64, of b in boxes of 64 x 64. Launch blocks of 384 threads, with STAGES * STAGE + 8 * PATCH_BYTES bytes of
// shared memory.
#include "common/stages.cuh"
#include "gemm/lines.cuh"
#include "gemm/pipeline.cuh"
constexpr int SIDE = 128, STAGES = 4, STAGE = 2 * SIDE * LINE;

__global__ __launch_bounds__(384, 1) void every_tile(const __grid_constant__ Maps<2> maps, half *c,
                                                     long long m, long long n, int steps)
{
    extern __shared__ __align__(1024) unsigned char tiles[];
    __shared__ __align__(8) unsigned long long barriers[2 * STAGES];
    unsigned first = __cvta_generic_to_shared(tiles), full = __cvta_generic_to_shared(barriers);
    Stages<STAGES> stages(first, full, STAGE);
    int down = (m + SIDE - 1) / SIDE, count = down * ((n + SIDE - 1) / SIDE);
    int group = threadIdx.x / GROUP, warp = threadIdx.x / 32;
    if (threadIdx.x == 0) stages.prepare(1, 2), show_barriers();
    __syncthreads();
    if (group == 2) {
        give_registers<40>();
        if (threadIdx.x % GROUP) return;
        for (int tile = blockIdx.x; tile < count; tile += gridDim.x) {
            // BEGIN
            // STUB Stages<STAGES> stages(first, full, STAGE);
            // END
            int top = tile % down * SIDE, left = tile / down * SIDE;
            for (int step = 0; step < steps; ++step, stages.advance()) {
                stages.expect();
                copy_lines<half, true, SIDE>(stages.tile(), maps.of[0], top, step, 0,
                                             stages.comes());
                copy_lines<half, false, SIDE>(stages.tile() + SIDE * LINE, maps.of[1], left, step,
                                              0, stages.comes());
            }
        }
        return;
    }
    take_registers<232>();
    for (int tile = blockIdx.x; tile < count; tile += gridDim.x) {
        // BEGIN
        // STUB Stages<STAGES> stages(first, full, STAGE);
        // END
        float sum[SIDE / 2];
        for (int step = 0; step < steps; ++step) {
            stages.await();
            multiply_stage<half, true, false>(sum, stages.tile() + group * GROUP_ROWS * LINE,
                                              stages.tile() + SIDE * LINE, step > 0);
            wait_for_products<0>();
            stages.leave();
        }
        float *patch = reinterpret_cast<float *>(tiles + STAGES * STAGE + warp * PATCH_BYTES);
        store<SIDE>(Product<half, float, 8>{c, m, n}, tile % down * SIDE + warp * HIGH,
                    tile / down * SIDE, sum, patch);
    }
}
