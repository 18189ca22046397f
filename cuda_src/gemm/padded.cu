// Copies lines to lines that begin at multiples of 16 bytes: of a, of which there may be none, and of b. Launch warps in
// blocks of BLOCK threads, for each line as many as it has 31 words of 16 bytes, rounded up.
// Each lane writes a word. It reads the aligned word in which its elements begin; the next lane has the rest.
// Limit: memory.
#include "common/word.cuh"
using T = half;

constexpr int BLOCK = 256, WORD = 16 / sizeof(T), USED = 31;  // USED: lanes that write

struct Lines {
    long long count, stride, elements;  // elements: of all lines, and of what lies between them
    long long words, padded;            // words of a line that are copied; elements of the copy's
    __device__ long long across() const { return (words + USED - 1) / USED; }
    __device__ long long warps() const { return count * across(); }
    __device__ void copy(T *to, const T *from, unsigned warp) const
    {
        unsigned line = warp / unsigned(across()), lane = threadIdx.x % 32;
        long long word = warp % unsigned(across()) * USED + lane;
        Piece<true, T, WORD> piece;
        piece.load(from + line * stride + word * WORD, from + elements);
        Packed<T, WORD> pack = piece.get();
        if (lane < USED && word < words) put(to + line * padded + word * WORD, pack);
    }
};

extern "C" __global__ __launch_bounds__(BLOCK) void padded(const T *__restrict__ a, T *copy_of_a,
                                                           const T *__restrict__ b, T *copy_of_b,
                                                           Lines of_a, Lines of_b)
{
    long long warp = (blockIdx.x * (long long)BLOCK + threadIdx.x) / 32, before_b = of_a.warps();
    bool is_a = warp < before_b;
    Lines lines = is_a ? of_a : of_b;
    if (!is_a) warp -= before_b;
    if (warp < lines.warps()) lines.copy(is_a ? copy_of_a : copy_of_b, is_a ? a : b, warp);
}
