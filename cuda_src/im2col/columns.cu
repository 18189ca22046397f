// im2col: x[channels, H, W] -> out[channels, kernel_h, kernel_w, H_out, W_out], what lies under each
// element of the window at each of its places; 0 outside the image. A batch is more channels. n counts
// columns, channels * H_out * W_out. Launch any number of threads.
// Step 1: a thread per column writes all kernel_h * kernel_w elements of it. The loop takes a grid of any
// size through all columns: with fewer threads than columns, a thread takes several.
// Limit: 4 bytes per load and store, one after the other, and long divisions.
#include "im2col/window.cuh"
using T = float;

#define CUDA_KERNEL_LOOP(i, n)                                                                     \
    for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < (n);                  \
         i += blockDim.x * (long long)gridDim.x)

extern "C" __global__ void columns(const T *x, T *out, long long n, Window window)
{
    Side h = window.h, w = window.w;
    CUDA_KERNEL_LOOP(i, n)
    {
        int w_out = i % w.places, h_out = i / w.places % h.places;
        long long channel = i / w.places / h.places;
        const T *image = x + channel * h.image * w.image;
        T *to = out + (channel * h.kernel * w.kernel * h.places + h_out) * w.places + w_out;
        for (int k_h = 0; k_h < h.kernel; ++k_h)
            for (int k_w = 0; k_w < w.kernel; ++k_w) {
                int row = h.source(h_out, k_h), column = w.source(w_out, k_w);
                bool inside = h.inside(row) && w.inside(column);
                *to = inside ? image[row * (long long)w.image + column] : T(0);
                to += h.places * (long long)w.places;
            }
    }
}
