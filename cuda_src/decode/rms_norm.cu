// RMSNorm of rows: x[rows, hidden], weight[hidden] -> y = x / sqrt(mean(x²) + epsilon) * weight. A block per row, of
// whole warps; PACK divides hidden, hidden <= blockDim.x * PACKS * PACK, and all arrays are aligned to a pack.
// One read: the row stays in registers, PACKS packs a thread, as in softmax/registers.cu. ADDED = 1: `added`, of x's
// shape, is added to x first, and x keeps the sum: the two passes that a transformer makes here become one.
// Limit: memory, one read and one write; with ADDED, two and two.
#include "common/operators.cuh"
#include "common/reduce.cuh"
using T = float;
constexpr int PACK = 4;
constexpr int PACKS = 1;
constexpr int ADDED = 0;

extern "C" __global__ void rms_norm(T *x, T *y, long long rows, long long hidden, float epsilon,
                                    const T *__restrict__ weight, const T *__restrict__ added)
{
    using Pack = Packed<T, PACK>;
    long long begin = blockIdx.x * hidden, packs = hidden / PACK;
    Pack p[PACKS];
    float squares = 0;
#pragma unroll
    for (int j = 0; j < PACKS; ++j)
        if (threadIdx.x + j * blockDim.x < packs) {
            long long at = begin + (threadIdx.x + j * blockDim.x) * PACK;
            p[j] = *reinterpret_cast<const Pack *>(x + at);
            if (ADDED) {
                Pack other = *reinterpret_cast<const Pack *>(added + at);
                for (int e = 0; e < PACK; ++e) p[j][e] = T(float(p[j][e]) + float(other[e]));
                *reinterpret_cast<Pack *>(x + at) = p[j];
            }
            for (int e = 0; e < PACK; ++e) squares += float(p[j][e]) * float(p[j][e]);
        }
    float scale = 1 / sqrtf(block_reduce(squares, Sum<float>()) / hidden + epsilon);
#pragma unroll
    for (int j = 0; j < PACKS; ++j)
        if (threadIdx.x + j * blockDim.x < packs) {
            long long at = (threadIdx.x + j * blockDim.x) * PACK;
            Pack times = *reinterpret_cast<const Pack *>(weight + at);
            for (int e = 0; e < PACK; ++e) p[j][e] = T(float(p[j][e]) * scale * float(times[e]));
            *reinterpret_cast<Pack *>(y + begin + at) = p[j];
        }
}
