// Images as operands of gemm/pipeline.cuh, as a window sees them: by a map in mode im2col, a tap at a time, in boxes of
// as many channels as a line of 128 bytes has.
#pragma once
#include "common/boxes.cuh"
#include "im2col/window.cuh"

struct Pixels {
    const Map &map;
    int wide;  // channels of a box
    Window window;
    Dividers<int> dividers;

    // Begins to copy channels of the pixels under a tap, from a place of the window on.
    __device__ void copy(unsigned to, int place, int tap, int chunk, unsigned barrier) const
    {
        int line = dividers.width.quotient(place), image = dividers.height.quotient(line);
        int down = line - image * window.h.places, across = place - line * window.w.places;
        int y = tap / window.w.kernel, x = tap - y * window.w.kernel;
        copy_pixels(to, map, chunk * wide, window.w.source(across, 0), window.h.source(down, 0),
                    image, x * window.w.dilation, y * window.h.dilation, barrier);
    }
};
