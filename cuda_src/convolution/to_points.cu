// to_points
// Tiles of x[images, channels, height, width], SIZE x SIZE pixels every `step`, as values at points (see points.cuh):
// v[POINTS * POINTS, channels, each]. The first tile begins at (-pad_h, -pad_w); outside of x are
// zeros. Launch a thread for each tile.
// Limit: memory; a pixel is loaded by each tile that has it, mostly from the cache.
#include "convolution/points.cuh"
constexpr int SIZE = 6;
constexpr int POINTS = 6;

extern "C" __global__ void to_points(const float *__restrict__ x, float *v, ImageTiles tiles,
                                     int step, int pad_h, int pad_w, Factor<POINTS, SIZE> matrix)
{
    int number = blockIdx.x * blockDim.x + threadIdx.x, count = tiles.count();
    if (number >= count) return;
    ImageTile tile(number, tiles);
    int top = tile.row * step - pad_h, left = tile.column * step - pad_w;
    float pixels[SIZE][SIZE], values[POINTS][POINTS];
#pragma unroll
    for (int i = 0; i < SIZE; ++i)
#pragma unroll
        for (int j = 0; j < SIZE; ++j) {
            int row = top + i, column = left + j;
            bool there = (tile.image < tiles.images) & (unsigned(row) < unsigned(tiles.height)) &
                         (unsigned(column) < unsigned(tiles.width));
            pixels[i][j] = there ? __ldg(x + tile.plane + row * tiles.width + column) : 0;
        }
    apply(matrix, pixels, values);
#pragma unroll
    for (int p = 0; p < POINTS * POINTS; ++p)
        v[p * (long long)count + number] = values[p / POINTS][p % POINTS];
}
