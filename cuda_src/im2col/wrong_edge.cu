// WRONG on purpose: elements.cu that asks only whether the place lies in the image as it is stored, row
// after row. Past the right edge of a row begins the next one: no access is out of bounds, but where there
// should be 0 stands a pixel of the other edge.
#include "im2col/window.cuh"
using T = float;

extern "C" __global__ void wrong_edge(const T *__restrict__ x, T *__restrict__ out, long long n,
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
    long long channel = rest / h.kernel, size = h.image * (long long)w.image;
    long long at = h.source(h_out, k_h) * (long long)w.image + w.source(w_out, k_w);
    out[i] = 0 <= at && at < size ? x[channel * size + at] : T(0);
}
