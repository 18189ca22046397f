// A product that is written to memory, PACK neighbours at a time.
#pragma once
#include "common/word.cuh"

// How many neighbours a lane stores: 8, which the warp's other stores may complete to whole sectors; or a pack, where
// that is small, so that lanes store side by side.
template <int PACK>
constexpr int STORED = PACK < 4 ? PACK : 8;

// Writes 16 bytes at once: of some stores of sums the compiler would make four.
template <typename T, int N>
__device__ void put_whole(T *to, const Packed<T, N> &pack)
{
    uint4 word;
    memcpy(&word, &pack, sizeof word);
    asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(__cvta_generic_to_global(to)),
                 "r"(word.x), "r"(word.y), "r"(word.z), "r"(word.w)
                 : "memory");
}

template <typename Out, typename Acc, int PACK>
struct Product {
    using Element = Out;
    static constexpr int AT_ONCE = STORED<PACK>;
    Out *c;
    long long rows, columns;
    __device__ Out element(int column, Acc sum) { return Out(sum); }
    template <int COUNT>
    __device__ void store(long long row, long long column, Packed<Acc, COUNT> sum)
    {
        if (row >= rows) return;
#pragma unroll
        for (int first = 0; first < COUNT; first += PACK) {
            Packed<Out, PACK> pack;
            for (int e = 0; e < PACK; ++e) pack[e] = element(column + first + e, sum[first + e]);
            Out *place = c + row * columns + column + first;
            if (column + first >= columns) return;
            if constexpr (sizeof(pack) == 16) put_whole(place, pack);
            else if constexpr (sizeof(pack) <= 16) put(place, pack);
            else *reinterpret_cast<Packed<Out, PACK> *>(place) = pack;
        }
    }
};
