// The gradient by the weight of a convolution of each channel by itself: x[images, channels, H, W] and the gradient by
// the result, dy[images, channels * TIMES, H_out, W_out] -> dw[splits, channels * TIMES, kernel_h, kernel_w], which add
// up to it. A block has a channel of dy, and a share of its patches of HIGH x WIDE elements in all images: across and
// down are how many an image has. Launch a grid of (channels * TIMES, splits) blocks of 256 threads.
// Limit: memory.
#include "common/operators.cuh"
#include "common/reduce.cuh"
#include "convolution/depthwise.cuh"
#include <cuda_fp16.h>
using T = float;
using Acc = float;
using H = Known<3, 1, 1, 1>;
using W = Known<3, 1, 1, 1>;
constexpr int TIMES = 1;
constexpr int HIGH = 4;
constexpr int WIDE = 4;

extern "C" __global__ void depthwise_weight(const T *__restrict__ x, const T *__restrict__ dy,
                                            Acc *dw, long long patches, int channels, Size in,
                                            Size out, Divider<long long> across,
                                            Divider<long long> down)
{
    using Down = Along<H, false>;
    using Across = Along<W, false>;
    constexpr int LINES = Down::length(HIGH), LENGTH = Across::length(WIDE);
    constexpr int TAPS = H::KERNEL * W::KERNEL;
    int channel = blockIdx.x, all = gridDim.x;
    Acc sum[H::KERNEL][W::KERNEL] = {};
    long long step = (long long)gridDim.y * blockDim.x;
    for (long long i = blockIdx.y * (long long)blockDim.x + threadIdx.x; i < patches; i += step) {
        long long line = across.quotient(i), image = down.quotient(line);
        int left = int(i - line * across.divisor) * WIDE;
        int top = int(line - image * down.divisor) * HIGH;
        const T *from = x + (image * channels + channel / TIMES) * in.height * in.width;
        const T *gradient = dy + (image * all + channel) * out.height * out.width;
        Acc slope[HIGH][WIDE];
#pragma unroll
        for (int r = 0; r < HIGH; ++r)
            load_line(slope[r], gradient, top + r, left, out.height, out.width);
#pragma unroll
        for (int l = 0; l < LINES; ++l) {
            Acc under[LENGTH];
            load_line(under, from, Down::begin(top) + l, Across::begin(left), in.height, in.width);
#pragma unroll
            for (int r = 0; r < HIGH; ++r)
#pragma unroll
                for (int kh = 0; kh < H::KERNEL; ++kh) {
                    if (Down::place(r, kh) != l) continue;
#pragma unroll
                    for (int c = 0; c < WIDE; ++c)
#pragma unroll
                        for (int kw = 0; kw < W::KERNEL; ++kw)
                            sum[kh][kw] += slope[r][c] * under[Across::place(c, kw)];
                }
        }
    }
    Acc *to = dw + (blockIdx.y * (long long)all + channel) * TAPS;
#pragma unroll
    for (int k = 0; k < TAPS; ++k) {
        Acc total = block_reduce(sum[k / W::KERNEL][k % W::KERNEL], Sum<Acc>());
        if (threadIdx.x == 0) to[k] = total;
    }
}
