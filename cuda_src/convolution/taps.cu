// A convolution's weight as tensor.cu takes it: w, whose lines, channels and taps are `line`, `step` and `tap` elements
// from one to the next -> out[groups, steps / last, lines, last, taps_h, taps_w, stride], of steps_h * steps_w steps. A
// group of w is `group` elements long. A group of out may have several of w, of `each` lines: their channels lie side by
// side, with zeros for the channels of the others.
// stride is a multiple of 8, and zeros follow the channels, of which a group of w has `channels`. Tap t of step s is
// tap (first + along * s - by * t) / over of w, where that is a whole one; others are zeros. Only the bits are moved; a
// thread has 8 neighbours. FIRST: what threads next to each other take, because it lies side by side in w.
#include "common/word.cuh"
using T = unsigned short;
enum { CHANNELS, LINES, TAPS };
constexpr int FIRST = CHANNELS;

struct Way {
    int steps, taps, kernel;
    int first, along, by, over;
    // Which tap of w this is; -1: none.
    __device__ int source(int step, int tap) const
    {
        int number = first + along * step - by * tap;
        bool whole = number >= 0 && number % over == 0 && number / over < kernel;
        return whole ? number / over : -1;
    }
};
struct Ways {
    Way h, w;
};

extern "C" __global__ void taps(const T *__restrict__ w, T *out, long long n, long long lines,
                                long long group, long long line, long long step, long long tap,
                                long long channels, long long stride, Ways ways, int last, int each)
{
    constexpr int CHUNK = 8;
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i >= n) return;
    auto next = [&](long long count) {
        long long number = i % count;
        i /= count;
        return number;
    };
    long long chunks = stride / CHUNK, which = 0, chunk = 0;
    if (FIRST == LINES) which = next(lines);
    if (FIRST != TAPS) chunk = next(chunks);
    int tap_w = next(ways.w.taps), tap_h = next(ways.h.taps);
    if (FIRST == TAPS) which = next(lines), chunk = next(chunks);
    int number = next(last);
    if (FIRST == CHANNELS) which = next(lines);
    int firsts = ways.h.steps * ways.w.steps / last;
    long long place = (i * lines + which) * last + number;
    place = (place * ways.h.taps + tap_h) * ways.w.taps + tap_w;
    number += i % firsts * last;
    int h = ways.h.source(number / ways.w.steps, tap_h);
    int at = ways.w.source(number % ways.w.steps, tap_w);
    long long inner = which / each, groups = lines / each;
    const T *from = w + (i / firsts * groups + inner) * group + (which - inner * each) * line +
                    (h * ways.w.kernel + at) * tap;
    Packed<T, CHUNK> pack;
#pragma unroll
    for (int e = 0; e < CHUNK; ++e) {
        long long channel = chunk * CHUNK + e - inner * channels;
        bool wanted = channel >= 0 && channel < channels;
        pack[e] = h >= 0 && at >= 0 && wanted ? from[channel * step] : T(0);
    }
    put(out + (place * chunks + chunk) * CHUNK, pack);
}
