// The gradient of a convolution by its weight: x[images, groups * channels, H, W] and the gradient by the
// result, dy[images, groups * channels_out, H_out, W_out] -> dw[groups * channels_out, channels, kernel_h, kernel_w].
// For each group it is the product of dy and the transposed columns of x, summed over images * H_out * W_out. Launch a
// grid of (groups * (channels_out / ROWS * elements of a column / COLUMNS, each rounded up), splits) blocks of 256
// threads. Split p of the sums makes dw[p, ...]: they add up to the result. DY_PACK divides H_out * W_out, W_PACK a column's
// elements; dy and dw are aligned to them. elements: of the window.
// Limit: as in forward.cu; and the splits, which are written and read once more.
#include "convolution/sources.cuh"
using T = float;
using Acc = float;
using Out = float;
using Index = int;
constexpr int DY_PACK = 4;
constexpr int W_PACK = 4;
constexpr int ROWS = 128;
constexpr int COLUMNS = 128;
constexpr int DEEP = 8;

extern "C" __global__ __launch_bounds__(BLOCK, sizeof(Acc) == 4 ? 2 : 1) void weight(
    const T *__restrict__ x, const T *__restrict__ dy, Out *dw, Index images, Index groups,
    Index channels, Index channels_out, Window window, Dividers<Index> dividers,
    const Element<Index> *elements)
{
    Index width = channels * window.h.kernel * window.w.kernel, all = groups * channels_out;
    Index places = Index(window.h.places) * window.w.places;
    Part part(channels_out, width, ROWS, COLUMNS);
    Share share(images * places, DEEP);
    Index end = share.end, first = part.group * channels_out;
    x += part.group * (long long)channels * window.h.image * window.w.image;
    dy += first * (long long)places;
    SideBySide<T, Index, DY_PACK> of_dy = {dy, all, channels_out, places, end, dividers};
    Columns<T, Index, true> of_x = {x, groups * channels, end, width, window, dividers, elements};
    dw += (blockIdx.y * (long long)all + first) * width;
    Product<Out, Acc, W_PACK> product = {dw, channels_out, width};
    multiply<ROWS, COLUMNS, DEEP, Acc>(of_dy, of_x, product, part.top, part.left, share);
}
