// Product of matrices: a[m, k] times b[k, n] -> c[m, n], a batch of them over blockIdx.z, `strides` apart.
// Either may lie transposed: neighbours in memory are along k (A_ALONG_K, B_ALONG_K) or across it. Packs
// divide the lines, their strides and the addresses. Launch a grid of (m / ROWS * n / COLUMNS, rounded up,
// splits, batch) blocks of 256 threads. Split p of k makes c[batch, p, m, n]: their sum is the product.
// Step 4: 16 bytes per load; the next tiles are fetched while these are multiplied; two of each in shared
// memory, so that one barrier does.
// Limit: the multiply-adds themselves.
#include "gemm/tiles.cuh"
using T = float;
using Acc = float;
using Out = float;
constexpr int A_ALONG_K = 1;
constexpr int B_ALONG_K = 0;
constexpr int A_PACK = 4;
constexpr int B_PACK = 4;
constexpr int C_PACK = 4;
constexpr int ROWS = 128;
constexpr int COLUMNS = 128;
constexpr int DEEP = 8;

struct Strides {
    long long a, b;  // from one line to the next
    long long a_batch, b_batch;
};

extern "C" __global__ __launch_bounds__(BLOCK, sizeof(Acc) == 4 ? 2 : 1) void packed(
    const T *__restrict__ a, const T *__restrict__ b, Out *c, long long m, long long n, long long k,
    Strides strides)
{
    long long tiles = (m + ROWS - 1) / ROWS;
    long long top = blockIdx.x % tiles * ROWS, left = blockIdx.x / tiles * COLUMNS;
    Share share(k, DEEP);
    Matrix<T, A_PACK, A_ALONG_K> of_a = {a + blockIdx.z * strides.a_batch, strides.a, share.end, m};
    Matrix<T, B_PACK, B_ALONG_K> of_b = {b + blockIdx.z * strides.b_batch, strides.b, share.end, n};
    Product<Out, Acc, C_PACK> product = {
        c + (blockIdx.z * (long long)gridDim.y + blockIdx.y) * m * n, m, n};
    multiply<ROWS, COLUMNS, DEEP, Acc>(of_a, of_b, product, top, left, share);
}
