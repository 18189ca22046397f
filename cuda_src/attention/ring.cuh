// Tiles of heads that one thread copies and warpgroups multiply, in stages that go round; and how a warpgroup stores
// what it has summed.
#pragma once
#include "attention/rows.cuh"
#include "common/packed.cuh"
#include "common/stages.cuh"
#include "gemm/product.cuh"
#include "gemm/tensor.cuh"

constexpr int DEEP = 64;  // elements of a box's line

// Stages of tiles of heads.
template <int COUNT>
struct Ring : Stages<COUNT> {
    using Stages<COUNT>::Stages;
    // Begins to copy lines, `offset` bytes from the stage's begin.
    template <int LINES, int PANELS>
    __device__ void fetch(int offset, const Map &map, int line, int head, int batch) const
    {
        for (int panel = 0; panel < PANELS; ++panel)
            copy_box(this->tile() + offset + panel * LINES * LINE, map, panel * DEEP, line, head,
                     batch, this->comes());
    }
};

// score = a bᵀ of 64 lines of a tile of A_LINES and the LINES of another, which begin at a and b.
template <typename T, int HEAD, int A_LINES, int LINES>
__device__ void multiply_lines(float (&score)[LINES / 2], unsigned a, unsigned b)
{
#pragma unroll
    for (int n = 0; n < HEAD / HIGH; ++n) {
        int panel = n / 4, step = n % 4 * STEP;
        multiply_add<true, true>(score, described(a + panel * A_LINES * LINE + step, 0),
                                 described(b + panel * LINES * LINE + step, 0), n > 0, T());
    }
}

// sum = weights times LINES lines, or sum + that if it `adds`.
template <typename T, int HEAD, int LINES>
__device__ void multiply_registers(float (&sum)[HEAD / 2], const unsigned (&weights)[LINES / 4],
                                   unsigned lines, bool adds)
{
#pragma unroll
    for (int n = 0; n < LINES / HIGH; ++n)
        multiply_add<false>(sum, weights + n * 4, described(lines + n * HIGH * LINE, LINES * LINE),
                            adds || n > 0, T());
}

// Sums of a product as an operand of the next one.
template <typename T, int COUNT>
__device__ void pack(unsigned (&pairs)[COUNT], const float (&sum)[2 * COUNT])
{
#pragma unroll
    for (int i = 0; i < COUNT; ++i) pairs[i] = packed(sum[2 * i], sum[2 * i + 1], T());
}

// What products have left in registers is read from here on; what they are to find there is written before.
template <int COUNT>
__device__ void finished(float (&sum)[COUNT])
{
#pragma unroll
    for (int i = 0; i < COUNT; ++i) asm volatile("" : "+f"(sum[i])::"memory");
}

// Number i of neighbouring lane j becomes number j of neighbouring lane i.
__device__ inline void exchange(unsigned (&four)[4])
{
#pragma unroll
    for (int bit = 1; bit < 4; bit *= 2)
#pragma unroll
        for (int i = 0; i < 4; ++i)
            if (!(i & bit)) {
                bool upper = threadIdx.x & bit;
                unsigned &low = four[i], &high = four[i + bit];
                unsigned given = __shfl_xor_sync(~0u, upper ? low : high, bit);
                (upper ? low : high) = given;
            }
}

// Two rows of a thread's sums, times their factors: line and 8 lines more.
template <typename T, int HEAD, typename Result>
__device__ void store_rows(Result result, long long line, const float (&sum)[HEAD / 2],
                           const float (&factor)[2])
{
    int lane = threadIdx.x % 32;
#pragma unroll
    for (int low = 0; low < 2; ++low)
#pragma unroll
        for (int first = 0; first < HEAD / 8; first += 4) {
            if constexpr (sizeof(typename Result::Element) == 4) {
#pragma unroll
                for (int i = first; i < first + 4; ++i) {
                    const float *pair = sum + i * 4 + low * 2;
                    Packed<float, 2> both = {pair[0] * factor[low], pair[1] * factor[low]};
                    result.store(line + low * 8, i * 8 + lane % 4 * 2, both);
                }
            } else {
                unsigned four[4];
#pragma unroll
                for (int i = 0; i < 4; ++i) {
                    const float *pair = sum + (first + i) * 4 + low * 2;
                    four[i] = packed(pair[0] * factor[low], pair[1] * factor[low], T());
                }
                exchange(four);
                result.store(line + low * 8, (first + lane % 4) * 8,
                             *reinterpret_cast<Packed<T, 8> *>(four));
            }
        }
}
