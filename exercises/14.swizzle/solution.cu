// Fragments of x, 64 lines of 128 bytes for each block of 128 threads: out[blocks, 4 warps, 4 steps, 4, 32 lanes].
#include "gemm/tensor.cuh"
constexpr int LINES = 64;

// Where chunk 0 to 7 of a line begins, in bytes.
__device__ int place(int line, int chunk)
{
    // BEGIN your line
    return line * LINE + (chunk ^ line % CHUNKS) * CHUNK;
    // STUB return line * LINE + chunk * CHUNK;
    // END
}

__global__ void swizzled(const uint4 *x, unsigned *out)
{
    __shared__ __align__(LINE) unsigned char tile[LINES * LINE];
    unsigned shared = __cvta_generic_to_shared(tile);
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    x += blockIdx.x * LINES * 8LL, out += (blockIdx.x * 4LL + warp) * 512;
    for (int i = threadIdx.x; i < LINES * CHUNKS; i += 128)
        *reinterpret_cast<uint4 *>(tile + place(i / CHUNKS, i % CHUNKS)) = x[i];
    __syncthreads();
    for (int step = 0; step < 4; ++step) {
        unsigned p[4];
        load_matrices<false>(p, shared + place(warp * 16 + lane % 16, step * 2 + lane / 16));
        for (int r = 0; r < 4; ++r) out[(step * 4 + r) * 32 + lane] = p[r];
    }
}
