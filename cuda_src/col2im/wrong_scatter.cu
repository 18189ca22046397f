// WRONG on purpose: scatter.cu without atomics. Threads that add to one element at a time all read the old
// sum, and all but one of the additions are lost.
#include "im2col/window.cuh"
using T = float;

extern "C" __global__ void wrong_scatter(const T *__restrict__ columns, T *out, long long n,
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
        out[(channel * h.image + row) * w.image + column] += columns[i];
}
