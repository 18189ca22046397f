// The formats of stored weights: how many share one memory access of so many bytes, and what number each stands for.
#pragma once
#include "common/float8.cuh"
#include "common/word.cuh"

// Weights that CUDA converts by itself.
template <typename T>
struct Stored {
    static constexpr int PER = 1;  // weights in an element of the array
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

using Single = Stored<float>;
using Half = Stored<half>;
using Int8 = Stored<signed char>;

struct E4M3 {
    static constexpr int PER = 1;
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
