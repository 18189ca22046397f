// Which elements of which windows an element of the image is, along one side.
#pragma once

__host__ __device__ constexpr int common_divisor(int a, int b)
{ return b ? common_divisor(b, a % b) : a; }

// Element k of the window at `place`, k + every of that `down` places before, and so on: a step moves by the
// least common multiple of stride and dilation in both. `common` is their greatest common divisor.
struct Hits {
    int place, k, every, down;

    // at: where the element lies, counted with the padding before the image.
    __device__ Hits(unsigned at, int stride, int dilation, int common)
        : place(at / stride), every(stride / common), down(dilation / common)
    {
        int past = at % stride;
#pragma unroll
        for (int tries = 1; tries < down; ++tries)
            if (past % dilation) --place, past += stride;
        k = past % dilation ? NONE : past / dilation;
    }

    static constexpr int NONE = 1 << 30;  // no window has so many elements
};

// The same for a side that is known (im2col/window.cuh) when this is compiled.
template <typename K>
struct KnownHits : Hits {
    static constexpr int COMMON = common_divisor(K::STRIDE, K::DILATION);
    static constexpr int EVERY = K::STRIDE / COMMON, MOST = (K::KERNEL + EVERY - 1) / EVERY;
    __device__ KnownHits(int at) : Hits(at + K::PAD, K::STRIDE, K::DILATION, COMMON) {}
};
