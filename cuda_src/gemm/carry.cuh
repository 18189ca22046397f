// What threads carry from a matrix to tiles in shared memory, as Load of gemm/tiles.cuh does, by fewer instructions:
// one address, which moves on from tile to tile, and a bit for each pack.
#pragma once
#include "gemm/tiles.cuh"

// What a thread carries of a tile of WIDE rows of a, or columns of b, to shared memory, where k comes first.
template <typename T, typename Acc, bool ALONG_K, int DEEP, int WIDE>
struct Carry {
    static constexpr int COUNT = DEEP * WIDE / FOUR / BLOCK, LINE = WIDE + FOUR;
    static constexpr int NEXT_K = ALONG_K ? 0 : BLOCK * FOUR / WIDE;  // from pack to pack
    static constexpr int NEXT_I = ALONG_K ? BLOCK * FOUR / DEEP : 0;
    Packed<T, FOUR> pack[COUNT];
    const T *from;  // the first pack of the next tile
    long long stride, depth;
    unsigned inside = 0;  // a bit for each pack: the matrix is so wide

    static __device__ int k()
    { return ALONG_K ? threadIdx.x % (DEEP / FOUR) * FOUR : threadIdx.x / (WIDE / FOUR); }
    static __device__ int i()
    { return ALONG_K ? threadIdx.x / (DEEP / FOUR) : threadIdx.x % (WIDE / FOUR) * FOUR; }
    // Of x from this k and i on, so many elements deep and wide.
    __device__ Carry(const T *x, long long stride, long long first_k, long long first_i,
                     long long depth, long long width)
        : stride(stride), depth(depth)
    {
        first_k += k(), first_i += i();
        from = x + (ALONG_K ? first_i * stride + first_k : first_k * stride + first_i);
        for (int n = 0; n < COUNT; ++n) inside |= unsigned(first_i + n * NEXT_I < width) << n;
    }
    __device__ void fetch()
    {
        int deep = int(min(depth, (long long)DEEP)) - k();
#pragma unroll
        for (int n = 0; n < COUNT; ++n) {
            pack[n] = {};
            const T *place = from + (ALONG_K ? n * NEXT_I * stride : n * NEXT_K * stride);
            if ((inside >> n & 1) && n * NEXT_K < deep)
                pack[n] = *reinterpret_cast<const Packed<T, FOUR> *>(place);
        }
        from += ALONG_K ? DEEP : DEEP * stride;
        depth -= DEEP;
    }
    __device__ void put(Acc *tile)
    {
#pragma unroll
        for (int n = 0; n < COUNT; ++n)
#pragma unroll
            for (int e = 0; e < FOUR; ++e)
                tile[(k() + n * NEXT_K + (ALONG_K ? e : 0)) * LINE + i() + n * NEXT_I +
                     (ALONG_K ? 0 : e)] = Acc(pack[n][e]);
    }
};
