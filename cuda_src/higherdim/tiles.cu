// Reduction over the middle of x[outer, reduce, inner] -> out[outer, inner]. Launch a grid of
// (outer * tiles, chunks) blocks of (width, height) threads, BLOCK in all, where
// tiles * width * PACK >= inner. PACK divides inner and x is aligned to a pack, unless APART = 1. totals
// holds outer * chunks * inner values; arrived[outer * tiles] starts at zero and is zero again at the end.
// Step 3: a thread owns PACK columns; the threads of a block that share them take turns at the rows, meet
// in shared memory, and the last chunk of a tile to arrive folds the chunks: one launch. APART = 1: these
// columns are not neighbours but the block's width from each other, so that rows may begin anywhere.
// Limit: memory.
#include "common/operators.cuh"
#include "common/reduce.cuh"
using T = float;
using Acc = float;
using Out = float;
using Op = Sum<Acc>;
constexpr int PACK = 4;
constexpr int BLOCK = 256;
constexpr int UNROLL = 4;
constexpr int APART = 0;

// Folds this thread's PACK columns over every blockDim.y-th of the rows begin .. end.
template <typename V>
__device__ Packed<Acc, PACK> fold_rows(const V *x, long long begin, long long end, long long inner,
                                       long long column)
{
    Op op;
    Packed<Acc, PACK> acc;
    for (int k = 0; k < PACK; ++k) acc[k] = op.initial();
    int tall = blockDim.y;
    auto pack = reinterpret_cast<const Packed<V, PACK> *>(x + column);
    long long row = column < inner ? begin + threadIdx.y : end;
    for (; row < end; row += UNROLL * tall) {
        Packed<V, PACK> p[UNROLL];
#pragma unroll
        for (int u = 0; u < UNROLL; ++u)
            if (APART)
                for (int k = 0; k < PACK && row + u * tall < end; ++k) {
                    long long at = column + k * blockDim.x;
                    if (at < inner) p[u][k] = x[(row + u * tall) * inner + at];
                }
            else if (row + u * tall < end) p[u] = pack[(row + u * tall) * (inner / PACK)];
#pragma unroll
        for (int u = 0; u < UNROLL; ++u)
            for (int k = 0; k < PACK && row + u * tall < end; ++k)
                acc[k] = op(acc[k], op.from(p[u][k], row + u * tall));
    }
    return acc;
}

// Folds the threads one above the other; the threads of row 0 of the block have the result.
__device__ Packed<Acc, PACK> fold_block(Packed<Acc, PACK> acc)
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
    return acc;
}

// Stores the PACK columns of a thread, of which `left` are those from the first on that there are.
template <typename V>
__device__ void store(V *row, Packed<V, PACK> p, long long left)
{
    if (!APART) *reinterpret_cast<Packed<V, PACK> *>(row) = p;
    for (int k = 0; k < PACK && APART; ++k)
        if (k * blockDim.x < left) row[k * blockDim.x] = p[k];
}

extern "C" __global__ void tiles(const T *__restrict__ x, Out *out, long long outer,
                                 long long reduce, long long inner, Acc *totals, unsigned *arrived)
{
    Op op;
    int width = blockDim.x * PACK, tiles = (inner + width - 1) / width, chunks = gridDim.y;
    long long slice = blockIdx.x / tiles, chunk = blockIdx.y;
    long long column = blockIdx.x % tiles * (long long)width + threadIdx.x * (APART ? 1 : PACK);
    long long rows = (reduce + chunks - 1) / chunks;
    bool mine = threadIdx.y == 0 && column < inner;
    long long begin = chunk * rows, end = min(reduce, begin + rows);
    auto acc = fold_block(fold_rows(x + slice * reduce * inner, begin, end, inner, column));
    if (chunks > 1) {
        totals += slice * chunks * inner;
        if (mine) store(totals + chunk * inner + column, acc, inner - column);
        if (!last_to_arrive(arrived + blockIdx.x, chunks)) return;
        acc = fold_block(fold_rows(totals, 0, chunks, inner, column));
    }
    if (!mine) return;
    Packed<Out, PACK> result;
    for (int k = 0; k < PACK; ++k) result[k] = Out(op.finish(acc[k], reduce));
    store(out + slice * inner + column, result, inner - column);
}
