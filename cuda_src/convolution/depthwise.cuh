// Convolutions of planes, each by a window of its own, which is known when a kernel is compiled: H and W are Known. A
// thread has a patch of HIGH x WIDE elements; what it needs of the other array is a region around it, a line of which
// is loaded at a time.
#pragma once
#include "common/word.cuh"
#include "im2col/window.cuh"

struct Size {
    int height, width;  // of an image
};

// Along one side: where element i of a patch meets tap k, from the region's begin on, if BACKWARD in the gradient by the
// result, else in the image. A backward patch begins at a multiple of the stride.
template <typename Side, bool BACKWARD>
struct Along {
    static constexpr int STRIDE = Side::STRIDE, FAR = (Side::KERNEL - 1) * Side::DILATION;
    static __device__ constexpr int floor(int n)
    { return n >= 0 ? n / STRIDE : -((STRIDE - 1 - n) / STRIDE); }
    static __device__ constexpr int least() { return BACKWARD ? floor(Side::PAD - FAR) : 0; }
    static __device__ constexpr bool meets(int i, int k)
    { return !BACKWARD || (i + Side::PAD - k * Side::DILATION) % STRIDE == 0; }
    static __device__ constexpr int place(int i, int k)
    {
        if (!BACKWARD) return i * STRIDE + k * Side::DILATION;
        return floor(i + Side::PAD - k * Side::DILATION) - least();
    }
    static __device__ constexpr int length(int patch)  // of the region of a patch
    {
        if (!BACKWARD) return place(patch - 1, Side::KERNEL - 1) + 1;
        return floor(patch - 1 + Side::PAD) - least() + 1;
    }
    static __device__ int begin(int first)  // of the region of a patch that begins here
    { return BACKWARD ? first / STRIDE + least() : first * STRIDE - Side::PAD; }
};

// A line of a plane, from a place on, zeros outside of it.
template <int LENGTH, typename Acc, typename T>
__device__ void load_line(Acc (&line)[LENGTH], const T *plane, int row, int column, int height,
                          int width)
{
    bool is_there = 0 <= row && row < height;
    const T *from = plane + row * (long long)width + column;
#pragma unroll
    for (int i = 0; i < LENGTH; ++i) {
        int at = column + i;
        line[i] = is_there && 0 <= at && at < width ? Acc(from[i]) : Acc(0);
    }
}
