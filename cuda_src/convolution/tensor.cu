// Convolution by tensor cores: x[groups, images, H, W, channels], weight[groups, rows, kernel_h, kernel_w, channels] ->
// y[images, groups, channels_out, height, width], plus bias[groups, channels_out] unless that is null. channels is a
// multiple of 8. For each place of the window in an image, rows = channels_out * STEP_H * STEP_W are made: STEP_H x
// STEP_W pixels of each channel, of which those past the edge of y are dropped. That is how the gradient by the
// input of a convolution with strides is one without: pixels a stride apart see the gradient by the result alike.
// dividers: by the places across, down and in an image, and 1. Launch a grid of (rows / ROWS * places / COLUMNS, each
// rounded up, splits, groups) blocks as for gemm/tensor.cu. Split p of what is summed makes y[p, ...]: they add up to
// the result. Y_PACK divides the places of an image, and is 1 where there are steps.
#include "convolution/result.cuh"
#include "convolution/tensor.cuh"
using T = half;
using Acc = float;
using Out = half;
constexpr int STEP_H = 1;
constexpr int STEP_W = 1;
constexpr int Y_PACK = 8;
constexpr int ROWS = 128;
constexpr int COLUMNS = 128;
constexpr int WARP_ROWS = 64;
constexpr int WARP_COLUMNS = 32;
constexpr int STAGES = 4;
constexpr int BLOCKS = 1;  // on a multiprocessor

constexpr int BLOCK = ROWS / WARP_ROWS * (COLUMNS / WARP_COLUMNS) * 32, DEEP = LINE / sizeof(T);

extern "C" __global__ __launch_bounds__(BLOCK, BLOCKS) void tensor(
    const T *__restrict__ x, const T *__restrict__ weight, Out *y, int images, int channels,
    int rows, int height, int width, Window window, Dividers<int> dividers, const T *bias)
{
    int depth = channels * window.h.kernel * window.w.kernel;
    int down = window.h.places, across = window.w.places, columns = images * down * across;
    int tiles = (rows + ROWS - 1) / ROWS;
    int top = blockIdx.x % tiles * ROWS, left = blockIdx.x / tiles * COLUMNS;
    int each = ((depth + DEEP - 1) / DEEP + gridDim.y - 1) / gridDim.y * DEEP;
    int begin = min(depth, int(blockIdx.y) * each), deep = min(depth - begin, each);
    int group = blockIdx.z, planes = rows / (STEP_H * STEP_W), first = group * planes;
    const T *from = weight + (group * rows + top) * (long long)depth + begin;
    x += (long long)group * images * window.h.image * window.w.image * channels;
    Lines<T, true, ROWS, BLOCK, false> of_weight(from, depth, rows - top);
    WindowLines<Images<T>, COLUMNS, BLOCK> of_x({x, channels, window, dividers}, begin, left,
                                                columns);
    long long plane = (long long)height * width, size = planes * gridDim.z * images * plane;
    const T *added = blockIdx.y || !bias ? nullptr : bias + first;
    Result<Out, T, Acc, STEP_H, STEP_W, Y_PACK> result = {y + blockIdx.y * size + first * plane,
                                                          added,
                                                          int(planes * gridDim.z),
                                                          rows,
                                                          columns,
                                                          down,
                                                          across,
                                                          height,
                                                          width,
                                                          dividers};
    multiply<WARP_ROWS, WARP_COLUMNS, STAGES, Acc>(of_weight, of_x, result, top, left, deep);
}
