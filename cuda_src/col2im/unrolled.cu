// col2im: columns[channels, kernel_h, kernel_w, H_out, W_out] -> out[channels, H, W], n packs, by a window
// whose sides H and W are known when this is compiled. PACK divides the width, out is aligned to packs.
// Launch at least n threads.
// Step 4: skip.cu for PACK neighbours, with its loops unrolled: what it divides by is known, and all loads
// are under way at once.
// Limit: the memory.
#include "col2im/hits.cuh"
#include "col2im/request.cuh"
#include "common/word.cuh"
#include "im2col/window.cuh"
using T = float;
using Acc = float;
using Index = int;
using H = Known<3, 1, 1, 1>;
using W = Known<3, 1, 1, 1>;
constexpr int PACK = 4;
constexpr int REQUEST = WRITE;

extern "C" __global__ void unrolled(const T *__restrict__ columns, T *__restrict__ out, long long n,
                                    Window window, Dividers<Index> by)
{
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i >= n) return;
    Index rows = window.h.places, row_length = window.w.places;
    Index row = by.width.quotient(i), channel = by.height.quotient(row);
    int first = (Index(i) - row * by.width.divisor) * PACK;
    const T *from = columns + channel * (H::KERNEL * W::KERNEL) * rows * row_length;
    KnownHits<H> in_h(row - channel * window.h.image);
    Acc sum[PACK] = {};
#pragma unroll
    for (int j = 0; j < in_h.MOST; ++j) {
        int k_h = in_h.k + j * in_h.every, h_out = in_h.place - j * in_h.down;
        bool is_row = k_h < H::KERNEL && 0 <= h_out && h_out < rows;
        const T *line = from + (is_row ? (Index(k_h) * W::KERNEL * rows + h_out) * row_length : 0);
#pragma unroll
        for (int p = 0; p < PACK; ++p) {
            KnownHits<W> in_w(first + p);
#pragma unroll
            for (int l = 0; l < in_w.MOST; ++l) {
                int k_w = in_w.k + l * in_w.every, w_out = in_w.place - l * in_w.down;
                bool is_hit = is_row && k_w < W::KERNEL && 0 <= w_out && w_out < row_length;
                T value = T(0);
                if (is_hit) value = line[k_w * rows * row_length + w_out];
                sum[p] += Acc(value);
            }
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
