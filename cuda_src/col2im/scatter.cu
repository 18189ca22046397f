// col2im: columns[channels, kernel_h, kernel_w, H_out, W_out] -> out[channels, H, W], which holds zeros,
// each element of a column added to where im2col took it from. n counts elements of the columns. Launch at
// least n threads.
// Step 1: im2col/elements.cu, the other way round: up to kernel_h * kernel_w threads add to one element,
// so they need atomics.
// Limit: atomics; the order of additions varies, and so may the last bits.
#include "im2col/window.cuh"
using T = float;

extern "C" __global__ void scatter(const T *__restrict__ columns, T *out, long long n,
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
    if (h.inside(row) && w.inside(column))
        atomicAdd(out + (channel * h.image + row) * w.image + column, columns[i]);
}
