// The gradient of a convolution by its weight, by warpgroups, for GPUs of compute capability 9.0: as
// convolution/tensor_weight.cu, with arrays that the tensor memory accelerator copies. maps: of dy as [groups, places
// of all images, channels_out], in boxes of 64 x 64; of the images of each of GROUPS in mode im2col, in boxes of 64 places
// and 64 channels: where a map ends, zeros follow. A step is 64 places. BOXED: 1 where one more map is of dw as [groups *
// splits, channels_out, taps * channels], whose channels are a multiple of 64. Launch as gemm/pipeline.cuh says.
#include "convolution/pixels.cuh"
#include "gemm/pipeline.cuh"
using T = half;
using Acc = float;
using Out = half;
constexpr int W_PACK = 8;
constexpr int ROWS = 128;
constexpr int COLUMNS = 128;
constexpr int STAGES = 6;
constexpr int BOXED = 0;
constexpr int GROUPS = 1;

constexpr int DEEP = LINE / sizeof(T);

struct Copies {
    const Map &of_dy;
    Pixels pixels;
    int taps, splits, top, place;
    Tap tap[COLUMNS / DEEP];

    __device__ void begin(Tile tile)
    {
        pixels.group = tile.z / splits, top = tile.top, place = tile.first * DEEP;
        tap[0] = pixels.tap_of(tile.left / DEEP);
#pragma unroll
        for (int i = 1; i < COLUMNS / DEEP; ++i) {
            Tap next = tap[i - 1];
            pixels.advance(next);
            tap[i] = next.number(pixels.window) < taps ? next : tap[i - 1];  // none: any will do
        }
    }
    __device__ void next(unsigned a, unsigned b, unsigned barrier)
    {
        for (int i = 0; i < ROWS; i += DEEP)
            copy_box(a + i * LINE, of_dy, top + i, place, pixels.group, barrier);
        Pixels::Place pixel = pixels.place(place);
#pragma unroll
        for (int i = 0; i < COLUMNS / DEEP; ++i)
            pixels.copy(b + i * DEEP * LINE, pixel, tap[i], barrier);
        place += DEEP;
    }
};

struct Gradient {
    using Element = Out;
    static constexpr int AT_ONCE = EIGHT;
    Out *dw;
    int channels_out, taps, channels, wide;  // wide: what a tap's channels take among the columns
    __device__ Out element(int column, Acc sum) { return Out(sum); }
    template <int COUNT>
    __device__ void store(int row, int column, Packed<Acc, COUNT> sum)
    {
        int tap = column / wide, channel = column - tap * wide;
        if (row >= channels_out || tap >= taps) return;
#pragma unroll
        for (int first = 0; first < COUNT; first += W_PACK) {
            Packed<Out, W_PACK> pack;
            for (int e = 0; e < W_PACK; ++e) pack[e] = element(channel + first + e, sum[first + e]);
            Out *place = dw + (row * (long long)taps + tap) * channels + channel + first;
            if (channel + first < channels) put(place, pack);
        }
    }
};

extern "C" __global__ __launch_bounds__(block_of(ROWS), 1) void hopper_weight(
    const __grid_constant__ Maps<1 + GROUPS + BOXED> maps, Out *dw, int images, int channels,
    int channels_out, Window window, Dividers<int> dividers, int splits)
{
    if (threadIdx.x == 0) prefetch(maps.of[0]), prefetch(maps.of[1]);
    int taps = window.h.kernel * window.w.kernel, chunks = (channels + DEEP - 1) / DEEP;
    int wide = chunks * DEEP,
        steps = (images * window.h.places * window.w.places + DEEP - 1) / DEEP;
    Copies copies = {maps.of[0], {maps.of[1], DEEP, chunks, window, dividers}, taps, splits};
    auto results = [=](Tile tile) {
        return Gradient{dw + tile.z * (long long)channels_out * taps * channels, channels_out, taps,
                        channels, wide};
    };
    Tiles<ROWS, COLUMNS> tiles(channels_out, taps * wide, steps, splits, GROUPS);
    multiply<T, ROWS, COLUMNS, STAGES, false, false, 0, BOXED>(tiles, copies, results,
                                                               maps.of[BOXED * (1 + GROUPS)]);
}
