// How the result and two arrays are walked, of any strides, each thread at several places. Index is int
// where all places are below 2^31, else long long.
#pragma once
#include "common/divider.cuh"

// A place in each of the three, in elements.
template <typename Index>
struct Places {
    Index a, b, out;
    __device__ Places moved(Index count, const Places &stride) const
    { return {a + count * stride.a, b + count * stride.b, out + count * stride.out}; }
};

template <typename Index>
struct Dimension {
    using U = typename Unsigned<Index>::type;
    Index size;
    U multiplier;  // n / size == (2 * n * multiplier, upper half) >> shift: helpers.shapes.magic
    Index shift;
    Places<Index> stride;
    __device__ Index divide(Index n) const { return multiply_high(U(n) * 2, multiplier) >> shift; }
};

// The dimensions, the closest first: `items` places in all.
template <typename Index, int DIMENSIONS>
struct Layout {
    Index items;
    Dimension<Index> dimension[DIMENSIONS];

    // Where item begins. tell(d, i) learns its place i in each dimension d.
    template <typename Tell>
    __device__ Places<Index> find(Index item, Tell tell) const
    {
        Places<Index> place = {};
#pragma unroll
        for (int d = 0; d < DIMENSIONS; ++d) {
            Index rest = d + 1 < DIMENSIONS ? dimension[d].divide(item) : 0;
            Index i = item - rest * dimension[d].size;
            place = place.moved(i, dimension[d].stride);
            tell(d, i);
            item = rest;
        }
        return place;
    }
};
