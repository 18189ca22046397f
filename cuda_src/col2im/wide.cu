// col2im: columns[channels, kernel_h, kernel_w, H_out, W_out] -> out[channels, H, W], n packs, by a window
// whose sides H and W are known when this is compiled. As unrolled.cu; PACK is a multiple of the stride
// across, COPIES divides W_out, and columns is aligned to packs of COPIES.
// Step 5: wide loads. One element of the window is over every stride-th of PACK neighbours, at places side
// by side: these copies lie in one pack or two, each of which is there or not as a whole.
// Limit: the memory.
#include "col2im/hits.cuh"
#include "col2im/request.cuh"
#include "common/fetch.cuh"
#include "im2col/window.cuh"
using T = float;
using Acc = float;
using Index = int;
using H = Known<3, 1, 1, 1>;
using W = Known<3, 1, 1, 1>;
constexpr int PACK = 4;
constexpr int REQUEST = WRITE;
constexpr int COPIES = PACK / W::STRIDE;

__device__ constexpr int floor_divide(int a, int b) { return a / b - (a % b < 0); }

extern "C" __global__ void wide(const T *__restrict__ columns, T *__restrict__ out, long long n,
                                Window window, Dividers<Index> by)
{
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i >= n) return;
    Index rows = window.h.places, row_length = window.w.places;
    Index row = by.width.quotient(i), channel = by.height.quotient(row);
    int first = (Index(i) - row * by.width.divisor) * COPIES;
    const T *from = columns + channel * (H::KERNEL * W::KERNEL) * rows * row_length;
    KnownHits<H> in_h(row - channel * window.h.image);
    Acc sum[PACK] = {};
#pragma unroll
    for (int j = 0; j < in_h.MOST; ++j) {
        int k_h = in_h.k + j * in_h.every, h_out = in_h.place - j * in_h.down;
        bool is_row = k_h < H::KERNEL && 0 <= h_out && h_out < rows;
        const T *line = from + (Index(k_h) * W::KERNEL * rows + h_out) * row_length;
#pragma unroll
        for (int k_w = 0; k_w < W::KERNEL; ++k_w, line += rows * row_length) {
            // Counted from `first`, the element is at `place` when it is over neighbour `p`.
            int past = W::PAD - k_w * W::DILATION, place = -floor_divide(-past, W::STRIDE);
            int p = place * W::STRIDE - past, pack = floor_divide(place, COPIES);
            Packed<T, COPIES> copies[2];
#pragma unroll
            for (int l = 0; l < 2; ++l) {
                int w_out = first + (pack + l) * COPIES;
                bool is_there = is_row && 0 <= w_out && w_out < row_length;
                copies[l] = fetch_if<COPIES>(is_there, line + w_out);
            }
            for (int c = place - pack * COPIES; p < PACK; ++c, p += W::STRIDE)
                sum[p] += Acc(copies[c / COPIES][c % COPIES]);
        }
    }
    Packed<T, PACK> pack;
    T *to = out + i * PACK;
#pragma unroll
    for (int p = 0; p < PACK; ++p) {
        if (REQUEST == ADD) sum[p] += Acc(to[p]);
        pack[p] = T(sum[p]);
    }
    if (REQUEST != NOTHING) stream(to, pack);
}
