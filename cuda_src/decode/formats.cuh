// The formats of stored weights: how many share one memory access of so many bytes, and what number each stands for.
// Numbers are made of bits: without branches, and without conversions of integers.
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

// Bytes of an access, as the words of 4 that instructions take apart.
template <int BYTES>
struct Words {
    static constexpr int SIZE = BYTES < 4 ? BYTES : 4;
    Packed<typename Word<SIZE>::type, BYTES / SIZE> pack;
    __device__ unsigned operator[](int i) const { return pack.element[i]; }
};

struct Int8 {
    static constexpr int PER = 1, BLOCK = 0;
    using Element = signed char;
    template <int BYTES>
    struct Group {
        Words<BYTES> words;
        __device__ void widen(float *to) const
        {
            for (int e = 0; e < BYTES; ++e) {
                // The last byte of the float 2^23 counts ones.
                unsigned word = words[e / 4] ^ 0x80808080;
                unsigned bits = __byte_perm(word, 0x4b000000, 0x7650 + e % 4);
                to[e] = __uint_as_float(bits) - (8388608 + 128);
            }
        }
    };
};

// Two e4m3 as halves: an instruction since compute capability 8.9.
__device__ inline half2 halves_of_two(unsigned two)
{
#if __CUDA_ARCH__ >= 890
    unsigned both;
    asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(both) : "h"((unsigned short)two));
#else
    unsigned both = halves_of(__byte_perm(two, 0, 0x4140), e4m3());
#endif
    return *reinterpret_cast<half2 *>(&both);
}

struct E4M3 {
    static constexpr int PER = 1, BLOCK = 0;
    using Element = unsigned char;
    template <int BYTES>
    struct Group {
        Words<BYTES> words;
        __device__ void widen(float *to) const
        {
            for (int e = 0; e < BYTES; e += 2) {
                half2 pair = halves_of_two(words[e / 4] >> e % 4 * 8);
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
    static __device__ float scale(unsigned char code) { return __low2float(halves_of_two(code)); }
    template <int BYTES>
    struct Group {
        Words<BYTES> words;
        __device__ void widen(float *to) const
        {
            for (int i = 0; i < 2 * BYTES; i += 8)
                for (int j = 0; j < 4 && i + j < 2 * BYTES; ++j) {
                    // Numbers j and j + 4 of a word as bits of halves; exponents are 14 too small.
                    unsigned word = words[i / 8];
                    unsigned size = j < 3 ? word << 9 - 4 * j : word >> 4 * j - 9;
                    unsigned bits = word << 12 - 4 * j & 0x80008000 | size & 0x0e000e00;
                    half2 two = *reinterpret_cast<half2 *>(&bits);
                    two = __hmul2(two, __float2half2_rn(16384));
                    to[i + j] = __low2float(two);
                    if (i + j + 4 < 2 * BYTES) to[i + j + 4] = __high2float(two);
                }
        }
    };
};

// The scales of the blocks that EACH neighbours are in: a byte for SHARE of them, loaded together.
template <typename Format, int EACH, int SIZE = Format::BLOCK>
struct BlockScales {
    static constexpr int BLOCK = SIZE, SHARE = SIZE < EACH ? SIZE : EACH;
    Packed<unsigned char, EACH / SHARE> pack;
    __device__ void load(const unsigned char *blocks, unsigned long long at)
    { pack = *reinterpret_cast<const decltype(pack) *>(blocks + at / BLOCK); }
    __device__ float of(int e) const { return Format::scale(pack.element[e / SHARE]); }
};
template <typename Format, int EACH>
struct BlockScales<Format, EACH, 0> {
    static constexpr int BLOCK = EACH, SHARE = EACH;
    __device__ void load(const unsigned char *, unsigned long long) {}
    __device__ float of(int) const { return 1; }
};
