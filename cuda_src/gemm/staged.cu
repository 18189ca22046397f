// Product of matrices of floats: a[m, k] times b[k, n] -> c[m, n], a batch of them over blockIdx.z, `strides` apart.
// Either may lie transposed: neighbours in memory are along k (A_ALONG_K, B_ALONG_K) or across it; where A_PIECE or
// B_PIECE is 16, 4 divides its lines, strides and place. Launch a grid of (m / ROWS * n / COLUMNS, rounded up, splits,
// batch) blocks of a warp for each WARP_ROWS x WARP_COLUMNS, with room for STAGES tiles. Split p of k makes
// c[batch, p, m, n]: their sum is the product.
// Step: tiles come by cp.async: no thread waits for them, or holds them in registers, and they may lie anywhere.
// Limit: the multiply-adds, and the instructions that begin copies of one float each.
#include "gemm/staged.cuh"
constexpr int A_ALONG_K = 1;
constexpr int B_ALONG_K = 0;
constexpr int A_PIECE = 4;  // bytes that are copied at once across k
constexpr int B_PIECE = 16;
constexpr int C_PACK = 4;
constexpr int ROWS = 128;
constexpr int COLUMNS = 128;
constexpr int DEEP = 16;
constexpr int STAGES = 3;
constexpr int WARP_ROWS = 64;
constexpr int WARP_COLUMNS = 64;
constexpr int BLOCKS = 2;  // on a multiprocessor

constexpr int THREADS = ROWS / WARP_ROWS * (COLUMNS / WARP_COLUMNS) * 32;

struct Strides {
    long long a, b;  // from one line to the next
    long long a_batch, b_batch;
};

extern "C" __global__ __launch_bounds__(THREADS, BLOCKS) void staged(const float *__restrict__ a,
                                                                     const float *__restrict__ b,
                                                                     float *c, long long m,
                                                                     long long n, long long k,
                                                                     Strides strides)
{
    long long tiles = (m + ROWS - 1) / ROWS;
    long long top = blockIdx.x % tiles * ROWS, left = blockIdx.x / tiles * COLUMNS;
    Share share(k, DEEP);
    Copier<A_ALONG_K, ROWS, DEEP, A_PIECE, THREADS> of_a(a, strides.a, strides.a_batch, top,
                                                         share.begin, m);
    Copier<B_ALONG_K, COLUMNS, DEEP, B_PIECE, THREADS> of_b(b, strides.b, strides.b_batch, left,
                                                            share.begin, n);
    Floats<C_PACK> product = {c + (blockIdx.z * (long long)gridDim.y + blockIdx.y) * m * n, m, n};
    multiply<ROWS, COLUMNS, DEEP, STAGES, WARP_ROWS, WARP_COLUMNS>(of_a, of_b, product, top, left,
                                                                   share);
}
