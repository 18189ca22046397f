// Lines of pixels, x[lines, width, channels] -> out[lines, wide, stride], whose first pixel is `pad` before the line's:
// zeros there, past its end and past the channels. stride is a multiple of 8. Only the bits are moved; a thread has 8
// neighbours of the n / 8 of out.
// Limit: the memory.
#include "common/word.cuh"
using T = unsigned short;

extern "C" __global__ void widened(const T *__restrict__ x, T *out, long long n, int width,
                                   int channels, int wide, int stride, int pad)
{
    constexpr int CHUNK = 8;
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i * CHUNK >= n) return;
    int chunks = stride / CHUNK, first = i % chunks * CHUNK;
    long long pixel = i / chunks, line = pixel / wide;
    int at = int(pixel - line * wide) - pad;
    const T *from = x + (line * width + at) * channels + first;
    Packed<T, CHUNK> pack;
#pragma unroll
    for (int e = 0; e < CHUNK; ++e)
        pack[e] = at >= 0 && at < width && first + e < channels ? from[e] : T(0);
    put(out + i * CHUNK, pack);
}
