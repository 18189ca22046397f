// Product of matrices of halves by a warpgroup, for GPUs of compute capability 9.0: a[m, k] times b[k, n] -> c[m, n]. maps:
// of a in boxes of ROWS x 64, of b in boxes of 64 x 64, as 3-dimensional arrays whose first axis is 1. Launch a grid of
// (m / ROWS, n / COLUMNS, both rounded up) blocks of 128 threads, with (ROWS + COLUMNS) * 128 + ROWS / 16 * PATCH_BYTES
// bytes of shared memory; `steps` is k / 64, rounded up. ROWS is 64.
// Step: one thread has the tiles copied, no thread computes an address; a warpgroup multiplies them where they lie.
// Limit: copies and products take turns.
#include "gemm/lines.cuh"
#include "gemm/pipeline.cuh"
using T = half;
constexpr int C_PACK = 8;
constexpr int ROWS = 64;
constexpr int COLUMNS = 128;

extern "C" __global__ __launch_bounds__(GROUP) void boxes(const __grid_constant__ Maps<2> maps,
                                                          T *c, long long m, long long n, int steps)
{
    constexpr int OF_A = ROWS * LINE, STAGE = OF_A + COLUMNS * LINE;
    extern __shared__ __align__(1024) unsigned char stage[];
    __shared__ __align__(8) unsigned long long barrier;
    unsigned a = __cvta_generic_to_shared(stage), full = __cvta_generic_to_shared(&barrier);
    int top = blockIdx.x * ROWS, left = blockIdx.y * COLUMNS, warp = threadIdx.x / 32;
    if (threadIdx.x == 0) begin_barrier(full, 1), show_barriers();
    __syncthreads();
    float sum[COLUMNS / 2] = {};
    for (int step = 0; step < steps; ++step) {
        if (threadIdx.x == 0) {
            expect_bytes(full, STAGE);
            copy_lines<T, true, ROWS>(a, maps.of[0], top, step, 0, full);
            copy_lines<T, false, COLUMNS>(a + OF_A, maps.of[1], left, step, 0, full);
        }
        wait_for(full, step % 2);
        multiply_stage<T, true, false>(sum, a, a + OF_A, true);
        wait_for_products<0>();
        __syncthreads();  // all have read it: the next copy may begin
    }
    float *patch = reinterpret_cast<float *>(stage + STAGE + warp * PATCH_BYTES);
    store<COLUMNS>(Product<T, float, C_PACK>{c, m, n}, top + warp * HIGH, left, sum, patch);
}
