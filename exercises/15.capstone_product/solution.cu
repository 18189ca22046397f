// Products of rows: a[m, k] times b[n, k], both by rows -> c[m, n], floats. The maps are of a and b as arrays of three
// dimensions, the first of size 1, in boxes of 64 rows and 64 halves, swizzled in 128 bytes. Launch (n / 64, m / 64) blocks,
// rounded up, of THREADS threads.
#include "common/boxes.cuh"
#include "gemm/tensor.cuh"
#include "gemm/warpgroup.cuh"
// BEGIN your design
constexpr int THREADS = 256;
// STUB constexpr int THREADS = 128;
// END

__global__ void rows_product(const __grid_constant__ Maps<2> maps, float *c, int m, int n, int k)
{
    // BEGIN your lines
    constexpr int STAGES = 2, TILE = 64 * LINE, DEEP = 64;
    __shared__ __align__(1024) char room[STAGES * 2 * TILE];
    __shared__ unsigned long long barriers[2 * STAGES];
    unsigned begin = __cvta_generic_to_shared(room), full = __cvta_generic_to_shared(barriers);
    unsigned empty = full + STAGES * 8;
    int steps = (k + DEEP - 1) / DEEP, left = blockIdx.x * 64, top = blockIdx.y * 64;
    if (threadIdx.x == 0) {
        for (int i = 0; i < STAGES; ++i)
            begin_barrier(full + i * 8, 1), begin_barrier(empty + i * 8, 1);
        show_barriers();
    }
    __syncthreads();
    if (threadIdx.x >= GROUP) {
        if (threadIdx.x > GROUP) return;
        for (int step = 0; step < steps; ++step) {
            int stage = step % STAGES, parity = step / STAGES % 2;
            unsigned to = begin + stage * 2 * TILE;
            wait_for(empty + stage * 8, parity ^ 1);
            expect_bytes(full + stage * 8, 2 * TILE);
            copy_box(to, maps.of[0], step * DEEP, top, 0, full + stage * 8);
            copy_box(to + TILE, maps.of[1], step * DEEP, left, 0, full + stage * 8);
        }
        return;
    }
    float sum[32] = {};
    for (int step = 0; step < steps; ++step) {
        int stage = step % STAGES;
        unsigned a = begin + stage * 2 * TILE, b = a + TILE;
        wait_for(full + stage * 8, step / STAGES % 2);
        begin_products();
        for (int i = 0; i < LINE / STEP; ++i)
            multiply_add<true, true>(sum, described(a + i * STEP, TILE),
                                     described(b + i * STEP, TILE), true, half());
        close_products();
        wait_for_products<0>();
        asm volatile("bar.sync 1, 128;");  // of this warpgroup
        if (threadIdx.x == 0) arrive(empty + stage * 8);
    }
    int lane = threadIdx.x % 32, row = top + threadIdx.x / 32 * 16 + lane / 4;
    for (int i = 0; i < 32; ++i) {
        int r = row + i / 2 % 2 * 8, column = left + i / 4 * 8 + lane % 4 * 2 + i % 2;
        if (r < m && column < n) c[(long long)r * n + column] = sum[i];
    }
    // END
}
