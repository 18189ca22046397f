// Reduction over the middle of x[outer, reduce, inner] -> out[outer, inner]. Launch a grid of
// (outer * tiles, chunks) blocks of (width, height) threads, BLOCK in all at most, where
// tiles * width * PACK >= inner. PACK divides inner and x is aligned to a pack. totals holds
// outer * chunks * inner values; arrived[outer * tiles] starts at zero and is zero again at the end.
// Step 3: a thread owns PACK columns; the threads of a block that share them take turns at the rows, meet in
// shared memory, and the last chunk of a tile to arrive folds the chunks: one launch. Where PACK does not divide
// inner, in totals it is rounded up to packs. SHIFTED = 1: packs of 16 bytes are cut from two aligned ones. Or
// MERGED rows count as one, which PACK divides and which is one tile.
// Limit: memory.
#include "common/operators.cuh"
#include "common/reduce.cuh"
#include "common/word.cuh"
using T = float;
using Acc = float;
using Out = float;
using Op = Sum<Acc>;
constexpr int PACK = 4;
constexpr int BLOCK = 256;
constexpr int UNROLL = 4;
constexpr int SHIFTED = 0;
constexpr int MERGED = 1;

// Folds this thread's PACK columns over every blockDim.y-th of the rows begin .. end; a Piece is a pack.
template <bool SHIFT, typename V>
__device__ Packed<Acc, PACK> fold_rows(const V *x, long long begin, long long end, long long inner,
                                       long long column)
{
    Op op;
    Packed<Acc, PACK> acc;
    for (int k = 0; k < PACK; ++k) acc[k] = op.initial();
    int tall = blockDim.y;
    long long row = column < inner ? begin + threadIdx.y : end;
    for (; row < end; row += UNROLL * tall) {
        Piece<SHIFT, V, PACK> p[UNROLL];
#pragma unroll
        for (int u = 0; u < UNROLL; ++u)
            if (row + u * tall < end) p[u].load(x + (row + u * tall) * inner + column);
#pragma unroll
        for (int u = 0; u < UNROLL; ++u) {
            if (row + u * tall >= end) break;
            Packed<V, PACK> pack = p[u].get();
            for (int k = 0; k < PACK; ++k) acc[k] = op(acc[k], op.from(pack[k], row + u * tall));
        }
    }
    return acc;
}

// Folds the threads one above the other, and returns the results of the block's columns.
__device__ Acc *fold_block(Packed<Acc, PACK> acc)
{
    __shared__ Packed<Acc, PACK> s[BLOCK];
    Op op;
    int y = threadIdx.y, at = y * blockDim.x + threadIdx.x;
    for (int half = blockDim.y / 2; half > 0; half /= 2) {
        if (y >= half) s[at] = acc;
        __syncthreads();  // the lower half is written
        if (y < half)
            for (int k = 0; k < PACK; ++k) acc[k] = op(acc[k], s[at + half * blockDim.x][k]);
        __syncthreads();  // and read
    }
    if (y == 0) s[at] = acc;
    __syncthreads();  // the results are there
    return s[0].element;
}

extern "C" __global__
__launch_bounds__(BLOCK, 1024 / BLOCK) void tiles(const T *__restrict__ x, Out *out,
                                                  long long outer, long long reduce,
                                                  long long inner, Acc *totals, unsigned *arrived)
{
    Op op;
    int tiles = gridDim.x / int(outer), width = blockDim.x * PACK, chunks = gridDim.y;
    int y = threadIdx.y, height = blockDim.y, tid = y * blockDim.x + threadIdx.x;
    int threads = blockDim.x * height;
    long long slice = blockIdx.x / tiles, chunk = blockIdx.y;
    long long first = blockIdx.x % tiles * (long long)width, column = first + threadIdx.x * PACK;
    long long wide = MERGED * inner, rows = (reduce + MERGED - 1) / MERGED;
    long long begin = 0, end = rows, pitch = (wide + PACK - 1) / PACK * PACK;
    if (chunks > 1) {
        rows = (rows + chunks - 1) / chunks;
        begin = chunk * rows, end = min(end, begin + rows);
    }
    x += slice * reduce * inner;

    // This thread's last pack may go past the end of the slice.
    long long last = begin + y + ((end - begin - 1 - y) & -height);
    long long left = reduce * inner - last * wide - column;
    bool ragged =
        (SHIFTED || MERGED > 1) && begin + y < end && column < wide && left < (1 + SHIFTED) * PACK;
    Packed<T, PACK> rest;
    for (int k = 0; k < PACK; ++k)
        if (ragged && k < left) rest[k] = x[last * wide + column + k];
    auto acc = fold_rows<SHIFTED>(x, begin, ragged ? last : end, wide, column);
    for (int k = 0; k < PACK; ++k)
        if (ragged && k < left) acc[k] = op(acc[k], op.from(rest[k], last));

    Acc *row = fold_block(acc);
    if (chunks > 1) {
        totals += slice * chunks * pitch;
        for (int j = tid; j < min((long long)width, pitch - first); j += threads)
            totals[chunk * pitch + first + j] = row[j];
        if (!last_to_arrive(arrived + blockIdx.x, chunks)) return;
        row = fold_block(fold_rows<false>(totals, 0, chunks, pitch, column));
    }
    for (int j = tid; j < min((long long)width, inner - first); j += threads) {
        for (int r = 1; r < MERGED; ++r) row[j] = op(row[j], row[r * inner + j]);
        out[slice * inner + first + j] = Out(op.finish(row[j], reduce));
    }
}
