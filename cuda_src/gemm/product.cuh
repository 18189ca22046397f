// A product that is written to memory, PACK neighbours at a time.
#pragma once
#include "common/word.cuh"

template <typename Out, typename Acc, int PACK>
struct Product {
    using Element = Out;
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
