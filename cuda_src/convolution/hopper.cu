// Convolution by warpgroups, for GPUs of compute capability 9.0: as convolution/tensor.cu, with images and weight that
// the tensor memory accelerator copies. maps: of the weight as [kernel_h * kernel_w, groups * rows, channels], in boxes
// of ROWS rows and 64 channels; of the images in mode im2col, in boxes of COLUMNS places and 64 channels. A step is a
// tap's next 64 channels. PAIRED: 1 where steps across are two and y's width is even. STEPWISE: 1 where a tile has rows of
// one step, or of two that are PAIRED, and sums only over the taps that these see; rows[steps, planes] then, or rows[steps
// down, planes, steps across]. REVERSED: 1 where the weight's taps are in reverse. Launch as gemm/pipeline.cuh says.
#include "convolution/pixels.cuh"
#include "convolution/result.cuh"
#include "gemm/pipeline.cuh"
using T = half;
using Acc = float;
using Out = half;
constexpr int STEP_H = 1;
constexpr int STEP_W = 1;
constexpr int Y_PACK = 8;
constexpr int PAIRED = 0;
constexpr int STEPWISE = 0;
constexpr int REVERSED = 0;
constexpr int ROWS = 128;
constexpr int COLUMNS = 128;
constexpr int STAGES = 6;

constexpr int DEEP = LINE / sizeof(T);
constexpr int STEPS = !STEPWISE ? STEP_H * STEP_W : PAIRED ? STEP_W : 1;  // of a tile
using Steps = Stepwise<ROWS, COLUMNS, STEP_W, PAIRED ? STEP_W : 1>;

struct Copies {
    const Map &of_weight;
    Pixels pixels;
    Steps steps;
    int rows, images, splits, top;
    Pixels::Place place;
    Tap tap;
    int2 across;  // the taps that are summed over

    __device__ void begin(Tile tile)
    {
        int group = tile.z / splits;
        top = group * rows + tile.top, place = pixels.place(tile.left);
        if (STEPWISE) across = steps.across(group), tap = {across.x, steps.down(group).x, 0};
        else {
            across = {0, pixels.window.w.kernel}, tap = pixels.tap_of(tile.first);
            place.image += group * images;
        }
    }
    __device__ void next(unsigned a, unsigned b, unsigned barrier)
    {
        int number = tap.number(pixels.window);
        if (REVERSED) number = pixels.window.h.kernel * pixels.window.w.kernel - 1 - number;
        copy_box(a, of_weight, tap.chunk * DEEP, top, number, barrier);
        pixels.copy(b, place, tap, barrier);
        pixels.advance(tap, across.x, across.y);
    }
};

extern "C" __global__ __launch_bounds__(block_of(ROWS),
                                        1) void hopper(const __grid_constant__ Maps<2> maps, Out *y,
                                                       int images, int channels, int rows,
                                                       int height, int width, Window window,
                                                       Dividers<int> dividers, int splits,
                                                       int groups, Reaches reaches, const T *bias)
{
    if (threadIdx.x == 0) prefetch(maps.of[0]), prefetch(maps.of[1]);
    int columns = images * window.h.places * window.w.places, chunks = (channels + DEEP - 1) / DEEP;
    int steps = chunks * window.h.kernel * window.w.kernel;
    Steps stepwise(rows, columns, groups, reaches, chunks);
    Copies copies = {
        maps.of[0], {maps.of[1], DEEP, chunks, window, dividers}, stepwise, rows, images, splits};
    int planes = rows / STEPS, groups_of_y = STEPWISE ? 1 : groups;
    long long plane = (long long)height * width, size = planes * groups_of_y * images * plane;
    auto results = [=](Tile tile) {
        int product = tile.z / splits, split = tile.z - product * splits;
        int first = STEPWISE ? 0 : product * planes;
        return Result<Out, T, Acc, STEP_H, STEP_W, Y_PACK, PAIRED, STEPS>{
            y + split * size + first * plane,
            split || !bias ? nullptr : bias + first,
            planes * groups_of_y,
            rows,
            columns,
            window.h.places,
            window.w.places,
            height,
            width,
            dividers,
            STEPWISE ? product * STEPS : 0};
    };
    if constexpr (STEPWISE)
        multiply<T, ROWS, COLUMNS, STAGES, true, true>(stepwise, copies, results, maps.of[0]);
    else
        multiply<T, ROWS, COLUMNS, STAGES, true, true>(
            Tiles<ROWS, COLUMNS>(rows, columns, steps, splits, groups), copies, results,
            maps.of[0]);
}
