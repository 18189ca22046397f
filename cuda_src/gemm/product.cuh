// A product that is written to memory, PACK neighbours at a time.
#pragma once
#include "common/word.cuh"

// How many neighbours a lane stores: 8, which the warp's other stores may complete to whole sectors; or a pack, where
// that is small, so that lanes store side by side.
template <int PACK>
constexpr int STORED = PACK < 4 ? PACK : 8;

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
            if constexpr (sizeof(pack) <= 16) put(place, pack);
            else *reinterpret_cast<Packed<Out, PACK> *>(place) = pack;
        }
    }
};
