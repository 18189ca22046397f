// Images as operands of gemm/pipeline.cuh, as a window sees them: by a map in mode im2col, a tap at a time, in boxes of
// as many channels as a line of 128 bytes has.
#pragma once
#include "common/boxes.cuh"
#include "im2col/window.cuh"

// A tap of the window, and which of a pixel's boxes of channels.
struct Tap {
    int x, y, chunk;
    __device__ int number(Window window) const { return y * window.w.kernel + x; }
};

struct Pixels {
    // A place of the window: where it begins, without a tap.
    struct Place {
        int x, y, image;
    };

    const Map &map;
    int wide;    // channels of a box
    int chunks;  // boxes of a pixel
    Window window;
    Dividers<int> dividers;

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
    __device__ void advance(Tap &tap) const
    {
        if (++tap.chunk == chunks) tap.chunk = 0, ++tap.x;
        if (tap.x == window.w.kernel) tap.x = 0, ++tap.y;
    }

    // Begins to copy channels of the pixels under a tap, from a place of the window on.
    __device__ void copy(unsigned to, Place place, Tap tap, unsigned barrier) const
    {
        copy_pixels(to, map, tap.chunk * wide, place.x, place.y, place.image,
                    tap.x * window.w.dilation, tap.y * window.h.dilation, barrier);
    }
};
