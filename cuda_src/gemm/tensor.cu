// Product of matrices by tensor cores: a[m, k] times b[k, n] -> c[m, n], a batch of them over blockIdx.z,
// `strides` apart. Either may lie transposed: neighbours in memory are along k (A_ALONG_K, B_ALONG_K) or across
// it; elements that are no 16 bits need both along k. Lines, strides and addresses are multiples of BYTES (4, 8 or 16),
// c's of C_PACK elements. WHOLE: ROWS, COLUMNS and 128 bytes divide m, n and k. Launch a grid of
// (m / ROWS * n / COLUMNS, rounded up, splits, batch) blocks of a warp for each WARP_ROWS x WARP_COLUMNS, with
// STAGES * (ROWS + COLUMNS) * 128 bytes of shared memory. Split p of k makes c[batch, p, m, n].
// Step: all of it at once: tiles come in STAGES by cp.async, in an order without conflicts of banks; fragments
// of one step are loaded while the last step's are multiplied; blocks that run together share what is in L2.
// Limit: the rate of mma.sync, 0.63 of what these tensor cores can do.
#include "gemm/tensor.cuh"
using T = half;
using Acc = float;
using Out = half;
constexpr int A_ALONG_K = 1;
constexpr int B_ALONG_K = 0;
constexpr int C_PACK = 8;
constexpr int WHOLE = 0;
constexpr int BYTES = 16;
constexpr int ROWS = 128;
constexpr int COLUMNS = 256;
constexpr int WARP_ROWS = 64;
constexpr int WARP_COLUMNS = 64;
constexpr int STAGES = 4;
constexpr int BLOCKS = 1;  // on a multiprocessor

constexpr int BLOCK = ROWS / WARP_ROWS * (COLUMNS / WARP_COLUMNS) * 32, DEEP = LINE / sizeof(T);
constexpr int GROUP = 16;  // tiles

struct Strides {
    long long a, b;  // from one line to the next
    long long a_batch, b_batch;
};

extern "C" __global__ __launch_bounds__(BLOCK, BLOCKS) void tensor(const T *__restrict__ a,
                                                                   const T *__restrict__ b, Out *c,
                                                                   long long m, long long n,
                                                                   long long k, Strides strides)
{
    // The tiles of GROUP lines of tiles come before the next lines: what blocks that run
    // together read is about as high as wide.
    unsigned down = (m + ROWS - 1) / ROWS, across = (n + COLUMNS - 1) / COLUMNS;
    unsigned group = blockIdx.x / (GROUP * across), place = blockIdx.x % (GROUP * across);
    unsigned high = min(GROUP, down - group * GROUP);
    long long top = (group * GROUP + place % high) * (long long)ROWS;
    long long left = place / high * (long long)COLUMNS;
    long long tiles = (k + DEEP - 1) / DEEP, each = (tiles + gridDim.y - 1) / gridDim.y * DEEP;
    long long begin = min(k, blockIdx.y * each), depth = min(k - begin, each);

    a += blockIdx.z * strides.a_batch +
         (A_ALONG_K ? top * strides.a + begin : begin * strides.a + top);
    b += blockIdx.z * strides.b_batch +
         (B_ALONG_K ? left * strides.b + begin : begin * strides.b + left);
    Lines<T, A_ALONG_K, ROWS, BLOCK, WHOLE, BYTES> of_a(a, strides.a, m - top);
    Lines<T, B_ALONG_K, COLUMNS, BLOCK, WHOLE, BYTES> of_b(b, strides.b, n - left);
    Product<Out, Acc, C_PACK> product = {
        c + (blockIdx.z * (long long)gridDim.y + blockIdx.y) * m * n, m, n};
    multiply<WARP_ROWS, WARP_COLUMNS, STAGES, Acc>(of_a, of_b, product, top, left, depth);
}
