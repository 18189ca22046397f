// im2col: x[channels, H, W] -> out[channels, kernel_h, kernel_w, H_out, W_out], n elements. Launch at
// least n threads.
// Step 2: columns.cu with a thread per element of the result: each one load and one store, all
// independent.
// Limit: its number is taken apart by four long divisions, which columns.cu shares among a column.
#include "im2col/window.cuh"
using T = float;

extern "C" __global__ void elements(const T *__restrict__ x, T *__restrict__ out, long long n,
                                    Window window)
{
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i >= n) return;
    Side h = window.h, w = window.w;
    long long rest = i;
    int w_out = rest % w.places;
    rest /= w.places;
    int h_out = rest % h.places;
    rest /= h.places;
    int k_w = rest % w.kernel;
    rest /= w.kernel;
    int k_h = rest % h.kernel;
    long long channel = rest / h.kernel;
    int row = h.source(h_out, k_h), column = w.source(w_out, k_w);
    bool inside = h.inside(row) && w.inside(column);
    out[i] = inside ? x[(channel * h.image + row) * w.image + column] : T(0);
}
