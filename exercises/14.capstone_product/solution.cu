// a[m, k] times b[k, n] -> c[m, n], halves, 8 divides n and k. Launch (n / COLUMNS, m / ROWS) blocks, rounded up, of
// THREADS threads.
#include "gemm/tensor.cuh"
// BEGIN your design
constexpr int ROWS = 64;
constexpr int COLUMNS = 64;
constexpr int THREADS = 128;
// STUB constexpr int ROWS = 16;
// STUB constexpr int COLUMNS = 8;
// STUB constexpr int THREADS = 32;
// END

// BEGIN
constexpr int DEEP = 64, STAGES = 2, TILE = 64 * LINE;

__device__ unsigned place(int line, int chunk)
{ return line * LINE + (chunk ^ line % CHUNKS) * CHUNK; }

// 64 lines of 64 halves, zeros past the edges of x: `lines` lines of `length`.
__device__ void fetch(unsigned tile, const half *x, int lines, int length, int top, int left)
{
    for (int i = threadIdx.x; i < 64 * CHUNKS; i += THREADS) {
        int line = top + i / CHUNKS, along = left + i % CHUNKS * 8;
        bool inside = line < lines && along < length;
        const half *from = inside ? x + line * (long long)length + along : x;
        copy_async(tile + place(i / CHUNKS, i % CHUNKS), from, inside ? CHUNK : 0);
    }
}

// END
__global__ void halves_product(const half *a, const half *b, half *c, int m, int n, int k)
{
    // BEGIN and your lines
    __shared__ __align__(LINE) unsigned char tiles[STAGES][2][TILE];
    unsigned room = __cvta_generic_to_shared(tiles);
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    int y = warp / 2 * 32, x = warp % 2 * 32, top = blockIdx.y * ROWS, left = blockIdx.x * COLUMNS;
    auto stage = [&](int first) {
        unsigned tile = room + first / DEEP % STAGES * 2 * TILE;
        if (first < k) {
            fetch(tile, a, m, k, top, first);
            fetch(tile + TILE, b, k, n, first, left);
        }
        close_group();
    };
    float sum[2][4][4] = {};
    stage(0);
    for (int first = 0; first < k; first += DEEP) {
        stage(first + DEEP);
        wait_for_groups<1>();
        __syncthreads();
        unsigned tile = room + first / DEEP % STAGES * 2 * TILE;
#pragma unroll
        for (int step = 0; step < DEEP; step += 16) {
            unsigned p[2][4], q[2][4];
#pragma unroll
            for (int e = 0; e < 2; ++e) {
                int line = lane % 16, half = lane / 16;
                load_matrices<false>(p[e], tile + place(y + e * 16 + line, step / 8 + half));
                load_matrices<true>(q[e], tile + TILE + place(step + line, x / 8 + e * 2 + half));
            }
#pragma unroll
            for (int r = 0; r < 2; ++r)
#pragma unroll
                for (int s = 0; s < 4; ++s)
                    multiply_add(sum[r][s], p[r], q[s / 2] + s % 2 * 2, __half());
        }
        __syncthreads();
    }
#pragma unroll
    for (int r = 0; r < 2; ++r)
#pragma unroll
        for (int s = 0; s < 4; ++s)
#pragma unroll
            for (int e = 0; e < 4; ++e) {
                int row = top + y + r * 16 + e / 2 * 8 + lane / 4;
                int column = left + x + s * 8 + lane % 4 * 2 + e % 2;
                if (row < m && column < n) c[row * (long long)n + column] = half(sum[r][s][e]);
            }
    // END
}
