// Product of halves, as in "Two consumers", by any number of blocks. number[r * across + s] becomes the number of the tile in
// row r and column s of `down` x `across` tiles: blocks make tile 0, 1, 2, ... Launch blocks of 384 threads, with STAGES *
// STAGE + 8 * PATCH_BYTES bytes of shared memory.
#include "common/stages.cuh"
#include "gemm/lines.cuh"
#include "gemm/pipeline.cuh"
constexpr int ROWS = 128, COLUMNS = 256, STAGES = 4, BAND = 16;
constexpr int OF_A = ROWS * LINE, STAGE = OF_A + COLUMNS * LINE;  // bytes

// Row and column of a tile, in tiles. BAND rows of tiles come before those below them; in these, the tiles of a column lie
// next to each other.
__device__ int2 place_of(int tile, int down, int across)
{
    // BEGIN your lines
    int band = tile / (BAND * across), place = tile % (BAND * across);
    int high = min(BAND, down - band * BAND);
    return {band * BAND + place % high, place / high};
    // STUB return {tile / across, tile % across};
    // END
}

__global__ __launch_bounds__(384, 1) void persistent(const __grid_constant__ Maps<2> maps, half *c,
                                                     int *number, long long m, long long n,
                                                     int steps)
{
    extern __shared__ __align__(1024) unsigned char tiles[];
    __shared__ __align__(8) unsigned long long barriers[2 * STAGES];
    Stages<STAGES> stages(__cvta_generic_to_shared(tiles), __cvta_generic_to_shared(barriers),
                          STAGE);
    int down = (m + ROWS - 1) / ROWS, across = (n + COLUMNS - 1) / COLUMNS;
    int group = threadIdx.x / GROUP, warp = threadIdx.x / 32;
    float *patch = reinterpret_cast<float *>(tiles + STAGES * STAGE + warp * PATCH_BYTES);
    if (threadIdx.x == 0) stages.prepare(1, 2), show_barriers();
    __syncthreads();
    if (group == 2) {
        give_registers<40>();
        if (threadIdx.x % GROUP) return;
        // BEGIN the producer: copy the steps of one tile after the steps of the other
        for (int tile = blockIdx.x; tile < down * across; tile += gridDim.x) {
            int2 place = place_of(tile, down, across);
            for (int step = 0; step < steps; ++step, stages.advance()) {
                stages.expect();
                copy_lines<half, true, ROWS>(stages.tile(), maps.of[0], place.x * ROWS, step, 0,
                                             stages.comes());
                copy_lines<half, false, COLUMNS>(stages.tile() + OF_A, maps.of[1],
                                                 place.y * COLUMNS, step, 0, stages.comes());
            }
        }
        // END
        return;
    }
    take_registers<232>();
    // BEGIN the consumers: multiply the steps of a tile, store its sums, and go on with the next
    for (int tile = blockIdx.x; tile < down * across; tile += gridDim.x) {
        int2 place = place_of(tile, down, across);
        float sum[COLUMNS / 2];
        for (int step = 0; step < steps; ++step) {
            stages.await();
            multiply_stage<half, true, false>(sum, stages.tile() + group * GROUP_ROWS * LINE,
                                              stages.tile() + OF_A, step > 0);
            wait_for_products<0>();
            stages.leave();
        }
        store<COLUMNS>(Product<half, float, 8>{c, m, n}, place.x * ROWS + warp * HIGH,
                       place.y * COLUMNS, sum, patch);
        if (threadIdx.x == 0) number[place.x * across + place.y] = tile;
    }
    // END
}
