// Matrices that are nowhere in memory, as sources of gemm/tiles.cuh: the columns of images, element by
// element where im2col would have put it, and images side by side, as one matrix.
#pragma once
#include "gemm/tiles.cuh"
#include "im2col/window.cuh"

// An element of a window over several channels: how far from the window's first it lies, in memory and in the image.
// The host lists them: finding one takes two divisions.
template <typename Index>
struct __align__(16) Element {
    Index offset;
    int row, column;
};

// Columns of images x[images, channels, H, W], or of a group of their channels, of which x begins with the first:
// [channels of the group * window, images * places]. The product sums over the window's elements; or (OVER_PLACES) over
// the places. elements: of the window, and as many more as a tile has.
template <typename Number, typename Index, bool OVER_PLACES>
struct Columns {
    using T = Number;
    static constexpr int PACK = 1;
    static constexpr bool ALONG_K = OVER_PLACES;
    const T *x;
    Index channels, depth, width;
    Window window;
    Dividers<Index> by;
    const Element<Index> *elements;
    __device__ Packed<T, 1> operator()(Index k, Index i) const
    {
        Index part = OVER_PLACES ? min(i, width - 1) : k, place = OVER_PLACES ? k : i;
        Side h = window.h, w = window.w;
        Index line = by.width.quotient(place), image = by.height.quotient(line);
        int row = h.source(line - image * h.places, 0);
        int column = w.source(place - line * w.places, 0);
        const T *from = x + (image * channels * h.image + row) * w.image + column;
        int4 words = __ldg(reinterpret_cast<const int4 *>(elements + part));
        auto e = reinterpret_cast<const Element<Index> &>(words);
        // One condition, without short cuts: a load that may be left out, not a branch.
        bool there = (k < depth) & (i < width) & (unsigned(row + e.row) < unsigned(h.image)) &
                     (unsigned(column + e.column) < unsigned(w.image));
        return {there ? __ldg(from + e.offset) : T(0)};
    }
};

// Which group of channels and which tile of its product a block makes: tiles below each other come first.
struct Part {
    unsigned group, top, left;
    __device__ Part(long long rows, long long columns, int high, int wide)
    {
        unsigned down = (rows + high - 1) / high, tiles = down * ((columns + wide - 1) / wide);
        group = blockIdx.x / tiles;
        unsigned tile = blockIdx.x - group * tiles;
        top = tile % down * high, left = tile / down * wide;
    }
};

// Which image a column is of, and which place in it.
template <typename Index>
struct Position {
    Index image, place;
    __device__ Position(Index column, Index places, Dividers<Index> by)
        : image(by.height.quotient(by.width.quotient(column))), place(column - image * places)
    {
    }
};

// Images x[images, channels, places] side by side, or `width` of their channels, as [images * places, width], summed
// over the places.
template <typename Number, typename Index, int NEIGHBOURS>
struct SideBySide {
    using T = Number;
    static constexpr int PACK = NEIGHBOURS;
    static constexpr bool ALONG_K = true;
    const T *x;
    Index channels, width, places, depth;
    Dividers<Index> dividers;
    __device__ Packed<T, PACK> operator()(Index k, Index channel) const
    {
        Packed<T, PACK> pack = {};
        Position<Index> position(k, places, dividers);
        const T *from = x + (position.image * channels + channel) * places + position.place;
        if (k < depth && channel < width) pack = *reinterpret_cast<const Packed<T, PACK> *>(from);
        return pack;
    }
};
