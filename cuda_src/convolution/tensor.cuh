// Images as operands of gemm/tensor.cuh, as a window sees them: x[images, H, W, channels], where `channels` is a
// multiple of what 16 bytes hold. An element of the window is a tap and a channel: [kernel_h, kernel_w, channels].
// All pixels and all places of the window are fewer than 2^31; in an image the latter begin within +- 2^15.
#pragma once
#include "gemm/tensor.cuh"
#include "im2col/window.cuh"

template <typename Element>
struct Images {
    using T = Element;
    const T *x;
    int channels;
    Window window;
    Dividers<int> dividers;

    // A place of the window: its image, and where element 0 of the window is in that.
    struct Place {
        int image;
        short row, column;
    };
    __device__ Place place(int number, bool exists) const
    {
        int line = dividers.width.quotient(number), image = dividers.height.quotient(line);
        int row = window.h.source(line - image * window.h.places, 0);
        int column = window.w.source(number - line * window.w.places, 0);
        return {image, short(exists ? row : -32768), short(column)};  // far outside of any image
    }

    // An element of the window, the first of a chunk.
    struct Tap {
        int row, column, channel;
    };
    __device__ Tap tap(int number) const
    {
        int taps = number / channels, row = taps / window.w.kernel;
        return {row, taps - row * window.w.kernel, number - taps * channels};
    }
    __device__ void advance(Tap &tap, int elements) const
    {
        for (tap.channel += elements; tap.channel >= channels; tap.channel -= channels)
            if (++tap.column == window.w.kernel) tap.column = 0, ++tap.row;
    }

    // Copy a chunk to shared memory; zeros if it lies outside of its image, or is not wanted.
    __device__ void copy(unsigned to, Place place, Tap tap, bool wanted) const
    {
        int row = place.row + tap.row * window.h.dilation;
        int column = place.column + tap.column * window.w.dilation;
        bool there = wanted && window.h.inside(row) && window.w.inside(column);
        int pixel = (place.image * window.h.image + row) * window.w.image + column;
        copy_async(to, x + (there ? pixel * (long long)channels + tap.channel : 0),
                   there ? CHUNK : 0);
    }
};

// The elements of windows, [taps * channels, places], summed over: a line for each place.
template <typename Source, int PLACES, int BLOCK>
struct WindowLines {
    using T = typename Source::T;
    static constexpr bool ALONG_K = true;
    static constexpr int SIDE = PLACES, PACK = CHUNK / sizeof(T), DEEP = LINE / sizeof(T);
    static constexpr int COPIES = SIDE * CHUNKS / BLOCK, ROUND = BLOCK / CHUNKS;
    static_assert(COPIES * BLOCK == SIDE * CHUNKS && ROUND % 8 == 0, "as many chunks each");

    Source images;
    unsigned to;
    int deep;
    typename Source::Tap tap;
    typename Source::Place places[COPIES];

    // From this element of the window and place on; places end at `end`.
    __device__ WindowLines(const Source &images, int element, int place, int end) : images(images)
    {
        int line = threadIdx.x / CHUNKS, chunk = threadIdx.x % CHUNKS;
        to = line * LINE + (chunk ^ line % 8) * CHUNK;
        deep = chunk * PACK;
        tap = images.tap(element + deep);
#pragma unroll
        for (int n = 0; n < COPIES; ++n) {
            int number = place + line + n * ROUND;
            places[n] = images.place(number, number < end);
        }
    }
    template <int FIRST, int LAST>
    __device__ void copy(unsigned tile, int left)
    {
#pragma unroll
        for (int n = FIRST; n < LAST; ++n)
            images.copy(tile + to + n * ROUND * LINE, places[n], tap, deep < left);
    }
    __device__ void advance() { images.advance(tap, DEEP); }
};

// The same, [places, taps * channels], summed over the places: a line for each, in panels along the window.
template <typename Source, int ELEMENTS, int BLOCK>
struct WindowPanels {
    using T = typename Source::T;
    static constexpr bool ALONG_K = false;
    static constexpr int SIDE = ELEMENTS, PACK = CHUNK / sizeof(T), DEEP = LINE / sizeof(T);
    static constexpr int COPIES = SIDE * CHUNKS / BLOCK, ROUND = BLOCK / CHUNKS;
    static constexpr int LINES = DEEP / ROUND, PANELS = COPIES / LINES;  // of a thread
    static_assert(LINES * ROUND == DEEP && PANELS * DEEP == SIDE, "whole panels");

    Source images;
    unsigned to;
    int place, line;
    typename Source::Tap taps[PANELS];
    bool wanted[PANELS];

    // From this place and element of the window on; the window's elements end at `end`.
    __device__ WindowPanels(const Source &images, int place, int element, int end)
        : images(images), place(place), line(threadIdx.x / CHUNKS)
    {
        int chunk = threadIdx.x % CHUNKS;
        to = line * LINE + (chunk ^ line % 8) * CHUNK;
#pragma unroll
        for (int p = 0; p < PANELS; ++p) {
            int number = element + p * DEEP + chunk * PACK;
            taps[p] = images.tap(number);
            wanted[p] = number < end;
        }
    }
    template <int FIRST, int LAST>
    __device__ void copy(unsigned tile, int left)
    {
#pragma unroll
        for (int n = FIRST; n < LAST; ++n) {
            int more = line + n % LINES * ROUND;
            auto from = images.place(place + more, more < left);
            images.copy(tile + to + n * ROUND * LINE, from, taps[n / LINES], wanted[n / LINES]);
        }
    }
    __device__ void advance() { place += DEEP; }
};
