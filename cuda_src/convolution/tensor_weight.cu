// The gradient of a convolution by its weight, by tensor cores: x[groups, images, H, W, channels] and the gradient by
// the result, dy[groups, images, H_out, W_out, stride], of which channels_out are wanted -> dw[groups, channels_out,
// kernel_h, kernel_w, channels]. channels and stride are multiples of 8. dividers: by W_out, H_out, and two that don't
// matter. Launch a grid of (channels_out / ROWS * elements of a window / COLUMNS, each rounded up, splits, groups)
// blocks as for gemm/tensor.cu. Split p of the places makes dw[group, p, ...]: they add up to the result.
#include "common/word.cuh"
#include "convolution/tensor.cuh"
using T = half;
using Acc = float;
using Out = half;
constexpr int W_PACK = 8;
constexpr int ROWS = 128;
constexpr int COLUMNS = 128;
constexpr int WARP_ROWS = 64;
constexpr int WARP_COLUMNS = 32;
constexpr int STAGES = 4;
constexpr int BLOCKS = 1;  // on a multiprocessor

constexpr int BLOCK = ROWS / WARP_ROWS * (COLUMNS / WARP_COLUMNS) * 32, DEEP = LINE / sizeof(T);

struct Result {
    static constexpr int AT_ONCE = EIGHT;
    Out *dw;
    int channels, width;
    __device__ void store(int channel, int element, Packed<Acc, EIGHT> sum)
    {
        if (channel >= channels || element >= width) return;
#pragma unroll
        for (int first = 0; first < EIGHT; first += W_PACK) {
            Packed<Out, W_PACK> pack;
            for (int e = 0; e < W_PACK; ++e) pack[e] = Out(sum[first + e]);
            put(dw + channel * (long long)width + element + first, pack);
        }
    }
};

extern "C" __global__ __launch_bounds__(BLOCK, BLOCKS) void tensor_weight(
    const T *__restrict__ x, const T *__restrict__ dy, Out *dw, int images, int channels,
    int channels_out, int stride, Window window, Dividers<int> dividers)
{
    int width = channels * window.h.kernel * window.w.kernel;
    int depth = images * window.h.places * window.w.places;
    int tiles = (channels_out + ROWS - 1) / ROWS;
    int top = blockIdx.x % tiles * ROWS, left = blockIdx.x / tiles * COLUMNS;
    int each = ((depth + DEEP - 1) / DEEP + gridDim.y - 1) / gridDim.y * DEEP;
    int begin = min((long long)depth, (long long)blockIdx.y * each);
    int deep = min(depth - begin, each);
    int group = blockIdx.z;
    x += (long long)group * images * window.h.image * window.w.image * channels;
    const T *from = dy + ((long long)group * depth + begin) * stride + top;
    Lines<T, false, ROWS, BLOCK, false> of_dy(from, stride, channels_out - top);
    WindowPanels<Images<T>, COLUMNS, BLOCK> of_x({x, channels, window, dividers}, begin, left,
                                                 width);
    long long part = group * gridDim.y + blockIdx.y;
    Result result = {dw + part * channels_out * width, channels_out, width};
    multiply<WARP_ROWS, WARP_COLUMNS, STAGES, Acc>(of_dy, of_x, result, top, left, deep);
}
