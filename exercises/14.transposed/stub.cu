// a[64, 64] times b[64, 64] -> c[64, 64], a product for each block of 128 threads.
#include "gemm/tensor.cuh"
constexpr int SIDE = 64;

// Where chunk 0 to 7 of a line begins, in bytes.
__device__ int place(int line, int chunk) { return line * LINE + (chunk ^ line % 8) * CHUNK; }

__global__ void transposed(const half *a, const half *b, float *c)
{
    __shared__ __align__(LINE) unsigned char tile_a[SIDE * LINE], tile_b[SIDE * LINE];
    unsigned shared_a = __cvta_generic_to_shared(tile_a);
    unsigned shared_b = __cvta_generic_to_shared(tile_b);
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    long long first = blockIdx.x * (long long)SIDE * SIDE;
    for (int i = threadIdx.x; i < SIDE * CHUNKS; i += 128) {
        int to = place(i / CHUNKS, i % CHUNKS);
        *reinterpret_cast<uint4 *>(tile_a + to) = reinterpret_cast<const uint4 *>(a + first)[i];
        *reinterpret_cast<uint4 *>(tile_b + to) = reinterpret_cast<const uint4 *>(b + first)[i];
    }
    __syncthreads();
    float sum[8][4] = {};  // of columns 8 s to 8 s + 7
#pragma unroll
    for (int step = 0; step < SIDE; step += 16) {
        unsigned p[4];
        load_matrices<false>(p, shared_a + place(warp * 16 + lane % 16, step / 8 + lane / 16));
        // your lines: load 16 x 16 of b, and multiply twice; four times
    }
    for (int s = 0; s < 8; ++s)
        for (int e = 0; e < 4; ++e)
            c[first + (warp * 16 + lane / 4 + e / 2 * 8) * SIDE + s * 8 + lane % 4 * 2 + e % 2] =
                sum[s][e];
}
