// Packs that begin anywhere: aligned loads around what is wanted, and guarded ones where x ends.
#pragma once
#include "common/packed.cuh"

// How many elements of a pack lie before x[at], if packs are aligned.
template <int PACK, typename T>
__device__ int elements_before(const T *x, long long at)
{ return (reinterpret_cast<size_t>(x + at) / sizeof(T)) % PACK; }

// The aligned pack at a place of x[0 .. size); zeros stand for what lies outside.
template <int PACK, typename T>
__device__ Packed<T, PACK> load_within(const T *x, long long at, long long size)
{
    if (at >= 0 && at + PACK <= size) return *reinterpret_cast<const Packed<T, PACK> *>(x + at);
    Packed<T, PACK> p = {};
    for (int k = 0; k < PACK; ++k)
        if (at + k >= 0 && at + k < size) p[k] = x[at + k];
    return p;
}

// Writes those elements of an aligned pack that lie in y[begin .. end).
template <int PACK, typename T>
__device__ void store_within(T *y, long long at, long long begin, long long end,
                             const Packed<T, PACK> &p)
{
    if (at >= begin && at + PACK <= end) *reinterpret_cast<Packed<T, PACK> *>(y + at) = p;
    else
#pragma unroll
        for (int k = 0; k < PACK; ++k)
            if (at + k >= begin && at + k < end) y[at + k] = p.element[k];
}
