// A window of kernel x kernel elements that moves over an image: its two sides, height and width.
#pragma once
#include "common/divider.cuh"

struct Side {
    int image;     // elements of the image
    int places;    // that the window takes on its way over it
    int kernel;    // elements of the window,
    int dilation;  // so far from one to the next
    int stride;    // from one place to the next
    int pad;       // elements of value 0 before the image, and as many past its end

    // Where element k of the window lies when it is at a place: outside the image, perhaps.
    __device__ int source(int place, int k) const { return place * stride - pad + k * dilation; }
    __device__ bool inside(int at) const { return 0 <= at && at < image; }
};

struct Window {
    Side h, w;
};

// What the number of an element of the result is divided by, one after the other: its width, counted in
// packs, its height, and the sides of the window.
template <typename Index>
struct Dividers {
    Divider<Index> width, height, kernel_w, kernel_h;
};

// What is known of a side when a kernel is compiled.
template <int KERNEL_, int DILATION_, int STRIDE_, int PAD_>
struct Known {
    static constexpr int KERNEL = KERNEL_, DILATION = DILATION_, STRIDE = STRIDE_, PAD = PAD_;
};
