// Images as operands of gemm/pipeline.cuh, as a window sees them: by a map in mode im2col, a tap at a time, in boxes of
// as many channels as a line of 128 bytes has.
#pragma once
#include "common/boxes.cuh"
#include "gemm/pipeline.cuh"
#include "im2col/window.cuh"

// A tap of the window, and which of a pixel's boxes of channels.
struct Tap {
    int x, y, chunk;
    __device__ int number(Window window) const { return y * window.w.kernel + x; }
};

// Which taps the steps see, down or across: from one on, up to another.
struct Reach {
    unsigned char first[4], end[4];
    // Those that so many steps see, from one on.
    __device__ int2 of(int step, int count) const
    {
        int2 taps = {first[step], end[step]};
        for (int n = step + 1; n < step + count; ++n)
            taps.x = min(taps.x, first[n]), taps.y = max(taps.y, end[n]);
        return taps;
    }
};
struct Reaches {
    Reach h, w;
};

// Tiles of a product whose steps (of places, STEP_W of which lie across) are products of a batch, ACROSS of them in each.
// Each is a sum over the taps that its steps see.
template <int ROWS, int COLUMNS, int STEP_W, int ACROSS>
struct Stepwise : Tiles<ROWS, COLUMNS> {
    using Base = Tiles<ROWS, COLUMNS>;
    Reaches reaches;
    int chunks;  // boxes of a pixel
    __device__ Stepwise(long long m, long long n, int batch, Reaches reaches, int chunks)
        : Base(m, n, 0, 1, batch), reaches(reaches), chunks(chunks)
    {
    }
    __device__ int2 down(int z) const { return reaches.h.of(z * ACROSS / STEP_W, 1); }
    __device__ int2 across(int z) const { return reaches.w.of(z * ACROSS % STEP_W, ACROSS); }
    __device__ Tile operator()(int number) const
    {
        Tile tile = Base::operator()(number);
        int2 h = down(tile.z), w = across(tile.z);
        tile.steps = max(1, (h.y - h.x) * (w.y - w.x) * chunks);
        return tile;
    }
};

struct Pixels {
    // A place of the window: where it begins, without a tap.
    struct Place {
        int x, y, image;
    };

    const Map &map;  // the first, where each group of images has one
    int wide;        // channels of a box
    int chunks;      // boxes of a pixel
    Window window;
    Dividers<int> dividers;
    int group = 0;

    __device__ Place place(int number) const
    {
        int line = dividers.width.quotient(number), image = dividers.height.quotient(line);
        int down = line - image * window.h.places, across = number - line * window.w.places;
        return {window.w.source(across, 0), window.h.source(down, 0), image};
    }
    __device__ Tap tap(int number, int chunk) const
    {
        int y = number / window.w.kernel;
        return {number - y * window.w.kernel, y, chunk};
    }
    // Of a step, if the steps of a tap's channels follow each other.
    __device__ Tap tap_of(int step) const
    {
        int number = step ? step / chunks : 0;
        return tap(number, step - number * chunks);
    }
    // The next one, of taps from x = first to end.
    __device__ void advance(Tap &tap, int first, int end) const
    {
        if (++tap.chunk == chunks) tap.chunk = 0, ++tap.x;
        if (tap.x == end) tap.x = first, ++tap.y;
    }
    __device__ void advance(Tap &tap) const { advance(tap, 0, window.w.kernel); }

    // Begins to copy channels of the pixels under a tap, from a place of the window on.
    __device__ void copy(unsigned to, Place place, Tap tap, unsigned barrier) const
    {
        copy_pixels(to, (&map)[group], tap.chunk * wide, place.x, place.y, place.image,
                    tap.x * window.w.dilation, tap.y * window.h.dilation, barrier);
    }
};
