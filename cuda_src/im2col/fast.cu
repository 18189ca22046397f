// im2col: x[channels, H, W] -> out[channels, kernel_h, kernel_w, H_out, W_out], n elements. Launch at
// least n threads.
// Step 3: elements.cu with each division as a multiplication and a shift. Index is int where tensors have
// less than 2^31 elements.
// Limit: four of them for each element, still; 4 bytes a store.
#include "im2col/window.cuh"
using T = float;
using Index = int;

extern "C" __global__ void fast(const T *__restrict__ x, T *__restrict__ out, long long n,
                                Window window, Dividers<Index> by)
{
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i >= n) return;
    Side h = window.h, w = window.w;
    Index row_out = by.width.quotient(i), k = by.height.quotient(row_out);
    Index k_row = by.kernel_w.quotient(k), channel = by.kernel_h.quotient(k_row);
    int w_out = Index(i) - row_out * w.places, h_out = row_out - k * h.places;
    int k_w = k - k_row * w.kernel, k_h = k_row - channel * h.kernel;
    int row = h.source(h_out, k_h), column = w.source(w_out, k_w);
    bool inside = h.inside(row) && w.inside(column);
    out[i] = inside ? x[(channel * h.image + row) * w.image + column] : T(0);
}
