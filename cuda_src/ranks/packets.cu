// All-reduce of x[n] over ranks, one launch for each: out[i] is the sum in the order of the ranks.
// Launch (blocks, y) blocks; rank `first` + blockIdx.y is a block's, as in two_shot.cu. An inbox has
// two halves, used in turn, of RANKS * ceil(n * sizeof(T) / 8) lines of 16 bytes or more, `lines` of
// them for each sender, zero before turn 1. `turn` is one more each time.
// Step 4: every 4 bytes travel beside the number of the turn, in one store of 8 bytes. Who finds the
// number has the value: no fence, no flag, no barrier, and nobody touches x and out of another rank.
// Limit: one way over a link; twice the bytes.
#include "common/packed.cuh"
using T = float;
using Acc = float;
constexpr int RANKS = 2;
constexpr int ALIGNED = 0;  // to 8 bytes: all x and out
constexpr int EACH = 8 / sizeof(T);

struct Ranks {
    const T *x[RANKS];
    T *out[RANKS];
    ulonglong2 *inbox[RANKS];
    unsigned long long turn;
};

struct alignas(8) Line {
    T element[EACH];
};

// Both packets of a line are whole, each for itself, as 8 bytes are stored and loaded at once.
__device__ void send(ulonglong2 *to, Line line, unsigned turn)
{
    uint2 words = *reinterpret_cast<uint2 *>(&line);
    unsigned long long number = (unsigned long long)turn << 32;
    asm volatile("st.relaxed.sys.global.v2.b64 [%0], {%1, %2};" ::"l"(to), "l"(number | words.x),
                 "l"(number | words.y)
                 : "memory");
}

__device__ Line receive(const ulonglong2 *from, unsigned turn)
{
    unsigned long long a, b;
    do
        asm volatile("ld.relaxed.sys.global.v2.b64 {%0, %1}, [%2];"
                     : "=l"(a), "=l"(b)
                     : "l"(from)
                     : "memory");
    while (a >> 32 != turn || b >> 32 != turn);
    uint2 words = {unsigned(a), unsigned(b)};
    return *reinterpret_cast<Line *>(&words);
}

__device__ Line load(const T *x, long long line, long long n)
{
    if (ALIGNED && (line + 1) * EACH <= n) return reinterpret_cast<const Line *>(x)[line];
    Line got = {};
    for (int k = 0; k < EACH && line * EACH + k < n; ++k) got.element[k] = x[line * EACH + k];
    return got;
}

__device__ void store(T *out, long long line, long long n, Line sums)
{
    if (ALIGNED && (line + 1) * EACH <= n) reinterpret_cast<Line *>(out)[line] = sums;
    else
        for (int k = 0; k < EACH && line * EACH + k < n; ++k)
            out[line * EACH + k] = sums.element[k];
}

extern "C" __global__ void packets(const Ranks ranks, long long n, long long lines, int first)
{
    int rank = first + blockIdx.y;
    unsigned turn = ranks.turn;
    long long half = turn % 2 * RANKS * lines, step = gridDim.x * (long long)blockDim.x;
    long long thread = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    for (long long i = thread; i * EACH < n; i += step) {
        Line mine = load(ranks.x[rank], i, n);
#pragma unroll
        for (int r = 0; r < RANKS; ++r)
            if (r != rank) send(ranks.inbox[r] + half + rank * lines + i, mine, turn);
    }
    for (long long i = thread; i * EACH < n; i += step) {
        Line got[RANKS], sums;
#pragma unroll
        for (int r = 0; r < RANKS; ++r)
            got[r] = r == rank ? load(ranks.x[rank], i, n)
                               : receive(ranks.inbox[rank] + half + r * lines + i, turn);
#pragma unroll
        for (int k = 0; k < EACH; ++k) {
            Acc total = got[0].element[k];
#pragma unroll
            for (int r = 1; r < RANKS; ++r) total += Acc(got[r].element[k]);
            sums.element[k] = T(total);
        }
        store(ranks.out[rank], i, n, sums);
    }
}
