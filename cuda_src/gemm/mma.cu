// Product of matrices by tensor cores: a[m, k] times b[k, n] -> c[m, n], a batch of them over blockIdx.z. PACK
// divides k and n; a and b are aligned to it. Launch a grid of (n / TILE, m / TILE, batch) blocks, rounded up, of
// 128 threads.
// Step 7: the same with the instructions themselves: a lane knows which elements it holds, `ldmatrix` brings
// four 8 x 8 matrices at once, 16 bytes of a line each, and loads from global memory are packs.
// Lines of 128 bytes begin in the same bank, so the eight that make a matrix conflict: PADDING (bytes) moves each
// line on; SWIZZLED keeps them as long as they are, and puts chunk c of line l at place c ^ l % 8.
// Limit: nothing is multiplied while the next tiles are on their way.
#include "gemm/tensor.cuh"
using T = half;
using Acc = float;
constexpr int PACK = 8;
constexpr int PADDING = 0;
constexpr int SWIZZLED = 0;

constexpr int TILE = 64, DEEP = 64, BLOCK = 128,
              EACH = 2;  // EACH: 16 x 16 parts of a warp, either way
constexpr int LENGTH = LINE + PADDING;

// Where element `i` of a tile's line lies, in bytes.
__device__ int place(int line, int i)
{
    int chunk = i * int(sizeof(T)) / CHUNK, within = i * int(sizeof(T)) % CHUNK;
    return line * LENGTH + (SWIZZLED ? chunk ^ line % 8 : chunk) * CHUNK + within;
}

// Fetch 64 x 64 elements of x, `lines` lines of `length`.
__device__ void fetch(unsigned char *tile, const T *x, long long lines, long long length,
                      long long top, long long left)
{
    for (int i = threadIdx.x * PACK; i < TILE * DEEP; i += BLOCK * PACK) {
        int line = i / DEEP, along = i % DEEP;
        Packed<T, PACK> pack = {};
        const T *from = x + (top + line) * length + left + along;
        if (top + line < lines && left + along < length)
            pack = *reinterpret_cast<const Packed<T, PACK> *>(from);
        *reinterpret_cast<Packed<T, PACK> *>(tile + place(line, along)) = pack;
    }
}

extern "C" __global__ __launch_bounds__(BLOCK) void mma(const T *__restrict__ a,
                                                        const T *__restrict__ b, T *c, long long m,
                                                        long long n, long long k)
{
    __shared__ __align__(LINE) unsigned char tile_a[TILE * LENGTH], tile_b[DEEP * LENGTH];
    unsigned shared_a = __cvta_generic_to_shared(tile_a),
             shared_b = __cvta_generic_to_shared(tile_b);
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    int y = warp / 2 * EACH * 16, x = warp % 2 * EACH * 16;
    long long top = blockIdx.y * (long long)TILE, left = blockIdx.x * (long long)TILE;
    a += blockIdx.z * m * k, b += blockIdx.z * k * n, c += blockIdx.z * m * n;
    Acc sum[EACH][2 * EACH][4] = {};
    for (long long first = 0; first < k; first += DEEP) {
        fetch(tile_a, a, m, k, top, first);
        fetch(tile_b, b, k, n, first, left);
        __syncthreads();  // the tiles are written
#pragma unroll
        for (int step = 0; step < DEEP; step += 16) {
            unsigned p[EACH][4], q[EACH][4];
#pragma unroll
            for (int e = 0; e < EACH; ++e) {
                // Of each the upper left matrix, then below it, then to the right.
                int line = lane % 16, along = lane / 16 * 8;
                load_matrices<false>(p[e], shared_a + place(y + e * 16 + line, step + along));
                load_matrices<true>(q[e], shared_b + place(step + line, x + e * 16 + along));
            }
#pragma unroll
            for (int r = 0; r < EACH; ++r)
#pragma unroll
                for (int s = 0; s < 2 * EACH; ++s)
                    multiply_add(sum[r][s], p[r], q[s / 2] + s % 2 * 2, T());
        }
        __syncthreads();  // and read: the next ones may take their place
    }
#pragma unroll
    for (int r = 0; r < EACH; ++r)
#pragma unroll
        for (int s = 0; s < 2 * EACH; ++s)
#pragma unroll
            for (int e = 0; e < 4; ++e) {
                long long row = top + y + r * 16 + e / 2 * 8 + lane / 4;
                long long column = left + x + s * 8 + lane % 4 * 2 + e % 2;
                if (row < m && column < n) c[row * n + column] = T(sum[r][s][e]);
            }
}
