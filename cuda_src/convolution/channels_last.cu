// Images x[images, groups, channels, pixels] with neighbours along their channels: out[groups, images, pixels, stride],
// where stride is a multiple of 8 and zeros follow the channels. Only the bits are moved. Launch a block of 256 threads
// for each 64 pixels of an image and each WIDE channels of a group: a grid of (images * groups * tiles of pixels *
// tiles of channels).
// Limit: the memory; a tile goes through shared memory, so that either way neighbours move together.
using T = unsigned short;
constexpr int WIDE = 64;  // channels of a tile

constexpr int BLOCK = 256, PIXELS = 64, CHUNK = 8;
constexpr int PADDED = WIDE + 2;  // lines of a tile begin in different banks

extern "C" __global__ __launch_bounds__(BLOCK) void channels_last(const T *__restrict__ x, T *out,
                                                                  long long channels,
                                                                  long long pixels,
                                                                  long long stride, int images,
                                                                  int groups)
{
    __shared__ __align__(16) T tile[PIXELS * PADDED];
    int across = (stride + WIDE - 1) / WIDE, down = (pixels + PIXELS - 1) / PIXELS;
    int row = blockIdx.x / across;
    long long image = row / down, first = blockIdx.x % across * WIDE;
    long long start = row % down * (long long)PIXELS;
    x += image * channels * pixels;
    out += (image % groups * images + image / groups) * pixels * stride;
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
