// Images x[images, groups, channels, pixels] with neighbours along their channels: out[groups, images, pixels, stride],
// where stride is a multiple of 8 and zeros follow the channels. Only the bits are moved. Two such arrays at once; the
// second may be empty. Launch a block of 256 threads for each 64 pixels of an image and each WIDE channels of a group:
// a grid of (images * groups * tiles of pixels * tiles of channels of both).
// Limit: the memory; a tile goes through shared memory, so that either way neighbours move together.
using T = unsigned short;
constexpr int WIDE = 64;  // channels of a tile

constexpr int BLOCK = 256, PIXELS = 64, CHUNK = 8;
constexpr int PADDED = WIDE + 2;  // lines of a tile begin in different banks

struct Sizes {
    long long channels, pixels, stride;
    int images, groups;
    __device__ int across() const { return (stride + WIDE - 1) / WIDE; }
    __device__ int down() const { return (pixels + PIXELS - 1) / PIXELS; }
    __device__ int blocks() const { return images * groups * down() * across(); }
};

extern "C" __global__ __launch_bounds__(BLOCK) void channels_last(const T *__restrict__ x, T *out,
                                                                  const T *__restrict__ other,
                                                                  T *of_other, Sizes sizes,
                                                                  Sizes others)
{
    __shared__ __align__(16) T tile[PIXELS * PADDED];
    int block = blockIdx.x;
    if (block >= sizes.blocks()) block -= sizes.blocks(), x = other, out = of_other, sizes = others;
    long long channels = sizes.channels, pixels = sizes.pixels, stride = sizes.stride;
    int row = block / sizes.across(), image = row / sizes.down();
    long long first = block % sizes.across() * WIDE, start = row % sizes.down() * (long long)PIXELS;
    int number = image % sizes.groups * sizes.images + image / sizes.groups;
    x += image * channels * pixels;
    out += number * pixels * stride;
#pragma unroll
    for (int i = threadIdx.x; i < PIXELS * WIDE; i += BLOCK) {
        long long pixel = start + i % PIXELS, channel = first + i / PIXELS;
        bool there = pixel < pixels && channel < channels;
        tile[i % PIXELS * PADDED + i / PIXELS] = there ? x[channel * pixels + pixel] : T(0);
    }
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
