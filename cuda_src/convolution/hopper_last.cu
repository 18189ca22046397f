// Convolution by warpgroups where channels are neighbours, in the result, too: y[images, height, width, channels_out].
// As convolution/hopper.cu with both sides exchanged: a row of the product is a place of the window, a column a channel
// of one of its steps. maps: of the images in mode im2col, in boxes of ROWS places and 64 channels; of the weight as
// [kernel_h * kernel_w, columns, channels], in boxes of COLUMNS of them and 64 channels. Y_PACK divides channels_out.
// BOXED: 1 where a third map is of y as [splits, places, channels_out], each place making one. STEPWISE: 1 where a tile
// has columns of one step, and sums only over the taps that this sees. Launch as gemm/pipeline.cuh says.
// Step: nothing is transposed, neither before nor after.
#include "convolution/pixels.cuh"
#include "gemm/pipeline.cuh"
#include "gemm/product.cuh"
using T = half;
using Acc = float;
using Out = half;
constexpr int STEP_H = 1;
constexpr int STEP_W = 1;
constexpr int Y_PACK = 8;
constexpr int ROWS = 128;
constexpr int COLUMNS = 128;
constexpr int STAGES = 6;
constexpr int BOXED = 0;
constexpr int STEPWISE = 0;

constexpr int DEEP = LINE / sizeof(T);
using Steps = Stepwise<ROWS, COLUMNS, STEP_W, 1>;

struct Copies {
    Pixels pixels;
    const Map &of_weight;
    Steps steps;
    int channels_out, left;
    Pixels::Place place;
    Tap tap;
    int2 across;  // the taps that are summed over

    __device__ void begin(Tile tile)
    {
        left = tile.left, place = pixels.place(tile.top), tap = pixels.tap_of(tile.first);
        across = {0, pixels.window.w.kernel};
        if (STEPWISE) {
            left += tile.z * channels_out;
            across = steps.across(tile.z), tap = {across.x, steps.down(tile.z).x, 0};
        }
    }
    __device__ void next(unsigned a, unsigned b, unsigned barrier)
    {
        pixels.copy(a, place, tap, barrier);
        copy_box(b, of_weight, tap.chunk * DEEP, left, tap.number(pixels.window), barrier);
        pixels.advance(tap, across.x, across.y);
    }
};

struct Result {
    using Element = Out;
    static constexpr int AT_ONCE = STORED<Y_PACK>;
    Out *y;
    const T *bias;                       // of each channel, or null
    int places, down, across, channels;  // down, across: places in an image
    int height, width;
    Dividers<int> dividers;
    int first_step;
    __device__ Out element(int channel, Acc sum)
    { return Out(sum + (bias && channel < channels ? Acc(bias[channel]) : Acc(0))); }
    template <int COUNT>
    __device__ void store(int place, int column, Packed<Acc, COUNT> sum)
    {
        if (place >= places) return;
        int line = dividers.width.quotient(place), image = dividers.height.quotient(line);
#pragma unroll
        for (int first = 0; first < COUNT; first += Y_PACK) {
            int step = first_step, channel = column + first;
            long long pixel = place;
            if (STEP_H * STEP_W > 1) {
                if (!STEPWISE) step = channel / channels, channel -= step * channels;
                int h = (line - image * down) * STEP_H + step / STEP_W;
                int w = (place - line * across) * STEP_W + step % STEP_W;
                if (step >= STEP_H * STEP_W || h >= height || w >= width) continue;
                pixel = (image * (long long)height + h) * width + w;
            }
            if (channel >= channels) continue;
            Packed<Out, Y_PACK> pack;
            for (int e = 0; e < Y_PACK; ++e) pack[e] = element(channel + e, sum[first + e]);
            put(y + pixel * channels + channel, pack);
        }
    }
};

extern "C" __global__ __launch_bounds__(block_of(ROWS), 1) void hopper_last(
    const __grid_constant__ Maps<2 + BOXED> maps, Out *y, int images, int channels,
    int channels_out, int height, int width, Window window, Dividers<int> dividers, int splits,
    Reaches reaches, const T *bias)
{
    if (threadIdx.x == 0) prefetch(maps.of[0]), prefetch(maps.of[1]);
    int places = images * window.h.places * window.w.places, chunks = (channels + DEEP - 1) / DEEP;
    int steps = chunks * window.h.kernel * window.w.kernel;
    Steps stepwise(places, channels_out, STEP_H * STEP_W, reaches, chunks);
    Copies copies = {
        {maps.of[0], DEEP, chunks, window, dividers}, maps.of[1], stepwise, channels_out};
    long long size = (long long)images * height * width * channels_out;
    auto results = [=](Tile tile) {
        return Result{STEPWISE ? y : y + tile.z * size,
                      STEPWISE || tile.z == 0 ? bias : nullptr,
                      places,
                      window.h.places,
                      window.w.places,
                      channels_out,
                      height,
                      width,
                      dividers,
                      STEPWISE ? tile.z : 0};
    };
    if constexpr (STEPWISE)
        multiply<T, ROWS, COLUMNS, STAGES, true, true>(stepwise, copies, results, maps.of[0]);
    else
        multiply<T, ROWS, COLUMNS, STAGES, true, true, 0, BOXED>(
            Tiles<ROWS, COLUMNS>(places, channels_out * STEP_H * STEP_W, steps, splits, 1), copies,
            results, maps.of[BOXED * 2]);
}
