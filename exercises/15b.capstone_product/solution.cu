// Product of halves: a[m, k] times b[k, n] -> c[m, n], all by rows, 8 divides n and k. The maps are of a in boxes of ROWS x
// 64, of b in boxes of 64 x 64, of c in boxes of 16 x 64. Launch any number of blocks of THREADS threads, with SHARED bytes of
// shared memory. steps: k / 64, rounded up.
#include "common/stages.cuh"
#include "gemm/lines.cuh"
#include "gemm/pipeline.cuh"
// BEGIN your design
constexpr int ROWS = 128;
constexpr int COLUMNS = 256;
constexpr int THREADS = 384;
constexpr int SHARED = 229376;
// STUB constexpr int ROWS = 64;
// STUB constexpr int COLUMNS = 64;
// STUB constexpr int THREADS = 128;
// STUB constexpr int SHARED = 49152;
// END

__global__ __launch_bounds__(THREADS, 1) void level(const __grid_constant__ Maps<3> maps, half *c,
                                                    long long m, long long n, int steps)
{
    // BEGIN your lines
    constexpr int STAGES = 4, OF_A = ROWS * LINE, STAGE = OF_A + COLUMNS * LINE;
    extern __shared__ __align__(1024) unsigned char room[];
    __shared__ __align__(8) unsigned long long barriers[2 * STAGES];
    Stages<STAGES> stages(__cvta_generic_to_shared(room), __cvta_generic_to_shared(barriers),
                          STAGE);
    Tiles<ROWS, COLUMNS> tiles(m, n, steps, 1, 1);
    int group = threadIdx.x / GROUP, warp = threadIdx.x / 32;
    if (threadIdx.x == 0) stages.prepare(1, 2), show_barriers();
    __syncthreads();
    if (group == 2) {
        give_registers<40>();
        if (threadIdx.x % GROUP) return;
        for (int number = blockIdx.x; number < tiles.count; number += gridDim.x) {
            Tile tile = tiles(number);
            for (int step = 0; step < steps; ++step, stages.advance()) {
                unsigned to = stages.tile(), barrier = stages.comes();
                stages.expect();
                copy_lines<half, true, ROWS>(to, maps.of[0], tile.top, step, 0, barrier);
                copy_lines<half, false, COLUMNS>(to + OF_A, maps.of[1], tile.left, step, 0,
                                                 barrier);
            }
        }
        return;
    }
    take_registers<232>();
    for (int number = blockIdx.x; number < tiles.count; number += gridDim.x) {
        Tile tile = tiles(number);
        float sum[COLUMNS / 2];
        unsigned before = 0;
        for (int step = 0; step < steps; ++step, stages.advance()) {
            unsigned at = stages.tile();
            stages.await();
            multiply_stage<half, true, false>(sum, at + group * GROUP_ROWS * LINE, at + OF_A,
                                              step > 0);
            wait_for_products<1>();  // of the stage before: it is empty
            if (step > 0 && threadIdx.x % GROUP == 0) arrive(before);
            before = stages.goes();
        }
        wait_for_products<0>();
        if (threadIdx.x % GROUP == 0) arrive(before);
        store_boxes<COLUMNS>(Product<half, float, 8>{c, m, n}, maps.of[2], tile.top + warp * HIGH,
                             tile.left, 0, sum, room + STAGES * STAGE + warp * PATCH_BYTES);
    }
    wait_for_stores<0>();
    // END
}
