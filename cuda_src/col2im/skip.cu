// col2im: columns[channels, kernel_h, kernel_w, H_out, W_out] -> out[channels, H, W], n elements. Launch at
// least n threads. common_h and common_w are the greatest common divisors of stride and dilation.
// Step 3: gather.cu goes from one window that holds the element straight to the next, by the least common
// multiple of stride and dilation. The two divisions of its number are multiplications and shifts.
// Limit: latency; a load waits for what says whether it may be done.
#include "col2im/hits.cuh"
#include "col2im/request.cuh"
#include "im2col/window.cuh"
using T = float;
using Acc = float;
using Index = int;
constexpr int REQUEST = WRITE;

extern "C" __global__ void skip(const T *__restrict__ columns, T *__restrict__ out, long long n,
                                Window window, int common_h, int common_w, Dividers<Index> by)
{
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i >= n) return;
    Side h = window.h, w = window.w;
    Index row = by.width.quotient(i), channel = by.height.quotient(row);
    Hits in_h(row - channel * h.image + h.pad, h.stride, h.dilation, common_h);
    Hits in_w(Index(i) - row * w.image + w.pad, w.stride, w.dilation, common_w);
    const T *from = columns + channel * h.kernel * w.kernel * h.places * w.places;
    Acc sum = 0;
    for (int k_h = in_h.k, h_out = in_h.place; k_h < h.kernel && h_out >= 0;
         k_h += in_h.every, h_out -= in_h.down)
        for (int k_w = in_w.k, w_out = in_w.place; k_w < w.kernel && w_out >= 0;
             k_w += in_w.every, w_out -= in_w.down)
            if (h_out < h.places && w_out < w.places)
                sum +=
                    Acc(from[(Index(k_h * w.kernel + k_w) * h.places + h_out) * w.places + w_out]);
    assign<REQUEST>(out[i], sum);
}
