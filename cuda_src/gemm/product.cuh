// A product that is written to memory, PACK neighbours at a time. AT_ONCE is negative where a pack is less than 8 bytes:
// lines may begin anywhere, and a warp that has enough of each had better store them together (store_lines).
#pragma once
#include "common/word.cuh"

// How many neighbours a lane stores: 8, which the warp's other stores may complete to whole sectors; or a pack, where
// that is small, so that lanes store side by side.
template <int PACK>
constexpr int STORED = PACK < 4 ? PACK : 8;

// How many neighbours of a result a lane stores, unless lines are stored together.
template <typename Result>
__device__ constexpr int together()
{ return Result::AT_ONCE < 0 ? -Result::AT_ONCE : Result::AT_ONCE; }

template <typename Out, typename Acc, int PACK>
struct Product {
    using Element = Out;
    static constexpr int AT_ONCE = PACK * sizeof(Out) < 8 ? -STORED<PACK> : STORED<PACK>;
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

    // Stores WIDE sums of each of LINES lines, sum(line, column), by a warp: a lane has 16 aligned bytes of a line, and
    // then one element of what is left at its ends.
    template <int LINES, int WIDE, typename Sum>
    __device__ void store_lines(long long top, long long left, Sum sum)
    {
        constexpr int WORD = 16 / sizeof(Out), WORDS = WIDE / WORD;
        int width = min((long long)WIDE, columns - left),
            height = min((long long)LINES, rows - top);
        Out *corner = c + top * columns + left;
        auto before_word = [&](Out *line) {
            return int(-(reinterpret_cast<unsigned long long>(line) / sizeof(Out)) % WORD);
        };
#pragma unroll 1
        for (int n = threadIdx.x % 32; n < height * WORDS; n += 32) {
            Out *line = corner + n / WORDS * columns;
            int first = before_word(line) + n % WORDS * WORD;
            Packed<Out, WORD> word;
#pragma unroll
            for (int e = 0; e < WORD; ++e)
                word[e] = element(left + first + e, sum(n / WORDS, min(first + e, WIDE - 1)));
            if (first + WORD <= width) put(line + first, word);
            else if (width < WIDE)
#pragma unroll 1
                for (int e = 0; e < WORD && first + e < width; ++e) line[first + e] = word[e];
        }
#pragma unroll 1
        for (int n = threadIdx.x % 32; n < height * WORD; n += 32) {
            Out *line = corner + n / WORD * columns;
            int before = before_word(line), e = n % WORD;
            int column = e < before ? e : WIDE - WORD + e;
            if (before && column < width)
                line[column] = element(left + column, sum(n / WORD, column));
        }
    }
};
