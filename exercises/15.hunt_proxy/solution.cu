// Products of rows: a[64 blocks, 64] times b[64, 64], both by rows -> c[64 blocks, 64]. Launch blocks of 128 threads, one
// warpgroup: 64 rows of a each.
#include "common/boxes.cuh"
#include "gemm/tensor.cuh"
#include "gemm/warpgroup.cuh"

__global__ void group_products(const uint4 *a, const uint4 *b, float *c)
{
    __shared__ __align__(1024) uint4 tile_a[64 * CHUNKS], tile_b[64 * CHUNKS];
    for (int i = threadIdx.x; i < 64 * CHUNKS; i += GROUP) {
        int line = i / CHUNKS, place = line * CHUNKS + (i % CHUNKS ^ line % CHUNKS);
        tile_a[place] = a[blockIdx.x * 64 * CHUNKS + i];
        tile_b[place] = b[i];
    }
    // BEGIN
    show_stores();
    // END
    __syncthreads();
    float sum[32];
    unsigned of_a = __cvta_generic_to_shared(tile_a), of_b = __cvta_generic_to_shared(tile_b);
    begin_products();
    for (int n = 0; n < LINE / STEP; ++n)
        multiply_add<true, true>(sum, described(of_a + n * STEP, 64 * LINE),
                                 described(of_b + n * STEP, 64 * LINE), n > 0, half());
    close_products();
    wait_for_products<0>();
    int lane = threadIdx.x % 32, row = blockIdx.x * 64 + threadIdx.x / 32 * 16 + lane / 4;
    for (int i = 0; i < 32; ++i)
        c[(row + i / 2 % 2 * 8) * 64 + i / 4 * 8 + lane % 4 * 2 + i % 2] = sum[i];
}
