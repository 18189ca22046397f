// from_points
// Values at points (see points.cuh), v[POINTS * POINTS, channels, each], as tiles of SIZE x SIZE
// pixels of y[images, channels, height, width] side by side, plus bias[channels] unless that is null. What a tile has
// beyond the image is left out. Launch a thread for each tile.
// Limit: memory.
#include "convolution/points.cuh"
constexpr int SIZE = 4;
constexpr int POINTS = 6;

extern "C" __global__ void from_points(const float *__restrict__ v, float *y, ImageTiles tiles,
                                       Factor<SIZE, POINTS> matrix, const float *bias)
{
    int number = blockIdx.x * blockDim.x + threadIdx.x, count = tiles.count();
    if (number >= count) return;
    ImageTile tile(number, tiles);
    if (tile.image >= tiles.images) return;
    float values[POINTS][POINTS], pixels[SIZE][SIZE];
#pragma unroll
    for (int p = 0; p < POINTS * POINTS; ++p)
        values[p / POINTS][p % POINTS] = __ldg(v + p * (long long)count + number);
    apply(matrix, values, pixels);
    float start = bias ? bias[tile.channel] : 0;
    int top = tile.row * SIZE, left = tile.column * SIZE;
#pragma unroll
    for (int i = 0; i < SIZE; ++i)
#pragma unroll
        for (int j = 0; j < SIZE; ++j)
            if (top + i < tiles.height && left + j < tiles.width)
                y[tile.plane + (top + i) * tiles.width + left + j] = pixels[i][j] + start;
}
