// A product of matrices by tiles: a block of 256 threads makes ROWS x COLUMNS elements of it,
//     out.store(row, column, sum over a share of k of a(k, row) * b(k, column)),
// four columns at once; or, SINGLY, one by one, neighbours by neighbouring threads.
// Where a and b come from is up to them. A source has a type T; source(k, i) returns PACK neighbours,
// along k if ALONG_K, else along i, and 0 for what is past its edges.
#pragma once
#include <cuda_fp16.h>
#include "gemm/product.cuh"

constexpr int BLOCK = 256,
              SIDE = 16;  // threads: SIDE x SIDE, or fewer lines of more where there are few rows
constexpr int FOUR = 4;   // rows, and columns, that a thread has next to each other

// Split blockIdx.y of gridDim.y of what is summed over, in whole tiles.
struct Share {
    long long begin, end;
    __device__ Share(long long k, int deep)
    {
        long long tiles = (k + deep - 1) / deep, each = (tiles + gridDim.y - 1) / gridDim.y * deep;
        begin = min(k, blockIdx.y * each);
        end = min(k, begin + each);
    }
};

// A matrix in memory: `stride` elements from one line of neighbours to the next.
template <typename Element, int NEIGHBOURS, bool IS_ALONG_K>
struct Matrix {
    using T = Element;
    static constexpr int PACK = NEIGHBOURS;
    static constexpr bool ALONG_K = IS_ALONG_K;
    const T *x;
    long long stride, depth, width;  // depth: of k
    __device__ Packed<T, PACK> operator()(long long k, long long i) const
    {
        Packed<T, PACK> pack = {};
        const T *place = x + (ALONG_K ? i * stride + k : k * stride + i);
        if (k < depth && i < width) pack = *reinterpret_cast<const Packed<T, PACK> *>(place);
        return pack;
    }
};

// What a thread carries of a tile, DEEP x WIDE elements of a source, to shared memory.
template <typename Source, typename Acc, int DEEP, int WIDE>
struct Load {
    static constexpr int PACK = Source::PACK, PACKS = DEEP * WIDE / PACK;
    static constexpr int COUNT = (PACKS + BLOCK - 1) / BLOCK;
    Packed<typename Source::T, PACK> pack[COUNT];

    static __device__ int k(int n)
    {
        int p = threadIdx.x + n * BLOCK;
        return Source::ALONG_K ? p % (DEEP / PACK) * PACK : p / (WIDE / PACK);
    }
    static __device__ int i(int n)
    {
        int p = threadIdx.x + n * BLOCK;
        return Source::ALONG_K ? p / (DEEP / PACK) : p % (WIDE / PACK) * PACK;
    }
    // Whether a thread has this pack: some have one fewer where packs do not divide among them.
    static __device__ bool has(int n)
    { return PACKS % BLOCK == 0 || threadIdx.x + n * BLOCK < PACKS; }
    __device__ void fetch(const Source &source, long long first_k, long long first_i)
    {
#pragma unroll
        for (int n = 0; n < COUNT; ++n)
            if (has(n)) pack[n] = source(first_k + k(n), first_i + i(n));
    }
    template <typename Tile>
    __device__ void put(Tile &tile)
    {
#pragma unroll
        for (int n = 0; n < COUNT; ++n)
#pragma unroll
            for (int e = 0; e < PACK && has(n); ++e)
                tile[k(n) + (Source::ALONG_K ? e : 0)][i(n) + (Source::ALONG_K ? 0 : e)] =
                    Acc(pack[n][e]);
    }
};

template <int ROWS, int COLUMNS, int DEEP, typename Acc, bool SINGLY = false, typename A,
          typename B, typename Out>
__device__ void multiply(A a, B b, Out out, long long top, long long left, Share share)
{
    constexpr int DOWN = ROWS < SIDE * FOUR ? ROWS / FOUR : SIDE, ACROSS = BLOCK / DOWN;  // threads
    constexpr int HIGH = ROWS / DOWN / FOUR, WIDE = COLUMNS / ACROSS / FOUR;
    static_assert(HIGH * DOWN * FOUR == ROWS && WIDE * ACROSS * FOUR == COLUMNS, "whole quads");
    using Quad = Packed<Acc, FOUR>;
    // Two of each: one is read while the next is written. Lines are FOUR longer, so that a column
    // of them lies in different banks.
    __shared__ __align__(16) Acc tiles_a[2][DEEP][ROWS + FOUR], tiles_b[2][DEEP][COLUMNS + FOUR];
    int y = threadIdx.x / ACROSS * FOUR, x = threadIdx.x % ACROSS * FOUR;
    Load<A, Acc, DEEP, ROWS> load_a;
    Load<B, Acc, DEEP, COLUMNS> load_b;
    Quad sum[HIGH][FOUR][WIDE] = {};

    load_a.fetch(a, share.begin, top);
    load_b.fetch(b, share.begin, left);
    int now = 0;
    for (long long first = share.begin; first < share.end; first += DEEP, now ^= 1) {
        load_a.put(tiles_a[now]);
        load_b.put(tiles_b[now]);
        __syncthreads();  // these tiles are written, and the last ones read by all
        load_a.fetch(a, first + DEEP, top);  // under way while these are multiplied
        load_b.fetch(b, first + DEEP, left);
#pragma unroll
        for (int k = 0; k < DEEP; ++k) {
            Quad p[HIGH], q[WIDE];
#pragma unroll
            for (int h = 0; h < HIGH; ++h)
                p[h] = *reinterpret_cast<Quad *>(&tiles_a[now][k][y + h * DOWN * FOUR]);
#pragma unroll
            for (int w = 0; w < WIDE; ++w)
                q[w] = *reinterpret_cast<Quad *>(&tiles_b[now][k][x + w * ACROSS * FOUR]);
#pragma unroll
            for (int h = 0; h < HIGH; ++h)
#pragma unroll
                for (int r = 0; r < FOUR; ++r)
#pragma unroll
                    for (int w = 0; w < WIDE; ++w)
#pragma unroll
                        for (int c = 0; c < FOUR; ++c) sum[h][r][w][c] += p[h][r] * q[w][c];
        }
    }
#pragma unroll
    for (int h = 0; h < HIGH; ++h)
#pragma unroll
        for (int r = 0; r < FOUR; ++r) {
            long long row = top + h * DOWN * FOUR + r;
            if constexpr (SINGLY) {
                auto lines = &tiles_b[0][0];
                static_assert(DOWN <= 2 * DEEP, "tiles have room for a line of each");
                __syncthreads();
#pragma unroll
                for (int w = 0; w < WIDE; ++w)
                    *reinterpret_cast<Quad *>(lines[y / FOUR] + x + w * ACROSS * FOUR) =
                        sum[h][r][w];
                __syncthreads();
                for (int i = threadIdx.x; i < DOWN * COLUMNS; i += BLOCK) {
                    int line = i / COLUMNS, column = i % COLUMNS;
                    out.store(row + line * FOUR, left + column,
                              Packed<Acc, 1>{lines[line][column]});
                }
            } else {
#pragma unroll
                for (int w = 0; w < WIDE; ++w)
                    out.store(row + y, left + x + w * ACROSS * FOUR, sum[h][r][w]);
            }
        }
}
