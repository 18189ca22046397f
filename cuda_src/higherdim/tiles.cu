// Reduction over the middle of x[outer, reduce, inner] -> out[outer, inner]. Launch a grid of
// (outer * tiles, chunks) blocks of (width, height) threads, BLOCK in all at most, where
// tiles * width * PACK >= inner. PACK divides inner and x is aligned to a pack. totals holds
// outer * chunks * inner values; arrived[outer * tiles] starts at zero and is zero again at the end.
// Step 3: a thread owns PACK columns; the threads of a block that share them take turns at the rows, meet in
// shared memory, and the last chunk of a tile to arrive folds the chunks: one launch. SHIFTED = 1: rows begin
// anywhere. A warp's last lane then has no columns, and a row of totals is rounded up to packs.
// MERGED rows count as one, of which a tile has all: for rows too short for packs.
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

// Folds this thread's PACK columns over every blockDim.y-th of the rows begin .. end; x ends at x_end.
template <bool SHIFT, typename V>
__device__ Packed<Acc, PACK> fold_rows(const V *x, long long begin, long long end, long long inner,
                                       long long column, const V *x_end)
{
    Op op;
    Packed<Acc, PACK> acc;
    for (int k = 0; k < PACK; ++k) acc[k] = op.initial();
    int tall = blockDim.y, rows = SHIFT || column < inner ? end - begin : 0;
    x += (begin + threadIdx.y) * inner + column;
    for (int row = threadIdx.y; row < rows; row += UNROLL * tall) {
        Piece<SHIFT, V, PACK> p[UNROLL];  // packs
#pragma unroll
        for (int u = 0; u < UNROLL; ++u, x += tall * inner)
            if (row + u * tall < rows) p[u].load(x, x_end);
#pragma unroll
        for (int u = 0; u < UNROLL; ++u) {
            if (row + u * tall >= rows) break;
            Packed<V, PACK> pack = p[u].get();
            for (int k = 0; k < PACK; ++k)
                acc[k] = op(acc[k], op.from(pack[k], begin + row + u * tall));
        }
    }
    return acc;
}

// Folds the threads one above the other; returns the results of the block's columns, a thread's pack
// at this place (-1: it has none).
__device__ Acc *fold_block(Packed<Acc, PACK> acc, int place)
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
    if (y == 0 && place >= 0) s[place] = acc;
    __syncthreads();  // the results are there
    return s[0].element;
}

extern "C" __global__
__launch_bounds__(BLOCK, 1024 / BLOCK) void tiles(const T *__restrict__ x, Out *out,
                                                  long long outer, long long reduce,
                                                  long long inner, Acc *totals, unsigned *arrived)
{
    Op op;
    int tiles = gridDim.x / int(outer), chunks = gridDim.y;
    int place = threadIdx.x - SHIFTED * (threadIdx.x / 32);  // of its pack in the tile
    int width = (blockDim.x - SHIFTED * blockDim.x / 32) * PACK;
    int tid = threadIdx.y * blockDim.x + threadIdx.x, threads = blockDim.x * blockDim.y;
    long long slice = blockIdx.x / tiles, chunk = blockIdx.y;
    long long first = blockIdx.x % tiles * (long long)width, column = first + place * PACK;
    bool lends = SHIFTED && threadIdx.x % 32 == 31;  // to its neighbour, and has no columns
    long long wide = MERGED * inner, rows = reduce / MERGED, begin = 0, end = rows;
    if (chunks > 1) {
        long long share = (rows + chunks - 1) / chunks;
        begin = chunk * share, end = min(rows, begin + share);
    }
    const T *x_end = x + outer * reduce * inner;
    x += slice * reduce * inner;

    // Rows that are too few to be merged.
    long long left = reduce * inner - rows * wide - column;
    bool has_rest = MERGED > 1 && chunk == 0 && threadIdx.y == 0;
    Packed<T, PACK> last;
    for (int k = 0; k < PACK; ++k)
        if (has_rest && k < left) last[k] = x[rows * wide + column + k];
    auto acc = fold_rows<SHIFTED>(x, begin, end, wide, column, x_end);
    for (int k = 0; k < PACK; ++k)
        if (has_rest && k < left) acc[k] = op(acc[k], op.from(last[k], rows));

    Acc *row = fold_block(acc, lends ? -1 : place);
    if (chunks > 1) {
        long long pitch = (wide + PACK - 1) / PACK * PACK;
        int columns = min((long long)width, pitch - first);
        totals += slice * chunks * pitch;
        for (int j = tid; j < columns; j += threads) totals[chunk * pitch + first + j] = row[j];
        if (!last_to_arrive(arrived + blockIdx.x, chunks)) return;
        acc = fold_rows<false>(totals, 0, chunks, pitch, lends ? pitch : column, totals);
        row = fold_block(acc, lends ? -1 : place);
    }
    for (int count = MERGED; count > 1; count = (count + 1) / 2) {  // of rows that are one
        int half = (count + 1) / 2, lower = half * inner, upper = (count - half) * inner;
        for (int j = tid; j < upper; j += threads) row[j] = op(row[j], row[lower + j]);
        __syncthreads();  // the upper half is folded
    }
    for (int j = tid; j < min((long long)width, inner - first); j += threads)
        out[slice * inner + first + j] = Out(op.finish(row[j], reduce));
}
