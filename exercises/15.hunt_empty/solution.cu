// Sums of columns, as in "Two stages, and which phase", by two warps: thread 32 copies, warp 0 adds. A barrier of each stage
// says that it is full, another that it is empty. Launch blocks of 64 threads.
#include "common/boxes.cuh"
constexpr int STAGES = 2;

__global__ void streamed(const __grid_constant__ Maps<1> maps, float *out, int tiles)
{
    __shared__ __align__(128) float room[STAGES][32][32];
    __shared__ unsigned long long barriers[2 * STAGES];
    unsigned to = __cvta_generic_to_shared(room), full = __cvta_generic_to_shared(barriers);
    unsigned empty = full + STAGES * 8;
    if (threadIdx.x == 0) {
        for (int n = 0; n < STAGES; ++n)
            begin_barrier(full + n * 8, 1), begin_barrier(empty + n * 8, 32);
        show_barriers();
    }
    __syncthreads();
    if (threadIdx.x == 32)
        for (int tile = 0; tile < tiles; ++tile) {
            int stage = tile % STAGES, parity = tile / STAGES % 2;
            wait_for(empty + stage * 8, parity ^ 1);  // at first it is
            expect_bytes(full + stage * 8, sizeof room[0]);
            copy_box(to + stage * sizeof room[0], maps.of[0], 0, (blockIdx.x * tiles + tile) * 32,
                     0, full + stage * 8);
        }
    if (threadIdx.x >= 32) return;
    float sum = 0;
    for (int tile = 0; tile < tiles; ++tile) {
        int stage = tile % STAGES, parity = tile / STAGES % 2;
        wait_for(full + stage * 8, parity);
        // BEGIN
        for (int row = 0; row < 32; ++row) sum += room[stage][row][threadIdx.x];
        arrive(empty + stage * 8);
        // STUB arrive(empty + stage * 8);
        // STUB for (int row = 0; row < 32; ++row) sum += room[stage][row][threadIdx.x];
        // END
    }
    out[blockIdx.x * 32 + threadIdx.x] = sum;
}
