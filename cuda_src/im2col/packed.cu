// im2col: x[channels, H, W] -> out[channels, kernel_h, kernel_w, H_out, W_out], n packs. PACK divides W_out
// and out is aligned to packs. Launch at least n threads.
// Step 4: fast.cu with PACK neighbours a thread, in one store of up to 16 bytes: four divisions for all of
// them.
// Limit: the loads, which are single still; the memory is near.
#include "common/word.cuh"
#include "im2col/window.cuh"
using T = float;
using Index = int;
constexpr int PACK = 4;

extern "C" __global__ void packed(const T *__restrict__ x, T *__restrict__ out, long long n,
                                  Window window, Dividers<Index> by)
{
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i >= n) return;
    Side h = window.h, w = window.w;
    Index row_out = by.width.quotient(i), k = by.height.quotient(row_out);
    Index k_row = by.kernel_w.quotient(k), channel = by.kernel_h.quotient(k_row);
    int w_out = (Index(i) - row_out * by.width.divisor) * PACK, h_out = row_out - k * h.places;
    int k_w = k - k_row * w.kernel, k_h = k_row - channel * h.kernel;
    int row = h.source(h_out, k_h);
    const T *line = x + (channel * h.image + row) * w.image;
    Packed<T, PACK> pack;
    for (int p = 0; p < PACK; ++p) {
        int column = w.source(w_out + p, k_w);
        pack[p] = h.inside(row) && w.inside(column) ? line[column] : T(0);
    }
    stream(out + i * PACK, pack);
}
