// The product of a matrix and few vectors: weights[n, k], x[rows, k] -> y[rows, n] = scales[n] * (weights x). Format
// says what the weights are (decode/formats.cuh); BYTES, which divide a row's, are what a lane reads of it at once.
// SCALED = 0: no scales. blocks: the scales of a format's blocks, n * k / BLOCK bytes. A warp for ROWS rows of weights: launch a grid of (n / (ROWS * WARPS), rows) blocks of WARPS
// warps.
// gemm/ reads a tile of weights for many rows of x. Here each weight is used once, so nothing but reading them counts:
// ROWS * UNROLL accesses of a lane are on their way before the first is used. x is small and stays in L1, and what a
// lane reads of it serves ROWS rows, so there is no shared memory and no barrier.
// Limit: memory: the weights once. Half the bytes, half the time.
#include "common/reduce.cuh"
#include "decode/formats.cuh"
using Format = Half;
using X = float;
using Out = float;
constexpr int BYTES = 16;
constexpr int X_PACK = 4;  // divides k and the weights of an access
constexpr int ROWS = 2;
constexpr int UNROLL = 4;
constexpr int WARPS = 4;
constexpr int SCALED = 1;

using Element = Format::Element;
using Group = Format::Group<BYTES>;
constexpr int EACH = BYTES / sizeof(Element) * Format::PER;  // weights a lane has of an access
constexpr int PART = Format::BLOCK && Format::BLOCK < EACH ? Format::BLOCK : EACH;

extern "C" __global__ __launch_bounds__(WARPS * 32) void thin(const Element *__restrict__ weights,
                                                              Out *y, long long n, long long k,
                                                              const X *__restrict__ x,
                                                              const float *__restrict__ scales,
                                                              const unsigned char *blocks)
{
    int lane = threadIdx.x % 32;
    long long row = (blockIdx.x * (long long)WARPS + threadIdx.x / 32) * ROWS;
    x += blockIdx.y * k, y += blockIdx.y * n;
    float sum[ROWS] = {};
    for (long long first = lane * EACH; first < k; first += UNROLL * 32 * EACH) {
        Group group[UNROLL][ROWS] = {};
#pragma unroll
        for (int u = 0; u < UNROLL; ++u)
#pragma unroll
            for (int r = 0; r < ROWS; ++r) {
                long long along = first + u * 32 * EACH, at = min(row + r, n - 1) * k + along;
                if (along < k)
                    group[u][r] = *reinterpret_cast<const Group *>(weights + at / Format::PER);
            }
#pragma unroll
        for (int u = 0; u < UNROLL; ++u) {
            long long at = first + u * 32 * EACH;
            if (at >= k) break;
            float of_x[EACH], number[EACH];
#pragma unroll
            for (int e = 0; e < EACH; e += X_PACK) {
                auto some = *reinterpret_cast<const Packed<X, X_PACK> *>(x + at + e);
#pragma unroll
                for (int i = 0; i < X_PACK; ++i) of_x[e + i] = float(some[i]);
            }
#pragma unroll
            for (int r = 0; r < ROWS; ++r) {
                group[u][r].widen(number);
#pragma unroll
                for (int e = 0; e < EACH; e += PART) {
                    float part = 0;
#pragma unroll
                    for (int i = e; i < e + PART; ++i) part += number[i] * of_x[i];
                    sum[r] += part * scale_of<Format>(blocks, min(row + r, n - 1) * k + at + e);
                }
            }
        }
    }
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
        float whole = warp_reduce(sum[r], [](float a, float b) { return a + b; });
        if (lane == 0 && row + r < n) y[row + r] = Out(SCALED ? whole * scales[row + r] : whole);
    }
}
