// A convolution of each channel by itself: x[images, channels, H, W], weight[channels * TIMES, kernel_h, kernel_w] ->
// y[images, channels * TIMES, H_out, W_out], plus bias[channels * TIMES] unless that is null. Or, BACKWARD, its gradient
// by the input: from the gradient by y, which x is then, to that by x, y then. in and out: the sizes of their images.
// Strides divide HIGH and WIDE where it is backward; Y_PACK divides WIDE and out's width. Launch a grid of (patches of
// HIGH x WIDE elements of all images of y / 256, rounded up) blocks of 256 threads.
// Limit: memory. What neighbours load, too, they have from the L1 cache.
#include "convolution/depthwise.cuh"
#include <cuda_fp16.h>
using T = float;
using Acc = float;
using H = Known<3, 1, 1, 1>;
using W = Known<3, 1, 1, 1>;
constexpr int BACKWARD = 0;
constexpr int TIMES = 1;
constexpr int HIGH = 4;
constexpr int WIDE = 4;
constexpr int Y_PACK = 4;

extern "C" __global__ void depthwise(const T *__restrict__ x, const T *__restrict__ weight, T *y,
                                     long long patches, int channels, Size in, Size out,
                                     Divider<long long> across, Divider<long long> down,
                                     const T *bias)
{
    using Down = Along<H, BACKWARD>;
    using Across = Along<W, BACKWARD>;
    constexpr int LINES = Down::length(HIGH), LENGTH = Across::length(WIDE);
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i >= patches) return;
    long long line = across.quotient(i), plane = down.quotient(line);
    int left = int(i - line * across.divisor) * WIDE, top = int(line - plane * down.divisor) * HIGH;
    // plane: of y. Of x it is one of TIMES that share it or, backward, the first of as many.
    long long first = BACKWARD ? plane * TIMES : plane / TIMES;
    int channel = plane % (BACKWARD ? channels : channels * TIMES);
    Acc start = bias ? Acc(bias[channel]) : Acc(0), sum[HIGH][WIDE];
#pragma unroll
    for (int r = 0; r < HIGH; ++r)
#pragma unroll
        for (int c = 0; c < WIDE; ++c) sum[r][c] = start;

    for (int n = 0; n < (BACKWARD ? TIMES : 1); ++n) {
        const T *from = x + (first + n) * in.height * in.width;
        const T *taps =
            weight + (BACKWARD ? channel * TIMES + n : channel) * (H::KERNEL * W::KERNEL);
        Acc tap[H::KERNEL][W::KERNEL];
#pragma unroll
        for (int k = 0; k < H::KERNEL * W::KERNEL; ++k)
            tap[k / W::KERNEL][k % W::KERNEL] = Acc(taps[k]);
#pragma unroll
        for (int l = 0; l < LINES; ++l) {
            Acc under[LENGTH];
            load_line(under, from, Down::begin(top) + l, Across::begin(left), in.height, in.width);
#pragma unroll
            for (int r = 0; r < HIGH; ++r)
#pragma unroll
                for (int kh = 0; kh < H::KERNEL; ++kh) {
                    if (!Down::meets(r, kh) || Down::place(r, kh) != l) continue;
#pragma unroll
                    for (int c = 0; c < WIDE; ++c)
#pragma unroll
                        for (int kw = 0; kw < W::KERNEL; ++kw)
                            if (Across::meets(c, kw))
                                sum[r][c] += tap[kh][kw] * under[Across::place(c, kw)];
                }
        }
    }
#pragma unroll
    for (int r = 0; r < HIGH; ++r)
#pragma unroll
        for (int c = 0; c < WIDE; c += Y_PACK) {
            if (top + r >= out.height || left + c >= out.width) continue;
            Packed<T, Y_PACK> pack;
            for (int e = 0; e < Y_PACK; ++e) pack[e] = T(sum[r][c + e]);
            put(y + (plane * out.height + top + r) * out.width + left + c, pack);
        }
}
