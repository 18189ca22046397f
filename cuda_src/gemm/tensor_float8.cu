// Product of matrices of 8-bit floats by tensor cores that may not know them: as gemm/tensor.cu, of a and b that both
// lie along k, times their scales: c = a * b * *scales.a * *scales.b.
// Step: what has come by cp.async is widened to halves in registers, just before it is multiplied.
// Limit: the rate of mma.sync of halves; memory moves half as much for it.
#include "gemm/scaled.cuh"
#include "gemm/widened.cuh"
using T = e4m3;
using Acc = float;
using Out = half;
constexpr int C_PACK = 8;
constexpr int ROWS = 128;
constexpr int COLUMNS = 256;
constexpr int WARP_ROWS = 64;
constexpr int WARP_COLUMNS = 64;
constexpr int STAGES = 4;
constexpr int BLOCKS = 1;  // on a multiprocessor

constexpr int BLOCK = ROWS / WARP_ROWS * (COLUMNS / WARP_COLUMNS) * 32;

struct Strides {
    long long a, b;  // from one line to the next
    long long a_batch, b_batch;
};

extern "C" __global__ __launch_bounds__(BLOCK, BLOCKS) void tensor_float8(
    const T *__restrict__ a, const T *__restrict__ b, Out *c, long long m, long long n, long long k,
    Strides strides, Scales scales)
{
    int down = (m + ROWS - 1) / ROWS, z = blockIdx.z;
    long long top = blockIdx.x % down * (long long)ROWS;
    long long left = blockIdx.x / down * (long long)COLUMNS;
    long long tiles = (k + LINE - 1) / LINE, each = (tiles + gridDim.y - 1) / gridDim.y * LINE;
    long long begin = min(k, blockIdx.y * each), depth = min(k - begin, each);
    a += z * strides.a_batch + top * strides.a + begin;
    b += z * strides.b_batch + left * strides.b + begin;
    Lines<T, true, ROWS, BLOCK, false> of_a(a, strides.a, m - top);
    Lines<T, true, COLUMNS, BLOCK, false> of_b(b, strides.b, n - left);
    ScaledProduct<Out, C_PACK> product = {
        {c + (z * (long long)gridDim.y + blockIdx.y) * m * n, m, n}, scales.factor()};
    multiply<WARP_ROWS, WARP_COLUMNS, STAGES, Acc>(of_a, of_b, product, top, left, depth);
}
