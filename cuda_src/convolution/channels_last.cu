// Images x[images, groups, channels, pixels] with neighbours along their channels: out[groups, images, pixels, stride],
// where stride is a multiple of 8 and zeros follow the channels. Only the bits are moved. Two such arrays at once; the
// second may be empty. Launch a block of 256 threads for each 64 pixels of an image and each WIDE channels of a group:
// a grid of (images * groups * tiles of pixels * tiles of channels of both).
// Limit: the memory; a tile goes through shared memory, so that either way neighbours move together.
#include "common/packed.cuh"
using T = unsigned short;
constexpr int WIDE = 64;  // channels of a tile

constexpr int BLOCK = 256, PIXELS = 64, CHUNK = 8;
constexpr int PADDED = WIDE + 2;  // lines of a tile begin in different banks

struct Sizes {
    long long channels, pixels, stride;
    int images, groups;
    long long
        pack;  // pixels that are loaded at once: 4, to multiples of which images are aligned, or 1
    __device__ int across() const { return (stride + WIDE - 1) / WIDE; }
    __device__ int down() const { return (pixels + PIXELS - 1) / PIXELS; }
    __device__ int blocks() const { return images * groups * down() * across(); }
};

// Reads WIDE channels of PIXELS pixels, zeros past the end of either.
template <int PACK>
__device__ void read(T (&tile)[PIXELS * PADDED], const T *__restrict__ x, Sizes of, long long first,
                     long long start)
{
    constexpr int ALL = PIXELS * WIDE / PACK, COUNT = (ALL + BLOCK - 1) / BLOCK;
    Packed<T, PACK> packs[COUNT];  // all under way before the first is stored
#pragma unroll
    for (int n = 0; n < COUNT; ++n) {
        int i = threadIdx.x + n * BLOCK, place = i % (PIXELS / PACK) * PACK;
        long long pixel = start + place, channel = first + i / (PIXELS / PACK);
        bool there = i < ALL && pixel < of.pixels && channel < of.channels;
        packs[n] = *reinterpret_cast<const Packed<T, PACK> *>(
            x + (there ? channel * of.pixels + pixel : 0));
        for (int e = 0; e < PACK && !there; ++e) packs[n][e] = 0;
    }
#pragma unroll
    for (int n = 0; n < COUNT; ++n) {
        int i = threadIdx.x + n * BLOCK, place = i % (PIXELS / PACK) * PACK;
        for (int e = 0; e < PACK && i < ALL; ++e)
            tile[(place + e) * PADDED + i / (PIXELS / PACK)] = packs[n][e];
    }
}

extern "C" __global__ __launch_bounds__(BLOCK) void channels_last(const T *__restrict__ x, T *out,
                                                                  const T *__restrict__ other,
                                                                  T *of_other, Sizes sizes,
                                                                  Sizes others)
{
    __shared__ __align__(16) T tile[PIXELS * PADDED];
    int block = blockIdx.x;
    if (block >= sizes.blocks()) block -= sizes.blocks(), x = other, out = of_other, sizes = others;
    long long pixels = sizes.pixels, stride = sizes.stride;
    int row = block / sizes.across(), image = row / sizes.down();
    long long first = block % sizes.across() * WIDE, start = row % sizes.down() * (long long)PIXELS;
    int number = image % sizes.groups * sizes.images + image / sizes.groups;
    x += image * sizes.channels * pixels;
    out += number * pixels * stride;
    if (sizes.pack == 4) read<4>(tile, x, sizes, first, start);
    else read<1>(tile, x, sizes, first, start);
    __syncthreads();
#pragma unroll
    for (int i = threadIdx.x; i < PIXELS * WIDE / CHUNK; i += BLOCK) {
        int line = i / (WIDE / CHUNK), place = i % (WIDE / CHUNK) * CHUNK;
        const unsigned *pairs = reinterpret_cast<const unsigned *>(tile + line * PADDED + place);
        if (start + line < pixels && first + place < stride)
            *reinterpret_cast<uint4 *>(out + (start + line) * stride + first + place) =
                make_uint4(pairs[0], pairs[1], pairs[2], pairs[3]);
    }
}
