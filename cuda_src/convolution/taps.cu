// A convolution's weight as tensor.cu takes it: w, whose lines, channels and taps are `line`, `step` and `tap` elements
// from one to the next -> out[groups, lines, steps_h, steps_w, taps_h, taps_w, stride], or of one group STEPS_FIRST and
// then the lines. A group of w is `group` elements long.
// stride is a multiple of 8, and zeros follow the `channels`. Tap t of step s is tap (first + s - by * t) / over
// of w, where that is a whole one; others are zeros. Only the bits are moved; a thread has 8 neighbours.
#include "common/word.cuh"
using T = unsigned short;
constexpr int STEPS_FIRST = 0;

struct Way {
    int steps, taps, kernel;
    int first, by, over;
    // Which tap of w this is; -1: none.
    __device__ int source(int step, int tap) const
    {
        int number = first + step - by * tap;
        bool whole = number >= 0 && number % over == 0 && number / over < kernel;
        return whole ? number / over : -1;
    }
};
struct Ways {
    Way h, w;
};

extern "C" __global__ void taps(const T *__restrict__ w, T *out, long long n, long long lines,
                                long long group, long long line, long long step, long long tap,
                                long long channels, long long stride, Ways ways)
{
    constexpr int CHUNK = 8;
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x, chunks = stride / CHUNK;
    if (i >= n) return;
    long long first = i % chunks * CHUNK, rest = i / chunks;
    int tap_w = rest % ways.w.taps, tap_h = (rest /= ways.w.taps) % ways.h.taps;
    rest /= ways.h.taps;
    int steps = ways.h.steps * ways.w.steps;
    int number = STEPS_FIRST ? rest / lines : rest % steps;
    long long which = STEPS_FIRST ? rest % lines : rest / steps;
    int h = ways.h.source(number / ways.w.steps, tap_h);
    int at = ways.w.source(number % ways.w.steps, tap_w);
    const T *from =
        w + which / lines * group + which % lines * line + (h * ways.w.kernel + at) * tap;
    Packed<T, CHUNK> pack;
#pragma unroll
    for (int e = 0; e < CHUNK; ++e) {
        bool there = h >= 0 && at >= 0 && first + e < channels;
        pack[e] = there ? from[(first + e) * step] : T(0);
    }
    put(out + i * CHUNK, pack);
}
