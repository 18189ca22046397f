// Images x[images, height, width, channels] -> out[images, high, wide, GROUP, STRIDE]: a pixel of out holds GROUP pixels
// of x, one below the other. The first of all is `pad_h` and `pad_w` before an image's first; zeros are there, past its
// end and past the channels. GROUP * STRIDE is a multiple of 8. Only the bits are moved; a thread has 8 neighbours of out,
// whose number is 8 * n. Or two such arrays, in one launch: of further threads, n of the second.
// Limit: the memory.
#include "common/word.cuh"
using T = unsigned short;
constexpr int GROUP = 1;
constexpr int STRIDE = 8;

struct Widening {
    int height, width, channels;
    int high, wide;
    int pad_h, pad_w;
};

struct Array {
    unsigned n;
    Widening to;
};

__device__ void widen(const T *__restrict__ x, T *out, unsigned i, Widening to)
{
    constexpr int CHUNK = 8;
    unsigned chunks = GROUP * STRIDE / CHUNK, pixel = i / chunks, line = pixel / to.wide;
    int first = (i - pixel * chunks) * CHUNK, across = int(pixel - line * to.wide) - to.pad_w;
    unsigned image = line / to.high;
    int down = int(line - image * to.high) * GROUP - to.pad_h;
    Packed<T, CHUNK> pack;
#pragma unroll
    for (int e = 0; e < CHUNK; ++e) {
        int row = down + (first + e) / STRIDE, channel = (first + e) % STRIDE;
        bool inside = row >= 0 && row < to.height && across >= 0 && across < to.width;
        long long place = (image * (long long)to.height + row) * to.width + across;
        pack[e] = inside && channel < to.channels ? x[place * to.channels + channel] : T(0);
    }
    put(out + i * (long long)CHUNK, pack);
}

extern "C" __global__ void widened(const T *__restrict__ x, T *out, const T *__restrict__ second,
                                   T *out_of_second, Array of_x, Array of_second)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < of_x.n) widen(x, out, i, of_x.to);
    else if (i - of_x.n < of_second.n) widen(second, out_of_second, i - of_x.n, of_second.to);
}
