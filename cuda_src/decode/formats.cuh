// The formats of stored weights: how many share one memory access of so many bytes, and what number each stands for.
#pragma once
#include "common/float8.cuh"
#include "common/word.cuh"

// Weights that CUDA converts by itself.
template <typename T>
struct Stored {
    static constexpr int PER = 1;    // weights in an element of the array
    static constexpr int BLOCK = 0;  // weights that share a scale; 0: none do
    using Element = T;
    template <int BYTES>
    struct Group {
        Packed<T, BYTES / sizeof(T)> pack;
        __device__ void widen(float *to) const
        {
            for (int e = 0; e < BYTES / int(sizeof(T)); ++e) to[e] = float(pack.element[e]);
        }
    };
};

using Float32 = Stored<float>;
using Half = Stored<half>;
using Int8 = Stored<signed char>;

struct E4M3 {
    static constexpr int PER = 1, BLOCK = 0;
    using Element = unsigned char;
    template <int BYTES>
    struct Group {
        Packed<unsigned char, BYTES> pack;
        __device__ void widen(float *to) const
        {
            for (int e = 0; e < BYTES; e += 2) {
                unsigned low = pack.element[e], high = e + 1 < BYTES ? pack.element[e + 1] : 0;
                unsigned both = halves_of(low | high << 16, e4m3());
                half2 pair = *reinterpret_cast<half2 *>(&both);
                to[e] = __low2float(pair);
                if (e + 1 < BYTES) to[e + 1] = __high2float(pair);
            }
        }
    };
};

// Blocks of e4m3 that share a power of two, whose exponent plus 127 is a byte (E8M0; 255 is NaN).
struct MXFP8 : E4M3 {
    static constexpr int BLOCK = 32;
    static __device__ float scale(unsigned char code)
    {
        unsigned bits = code == 255 ? 0x7fffffff : code ? code << 23 : 0x400000;
        return __uint_as_float(bits);
    }
};

// Blocks of numbers of 4 bits (E2M1), two in a byte, that share an e4m3.
struct NVFP4 {
    static constexpr int PER = 2, BLOCK = 16;
    using Element = unsigned char;
    static __device__ float scale(unsigned char code)
    {
        unsigned both = halves_of(code, e4m3());
        return __low2float(*reinterpret_cast<half2 *>(&both));
    }
    template <int BYTES>
    struct Group {
        Packed<unsigned char, BYTES> pack;
        __device__ void widen(float *to) const
        {
            for (int e = 0; e < BYTES; ++e) {
                unsigned code = pack.element[e], pair = code & 15 | (code & 0xf0) << 12;
                // As bits of a half, exponents are 14 too small.
                unsigned bits = (pair & 0x00080008) << 12 | (pair & 0x00070007) << 9;
                half2 two = *reinterpret_cast<half2 *>(&bits);
                two = __hmul2(two, __float2half2_rn(16384));
                to[2 * e] = __low2float(two), to[2 * e + 1] = __high2float(two);
            }
        }
    };
};

// What multiplies the weight at this place; 1 where no weights share a scale.
template <typename Format>
__device__ float scale_of(const unsigned char *blocks, long long place)
{
    if constexpr (Format::BLOCK > 0) return Format::scale(blocks[place / Format::BLOCK]);
    else return 1;
}
