// Product of halves by any number of blocks, as in "Tile after tile". The third map is of c, in boxes of 16 x 64, as an array
// of three dimensions. Launch blocks of 384 threads, with STAGES * STAGE + 8 * PATCH_BYTES bytes of shared memory.
#include "common/stages.cuh"
#include "gemm/lines.cuh"
#include "gemm/pipeline.cuh"
constexpr int ROWS = 128, COLUMNS = 256, STAGES = 4;
constexpr int OF_A = ROWS * LINE, STAGE = OF_A + COLUMNS * LINE;  // bytes
constexpr int PATCH = HIGH * LINE;  // bytes of a box of c: a warp has two

// What a warp has of a tile, 16 rows from `top` on and 256 columns from `left` on, to c, by four boxes.
__device__ void store_sums(const Map &map, int top, int left, const float (&sum)[COLUMNS / 2],
                           unsigned char *patches)
{
    int lane = threadIdx.x % 32;
#pragma unroll
    for (int box = 0; box < 4; ++box) {
        unsigned char *patch = patches + box % 2 * PATCH;
        // BEGIN your lines: wait until this patch may be written
        wait_for_stores<1>();
        __syncwarp();
        // END
#pragma unroll
        for (int i = 0; i < 32; i += 2) {
            int row = lane / 4 + i / 2 % 2 * 8, chunk = i / 4;
            // BEGIN your line: chunk c of row r lies where the map of c will look for it
            unsigned char *place = patch + row * LINE + (chunk ^ row % 8) * CHUNK + lane % 4 * 4;
            // STUB unsigned char *place = patch + row * LINE + chunk * CHUNK + lane % 4 * 4;
            // END
            *reinterpret_cast<half2 *>(place) =
                __floats2half2_rn(sum[box * 32 + i], sum[box * 32 + i + 1]);
        }
        // BEGIN your lines: show it to the copies, and have one lane store it, once all have written
        show_stores();
        __syncwarp();
        if (lane == 0) store_box(map, left + box * 64, top, 0, __cvta_generic_to_shared(patch));
        // END
    }
}

__global__ __launch_bounds__(384, 1) void stored(const __grid_constant__ Maps<3> maps, int down,
                                                 int across, int steps)
{
    extern __shared__ __align__(1024) unsigned char tiles[];
    __shared__ __align__(8) unsigned long long barriers[2 * STAGES];
    Stages<STAGES> stages(__cvta_generic_to_shared(tiles), __cvta_generic_to_shared(barriers),
                          STAGE);
    int group = threadIdx.x / GROUP, warp = threadIdx.x / 32;
    if (threadIdx.x == 0) stages.prepare(1, 2), show_barriers();
    __syncthreads();
    if (group == 2) {
        give_registers<40>();
        if (threadIdx.x % GROUP) return;
        for (int tile = blockIdx.x; tile < down * across; tile += gridDim.x)
            for (int step = 0; step < steps; ++step, stages.advance()) {
                stages.expect();
                copy_lines<half, true, ROWS>(stages.tile(), maps.of[0], tile % down * ROWS, step, 0,
                                             stages.comes());
                copy_lines<half, false, COLUMNS>(stages.tile() + OF_A, maps.of[1],
                                                 tile / down * COLUMNS, step, 0, stages.comes());
            }
        return;
    }
    take_registers<232>();
    for (int tile = blockIdx.x; tile < down * across; tile += gridDim.x) {
        float sum[COLUMNS / 2];
        for (int step = 0; step < steps; ++step) {
            stages.await();
            multiply_stage<half, true, false>(sum, stages.tile() + group * GROUP_ROWS * LINE,
                                              stages.tile() + OF_A, step > 0);
            wait_for_products<0>();
            stages.leave();
        }
        store_sums(maps.of[2], tile % down * ROWS + warp * HIGH, tile / down * COLUMNS, sum,
                   tiles + STAGES * STAGE + warp * 2 * PATCH);
    }
    // BEGIN your line: shared memory goes with the block
    wait_for_stores<0>();
    // END
}
