// Convolution: x[images, groups * channels, H, W], weight[groups * channels_out, channels, kernel_h, kernel_w] ->
// y[images, groups * channels_out, H_out, W_out], plus bias[groups * channels_out] unless that is null: each group of
// channels by itself. That is the product of its weight and the columns of x, images * H_out * W_out of them, of which
// none is written: a block fetches the elements of its tile from the images. dividers: by W_out, H_out, 1, 1; elements:
// of the window. Launch a grid of (groups * (channels_out / ROWS * columns / COLUMNS, each rounded up), splits) blocks
// of 256 threads. Split p of the sums makes y[p, ...]: they add up to the result.
// W_PACK divides channels * kernel_h * kernel_w, Y_PACK H_out * W_out; weight and y are aligned to them.
// Limit: multiply-adds, and the arithmetic that finds an element of a column.
#include "convolution/sources.cuh"
using T = float;
using Acc = float;
using Out = float;
using Index = int;
constexpr int W_PACK = 4;
constexpr int Y_PACK = 4;
constexpr int ROWS = 128;
constexpr int COLUMNS = 128;
constexpr int DEEP = 8;

struct Result {
    Out *y;
    const T *bias;
    Index all, channels, columns,
        places;  // all: channels of an image, of which these are a group's
    Dividers<Index> dividers;
    template <int COUNT>
    __device__ void store(Index channel, Index column, Packed<Acc, COUNT> sum)
    {
        if (channel >= channels) return;
        Acc start = bias && blockIdx.y == 0 ? Acc(bias[channel]) : Acc(0);
#pragma unroll
        for (int first = 0; first < COUNT; first += Y_PACK) {
            if (column + first >= columns) return;
            Packed<Out, Y_PACK> pack;
            for (int e = 0; e < Y_PACK; ++e) pack[e] = Out(sum[first + e] + start);
            Position<Index> position(column + first, places, dividers);
            Out *to = y + (position.image * all + channel) * places + position.place;
            *reinterpret_cast<Packed<Out, Y_PACK> *>(to) = pack;
        }
    }
};

extern "C" __global__ __launch_bounds__(BLOCK, sizeof(Acc) == 4 ? 2 : 1) void forward(
    const T *__restrict__ x, const T *__restrict__ weight, Out *y, Index images, Index groups,
    Index channels, Index channels_out, Window window, Dividers<Index> dividers,
    const Element<Index> *elements, const T *bias)
{
    Index depth = channels * window.h.kernel * window.w.kernel, all = groups * channels_out;
    Index places = Index(window.h.places) * window.w.places, columns = images * places;
    Part part(channels_out, columns, ROWS, COLUMNS);
    Share share(depth, DEEP);
    Index end = share.end, first = part.group * channels_out;
    x += part.group * (long long)channels * window.h.image * window.w.image;
    Matrix<T, W_PACK, true> of_weight = {weight + first * depth, depth, end, channels_out};
    Columns<T, Index, false> of_x = {x,      groups * channels, end,     columns,
                                     window, dividers,          elements};
    y += blockIdx.y * (long long)all * columns + first * places;
    Result result = {y,       bias ? bias + first : nullptr, all, channels_out, columns, places,
                     dividers};
    constexpr bool SINGLY = Y_PACK == 1 && sizeof(Out) == sizeof(float);
    multiply<ROWS, COLUMNS, DEEP, Acc, SINGLY>(of_weight, of_x, result, part.top, part.left, share);
}
