// Winograd's method: a tile of an image is a polynomial, and so is the window; their product is known by its values at
// POINTS points down and across, which are products of values. Tiles and values are each other's times a matrix.
#pragma once

template <int ROWS, int COLUMNS>
struct Factor {
    float at[ROWS][COLUMNS];
};

// matrix * x * its transpose
template <typename T, int ROWS, int COLUMNS>
__device__ void apply(const Factor<ROWS, COLUMNS> &matrix, const T (&x)[COLUMNS][COLUMNS],
                      T (&y)[ROWS][ROWS])
{
    T half[ROWS][COLUMNS] = {};
#pragma unroll
    for (int k = 0; k < COLUMNS; ++k)
#pragma unroll
        for (int i = 0; i < ROWS; ++i)
#pragma unroll
            for (int j = 0; j < COLUMNS; ++j) half[i][j] += matrix.at[i][k] * x[k][j];
#pragma unroll
    for (int i = 0; i < ROWS; ++i)
#pragma unroll
        for (int j = 0; j < ROWS; ++j) {
            y[i][j] = 0;
#pragma unroll
            for (int k = 0; k < COLUMNS; ++k) y[i][j] += half[i][k] * matrix.at[j][k];
        }
}

// Tiles of images[images, channels, height, width]: so many down and across each plane. A channel has `each`, in all
// images; the last of them may be of none.
struct ImageTiles {
    int images, channels, height, width, down, across, each;
    __device__ int count() const { return channels * each; }
};

// A tile by its number: a channel's follow each other, image by image.
struct ImageTile {
    int channel, image, row, column;
    long long plane;  // where it begins in memory
    __device__ ImageTile(int number, ImageTiles tiles) : channel(number / tiles.each)
    {
        int of_channel = number - channel * tiles.each, line = of_channel / tiles.across;
        image = line / tiles.down;
        row = line - image * tiles.down, column = of_channel - line * tiles.across;
        plane = (image * (long long)tiles.channels + channel) * tiles.height * tiles.width;
    }
};
