// The gradient of a convolution by its input: weight[groups * channels_out, channels, kernel_h, kernel_w] and the
// gradient by the result, dy[images, groups * channels_out, H_out, W_out] -> dx[images, groups * channels, H, W]. Pixels
// that lie a stride apart are seen by the same taps, and are a convolution of dy: window.h and window.w are its sides,
// elements its elements, places where the weight of each of them is, and pixels says which pixels of dx they make. size:
// of a window of weight. Launch each of these shares with a grid of (groups * (channels / ROWS * its pixels of all
// images / COLUMNS, each rounded up), splits) blocks of 256 threads. dividers: by the share's width and height, 1, 1.
// Split p of the sums makes dx[p, ...]: they add up to the result. X_PACK divides a share's pixels, and is 1 if they
// are not neighbours.
// Limit: multiply-adds, and the arithmetic that finds an element of a column.
#include "convolution/sources.cuh"
using T = float;
using Acc = float;
using Out = float;
using Index = int;
constexpr int X_PACK = 4;
constexpr int ROWS = 128;
constexpr int COLUMNS = 128;
constexpr int DEEP = 8;

// A side of a share: pixels begin, begin + stride ... of `image`.
struct Strided {
    int begin, stride, image;
};
struct Pixels {
    Strided h, w;
};

// The share's taps of weight, summed over channels_out and taps; `places` says where the first channel has them.
template <typename Number>
struct Taps {
    using T = Number;
    static constexpr int PACK = 1;
    static constexpr bool ALONG_K = true;
    const T *weight;
    const Index *places;
    Index depth, channels, size;  // size: of a window
    __device__ Packed<T, 1> operator()(Index k, Index channel) const
    {
        const T *from = weight + __ldg(places + k) + channel * size;
        return {(k < depth) & (channel < channels) ? __ldg(from) : T(0)};
    }
};

struct Result {
    Out *dx;
    Index all, channels, columns, down, across;  // all: channels of an image; these are a group's
    Pixels pixels;
    Dividers<Index> dividers;
    __device__ void store(Index channel, Index column, Packed<Acc, FOUR> sum)
    {
        if (channel >= channels) return;
#pragma unroll
        for (int first = 0; first < FOUR; first += X_PACK) {
            if (column + first >= columns) return;
            Packed<Out, X_PACK> pack;
            for (int e = 0; e < X_PACK; ++e) pack[e] = Out(sum[first + e]);
            Index line = dividers.width.quotient(column + first);
            Index image = dividers.height.quotient(line);
            Index h = pixels.h.begin + (line - image * down) * pixels.h.stride;
            Index w = pixels.w.begin + (column + first - line * across) * pixels.w.stride;
            Out *to = dx + ((image * all + channel) * pixels.h.image + h) * pixels.w.image + w;
            *reinterpret_cast<Packed<Out, X_PACK> *>(to) = pack;
        }
    }
};

extern "C" __global__ __launch_bounds__(BLOCK, sizeof(Acc) == 4 ? 2 : 1) void input(
    const T *__restrict__ weight, const T *__restrict__ dy, Out *dx, Index images, Index groups,
    Index channels, Index channels_out, Window window, Dividers<Index> dividers, Pixels pixels,
    Index size, const Element<Index> *elements, const Index *places)
{
    Index depth = channels_out * window.h.kernel * window.w.kernel, all = groups * channels;
    Index columns = images * window.h.places * window.w.places;
    Part part(channels, columns, ROWS, COLUMNS);
    Share share(depth, DEEP);
    Index end = share.end, plane = Index(pixels.h.image) * pixels.w.image;
    weight += part.group * (long long)channels_out * channels * size;
    dy += part.group * (long long)channels_out * window.h.image * window.w.image;
    dx += blockIdx.y * (long long)images * all * plane + part.group * (long long)channels * plane;
    Taps<T> of_weight = {weight, places, end, channels, size};
    Columns<T, Index, false> of_dy = {
        dy, groups * channels_out, end, columns, window, dividers, elements};
    Result result = {dx,     all,     channels, columns, window.h.places, window.w.places,
                     pixels, dividers};
    multiply<ROWS, COLUMNS, DEEP, Acc>(of_weight, of_dy, result, part.top, part.left, share);
}
