// im2col: x[channels, H, W] -> out[channels, kernel_h, kernel_w, H_out, W_out]. PACK divides W_out and out
// is aligned to packs; n counts packs of columns, channels * H_out * W_out / PACK. Launch at least n
// threads.
// Step 6: columns.cu with PACK neighbouring columns a thread: two divisions, each a multiplication and a
// shift, for PACK * kernel_h * kernel_w elements.
// Limit: columns that overlap load what they share once each.
#include "common/word.cuh"
#include "im2col/window.cuh"
using T = float;
using Index = int;
constexpr int PACK = 4;

extern "C" __global__ void column_packs(const T *__restrict__ x, T *__restrict__ out, long long n,
                                        Window window, Dividers<Index> by)
{
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i >= n) return;
    Side h = window.h, w = window.w;
    Index row_out = by.width.quotient(i), channel = by.height.quotient(row_out);
    int w_out = (Index(i) - row_out * by.width.divisor) * PACK;
    int h_out = row_out - channel * h.places;
    const T *image = x + channel * h.image * w.image;
    T *to = out + (channel * h.kernel * w.kernel * h.places + h_out) * w.places + w_out;
    for (int k_h = 0; k_h < h.kernel; ++k_h) {
        int row = h.source(h_out, k_h);
        for (int k_w = 0; k_w < w.kernel; ++k_w) {
            Packed<T, PACK> pack;
            for (int p = 0; p < PACK; ++p) {
                int column = w.source(w_out + p, k_w);
                bool inside = h.inside(row) && w.inside(column);
                pack[p] = inside ? image[Index(row) * w.image + column] : T(0);
            }
            stream(to, pack);
            to += Index(h.places) * w.places;
        }
    }
}
