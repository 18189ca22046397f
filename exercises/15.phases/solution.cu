// Sums of columns: out[block, c] is the sum of column c of the block's `tiles` tiles of 32 x 32 elements of x[rows, 32]. Two
// tiles have room: while one is added up, the next is on its way. Launch blocks of 32 threads.
#include "common/boxes.cuh"
constexpr int STAGES = 2;

__global__ void column_sums(const __grid_constant__ Maps<1> maps, float *out, int tiles)
{
    __shared__ __align__(128) float room[STAGES][32][32];
    __shared__ unsigned long long barriers[STAGES];
    unsigned to = __cvta_generic_to_shared(room), full = __cvta_generic_to_shared(barriers);
    auto fetch = [&](int tile) {  // into stage tile % STAGES, by thread 0
        if (threadIdx.x > 0) return;
        int stage = tile % STAGES, row = (blockIdx.x * tiles + tile) * 32;
        expect_bytes(full + stage * 8, sizeof room[0]);
        copy_box(to + stage * sizeof room[0], maps.of[0], 0, row, 0, full + stage * 8);
    };
    if (threadIdx.x == 0) {
        for (int stage = 0; stage < STAGES; ++stage) begin_barrier(full + stage * 8, 1);
        show_barriers();
    }
    __syncthreads();
    for (int tile = 0; tile < min(STAGES, tiles); ++tile) fetch(tile);
    float sum = 0;
    // BEGIN your loop: wait for a tile, add up its column threadIdx.x, fetch the tile after the next
    for (int tile = 0; tile < tiles; ++tile) {
        wait_for(full + tile % STAGES * 8, tile / STAGES % 2);
        for (int row = 0; row < 32; ++row) sum += room[tile % STAGES][row][threadIdx.x];
        __syncthreads();
        if (tile + STAGES < tiles) fetch(tile + STAGES);
    }
    // END
    out[blockIdx.x * 32 + threadIdx.x] = sum;
}
