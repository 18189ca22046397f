// Weighted sums of rows: x[rows, 32] times weights[32] -> out[rows]. The map has boxes of 32 rows, swizzled in 128 bytes.
// Launch rows / 32 blocks, rounded up, of 32 threads: a thread for each row.
#include "common/boxes.cuh"

// Where chunk 0 to 7 of a row lies in the tile, counted in chunks of 16 bytes.
__device__ int place(int row, int chunk)
{
    // BEGIN your line
    return row * 8 + (chunk ^ row % 8);
    // STUB return row * 8 + chunk;
    // END
}

__global__ void row_sums(const __grid_constant__ Maps<1> maps, const float4 *weights, float *out,
                         int rows)
{
    __shared__ __align__(1024) float4 tile[32 * 8];
    __shared__ unsigned long long room;
    unsigned to = __cvta_generic_to_shared(tile), barrier = __cvta_generic_to_shared(&room);
    if (threadIdx.x == 0) {
        begin_barrier(barrier, 1);
        show_barriers();
        expect_bytes(barrier, sizeof tile);
        copy_box(to, maps.of[0], 0, blockIdx.x * 32, 0, barrier);
    }
    __syncthreads();
    wait_for(barrier, 0);
    float sum = 0;
    for (int chunk = 0; chunk < 8; ++chunk) {
        float4 v = tile[place(threadIdx.x, chunk)], w = weights[chunk];
        sum += v.x * w.x + v.y * w.y + v.z * w.z + v.w * w.w;
    }
    int row = blockIdx.x * 32 + threadIdx.x;
    if (row < rows) out[row] = sum;
}
