// Floats of 8 bits, which CUDA's arithmetic does not know: e4m3 has 3 bits of fraction, no infinity and one NaN, 0x7f
// with either sign; e5m2 is the upper half of a half.
#pragma once
#include <cuda_fp16.h>

enum class e4m3 : unsigned char {};
enum class e5m2 : unsigned char {};

// Two of them, the lower bytes of each 16 bits of a word, as halves, which hold them exactly.
__device__ inline unsigned halves_of(unsigned pair, e5m2) { return pair << 8 & 0xff00ff00; }
__device__ inline unsigned halves_of(unsigned pair, e4m3)
{
    // As bits of a half, exponents are 8 too small.
    unsigned bits = (pair & 0x00800080) << 8 | (pair & 0x007f007f) << 7;
    half2 numbers = __hmul2(*reinterpret_cast<half2 *>(&bits), __float2half2_rn(256));
    unsigned nan = __vcmpeq2(pair & 0x007f007f, 0x007f007f);
    return *reinterpret_cast<unsigned *>(&numbers) | nan & 0x7fff7fff;
}
