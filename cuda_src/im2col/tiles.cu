// im2col: x[channels, H, W] -> out[channels, kernel_h, kernel_w, H_out, W_out]. Launch a grid of
// (tiles_w, tiles_h, any) blocks of (WIDTH, HEIGHT) threads, where tiles of HEIGHT x WIDTH columns cover
// H_out x W_out, with dynamic shared memory for the part of the image that the windows of a tile cover:
// (HEIGHT - 1) * stride + (kernel - 1) * dilation + 1 elements high, and wide by the same rule.
// Step 5: columns.cu by way of shared memory. A block fetches its part of the image once, zeros included;
// then a thread takes its column from there, and no bounds are left to check.
// Limit: as columns.cu. Neighbours shared their loads already, through the L1 cache.
#include "im2col/window.cuh"
using T = float;
constexpr int HEIGHT = 8;
constexpr int WIDTH = 32;

extern "C" __global__ void tiles(const T *__restrict__ x, T *__restrict__ out, long long channels,
                                 Window window)
{
    extern __shared__ __align__(16) unsigned char memory[];
    T *part = reinterpret_cast<T *>(memory);
    Side h = window.h, w = window.w;
    int tile_h = blockIdx.y * HEIGHT, tile_w = blockIdx.x * WIDTH;
    int height = (HEIGHT - 1) * h.stride + (h.kernel - 1) * h.dilation + 1;
    int width = (WIDTH - 1) * w.stride + (w.kernel - 1) * w.dilation + 1;
    int h_out = tile_h + threadIdx.y, w_out = tile_w + threadIdx.x;
    for (long long channel = blockIdx.z; channel < channels; channel += gridDim.z) {
        const T *image = x + channel * h.image * w.image;
        for (int y = threadIdx.y; y < height; y += HEIGHT)
            for (int x = threadIdx.x; x < width; x += WIDTH) {
                int row = h.source(tile_h, 0) + y, column = w.source(tile_w, 0) + x;
                bool inside = h.inside(row) && w.inside(column);
                part[y * width + x] = inside ? image[row * (long long)w.image + column] : T(0);
            }
        __syncthreads();  // the part is there
        const T *first = part + threadIdx.y * h.stride * width + threadIdx.x * w.stride;
        T *to = out + (channel * h.kernel * w.kernel * h.places + h_out) * w.places + w_out;
        if (h_out < h.places && w_out < w.places)
            for (int k_h = 0; k_h < h.kernel; ++k_h)
                for (int k_w = 0; k_w < w.kernel; ++k_w) {
                    *to = first[k_h * h.dilation * width + k_w * w.dilation];
                    to += h.places * (long long)w.places;
                }
        __syncthreads();  // and read: the next channel's may come
    }
}
