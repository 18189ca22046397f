// The product of a matrix and few vectors: weights[n, k], x[rows, k] -> y[rows, n] = scales[n] * (weights x). Format
// says what the weights are (decode/formats.cuh); BYTES, which divide a row's, are what a lane reads of it at once.
// SCALED = 0: no scales. blocks: the scales of a format's blocks, n * k / BLOCK bytes, aligned to an access's. A warp
// for ROWS rows of weights: launch a grid of (n / (ROWS * WARPS), rows) blocks of WARPS warps.
// gemm/ reads a tile of weights for many rows of x. Here each weight is used once, so nothing but reading them counts.
// A lane has ROWS * UNROLL accesses on their way, and asks for the next one when it has used one. x is small and stays
// in L1, and what a lane reads of it serves ROWS rows, so there is no shared memory and no barrier.
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
using Size = unsigned long long;
constexpr int EACH = BYTES / sizeof(Element) * Format::PER;  // weights of an access
constexpr int STRIDE = 32 * EACH, THREADS = 32 * WARPS;

// A lane's access to a row: weights, and the scales of their blocks.
struct Access {
    Format::Group<BYTES> group;
    BlockScales<Format, EACH> scales;
    __device__ void load(const Element *row, const unsigned char *blocks, Size at)
    {
        group = *reinterpret_cast<const Format::Group<BYTES> *>(row + at / Format::PER);
        scales.load(blocks, at);
    }
    __device__ float times(const float *x) const
    {
        float number[EACH], sum = 0;
        group.widen(number);
#pragma unroll
        for (int e = 0; e < EACH; e += scales.SHARE) {
            float part = 0;
#pragma unroll
            for (int i = e; i < e + scales.SHARE; ++i) part += number[i] * x[i];
            sum += part * scales.of(e);
        }
        return sum;
    }
};

extern "C" __global__ __launch_bounds__(THREADS) void thin(const Element *__restrict__ weights,
                                                           Out *y, long long n, Size k,
                                                           const X *__restrict__ x,
                                                           const float *__restrict__ scales,
                                                           const unsigned char *__restrict__ blocks)
{
    int lane = threadIdx.x % 32;
    long long row = (blockIdx.x * (long long)WARPS + threadIdx.x / 32) * ROWS;
    x += blockIdx.y * k, y += blockIdx.y * n;
    float sum[ROWS] = {}, scale[ROWS];
    Access access[UNROLL][ROWS] = {};
    auto load = [&](int u, Size at) {
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
            Size begin = min(row + r, n - 1) * k;
            if (at < k)
                access[u][r].load(weights + begin / Format::PER,
                                  blocks + begin / BlockScales<Format, EACH>::BLOCK, at);
        }
    };
#pragma unroll
    for (int u = 0; u < UNROLL; ++u) load(u, lane * EACH + u * STRIDE);
#pragma unroll
    for (int r = 0; r < ROWS; ++r) scale[r] = SCALED ? scales[min(row + r, n - 1)] : 1;
    for (Size first = lane * EACH; first < k; first += UNROLL * STRIDE)
#pragma unroll
        for (int u = 0; u < UNROLL; ++u) {
            Size at = first + u * STRIDE;
            if (at >= k) break;
            float of_x[EACH];
#pragma unroll
            for (int e = 0; e < EACH; e += X_PACK) {
                auto some = *reinterpret_cast<const Packed<X, X_PACK> *>(x + at + e);
#pragma unroll
                for (int i = 0; i < X_PACK; ++i) of_x[e + i] = float(some[i]);
            }
#pragma unroll
            for (int r = 0; r < ROWS; ++r) sum[r] += access[u][r].times(of_x);
            load(u, at + UNROLL * STRIDE);
        }
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
        float whole = warp_reduce(sum[r], [](float a, float b) { return a + b; });
        if (lane == 0 && row + r < n) y[row + r] = Out(whole * scale[r]);
    }
}
