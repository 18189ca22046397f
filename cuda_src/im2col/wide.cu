// im2col: x[channels, H, W] -> out[channels, kernel_h, kernel_w, H_out, W_out], by a window whose sides H
// and W are known when this is compiled. As unrolled.cu; PACK divides W, too, and x is aligned to packs.
// Step 8: loads as wide as the stores. What a thread needs of a row lies in a few packs, each of which is
// in the image or outside of it as a whole: one condition per pack, in place of one per element.
// Limit: the memory.
#include "common/fetch.cuh"
#include "im2col/window.cuh"
using T = float;
using Index = int;
using H = Known<3, 1, 1, 1>;
using W = Known<3, 1, 1, 1>;
constexpr int PACK = 4;
constexpr int STRETCH = (PACK - 1) * W::STRIDE + (W::KERNEL - 1) * W::DILATION + 1;
constexpr int BEFORE = (W::PAD + PACK - 1) / PACK * PACK;  // whole packs that hold the padding,
constexpr int SKIPPED = BEFORE - W::PAD;                   // and more
constexpr int PACKS = (SKIPPED + STRETCH + PACK - 1) / PACK;

extern "C" __global__ void wide(const T *__restrict__ x, T *__restrict__ out, long long n,
                                Window window, Dividers<Index> by)
{
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i >= n) return;
    Side h = window.h, w = window.w;
    Index row_out = by.width.quotient(i), channel = by.height.quotient(row_out);
    int w_out = (Index(i) - row_out * by.width.divisor) * PACK;
    int h_out = row_out - channel * h.places;
    int first = w_out * W::STRIDE - BEFORE;
    const T *image = x + channel * h.image * w.image;
    T *to = out + (channel * (H::KERNEL * W::KERNEL) * h.places + h_out) * w.places + w_out;
#pragma unroll
    for (int k_h = 0; k_h < H::KERNEL; ++k_h) {
        int row = h_out * H::STRIDE - H::PAD + k_h * H::DILATION;
        const T *line = image + Index(row) * w.image;
        Packed<T, PACK> packs[PACKS];
#pragma unroll
        for (int s = 0; s < PACKS; ++s) {
            int column = first + s * PACK;
            packs[s] = fetch_if<PACK>(h.inside(row) && w.inside(column), line + column);
        }
#pragma unroll
        for (int k_w = 0; k_w < W::KERNEL; ++k_w) {
            Packed<T, PACK> pack;
#pragma unroll
            for (int p = 0; p < PACK; ++p) {
                int at = SKIPPED + p * W::STRIDE + k_w * W::DILATION;
                pack[p] = packs[at / PACK][at % PACK];
            }
            stream(to, pack);
            to += Index(h.places) * w.places;
        }
    }
}
