// im2col: x[channels, H, W] -> out[channels, kernel_h, kernel_w, H_out, W_out], by a window whose sides H
// and W are known when this is compiled. Otherwise as column_packs.cu.
// Step 7: the loops are unrolled. A thread loads its stretch of a row once, into registers, for all of its
// columns. No load waits for a condition: what is outside the image reads its first element, and
// becomes 0.
// Limit: the memory.
#include "common/word.cuh"
#include "im2col/window.cuh"
using T = float;
using Index = int;
using H = Known<3, 1, 1, 1>;
using W = Known<3, 1, 1, 1>;
constexpr int PACK = 4;
constexpr int STRETCH = (PACK - 1) * W::STRIDE + (W::KERNEL - 1) * W::DILATION + 1;

extern "C" __global__ void unrolled(const T *__restrict__ x, T *__restrict__ out, long long n,
                                    Window window, Dividers<Index> by)
{
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i >= n) return;
    Side h = window.h, w = window.w;
    Index row_out = by.width.quotient(i), channel = by.height.quotient(row_out);
    int w_out = (Index(i) - row_out * by.width.divisor) * PACK;
    int h_out = row_out - channel * h.places;
    const T *image = x + channel * h.image * w.image;
    T *to = out + (channel * (H::KERNEL * W::KERNEL) * h.places + h_out) * w.places + w_out;
#pragma unroll
    for (int k_h = 0; k_h < H::KERNEL; ++k_h) {
        int row = h_out * H::STRIDE - H::PAD + k_h * H::DILATION;
        T stretch[STRETCH];
#pragma unroll
        for (int s = 0; s < STRETCH; ++s) {
            int column = w_out * W::STRIDE - W::PAD + s;
            bool inside = h.inside(row) && w.inside(column);
            T value = image[inside ? Index(row) * w.image + column : 0];
            stretch[s] = inside ? value : T(0);
        }
#pragma unroll
        for (int k_w = 0; k_w < W::KERNEL; ++k_w) {
            Packed<T, PACK> pack;
#pragma unroll
            for (int p = 0; p < PACK; ++p) pack[p] = stretch[p * W::STRIDE + k_w * W::DILATION];
            stream(to, pack);
            to += Index(h.places) * w.places;
        }
    }
}
