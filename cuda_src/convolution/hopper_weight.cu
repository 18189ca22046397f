// The gradient of a convolution by its weight, by warpgroups, for GPUs of compute capability 9.0: as
// convolution/tensor_weight.cu, with arrays that the tensor memory accelerator copies. maps: of dy as [1, places of
// all images, channels_out], in boxes of 64 x 64; of the images in mode im2col, in boxes of 64 places and 64 channels.
// A step is 64 places. Launch as gemm/pipeline.cuh says.
#include "convolution/pixels.cuh"
#include "gemm/pipeline.cuh"
using T = half;
using Acc = float;
using Out = half;
constexpr int W_PACK = 8;
constexpr int ROWS = 128;
constexpr int COLUMNS = 128;
constexpr int STAGES = 6;

constexpr int DEEP = LINE / sizeof(T);

struct Copies {
    const Map &of_dy;
    Pixels pixels;
    int chunks, taps;  // of a tap's channels; of the window

    __device__ void a(unsigned to, Tile tile, int step, unsigned barrier)
    {
        for (int i = 0; i < ROWS; i += DEEP)
            copy_box(to + i * LINE, of_dy, tile.top + i, step * DEEP, 0, barrier);
    }
    __device__ void b(unsigned to, Tile tile, int step, unsigned barrier)
    {
        for (int i = 0; i < COLUMNS; i += DEEP) {
            int panel = (tile.left + i) / DEEP, tap = min(panel / chunks, taps - 1);
            pixels.copy(to + i * LINE, step * DEEP, tap, panel % chunks, barrier);
        }
    }
};

struct Gradient {
    Out *dw;
    int channels_out, taps, channels, wide;  // wide: what a tap's channels take among the columns
    template <int COUNT>
    __device__ void store(int row, int column, Packed<Acc, COUNT> sum)
    {
        int tap = column / wide, channel = column - tap * wide;
        if (row >= channels_out || tap >= taps) return;
#pragma unroll
        for (int first = 0; first < COUNT; first += W_PACK) {
            Packed<Out, W_PACK> pack;
            for (int e = 0; e < W_PACK; ++e) pack[e] = Out(sum[first + e]);
            Out *place = dw + (row * (long long)taps + tap) * channels + channel + first;
            if (channel + first < channels) put(place, pack);
        }
    }
};

extern "C" __global__ __launch_bounds__(block_of(ROWS),
                                        1) void hopper_weight(const __grid_constant__ Maps<2> maps,
                                                              Out *dw, int images, int channels,
                                                              int channels_out, Window window,
                                                              Dividers<int> dividers, int splits)
{
    if (threadIdx.x == 0) prefetch(maps.of[0]), prefetch(maps.of[1]);
    int taps = window.h.kernel * window.w.kernel, chunks = (channels + DEEP - 1) / DEEP;
    int wide = chunks * DEEP,
        steps = (images * window.h.places * window.w.places + DEEP - 1) / DEEP;
    Copies copies = {maps.of[0], {maps.of[1], DEEP, window, dividers}, chunks, taps};
    auto results = [=](Tile tile) {
        return Gradient{dw + tile.z * (long long)channels_out * taps * channels, channels_out, taps,
                        channels, wide};
    };
    Tiles<ROWS, COLUMNS> tiles(channels_out, taps * wide, steps, splits, 1);
    multiply<T, ROWS, COLUMNS, STAGES, false, false>(tiles, copies, results);
}
