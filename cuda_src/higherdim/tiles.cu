// Reduction over the middle of x[outer, reduce, inner] -> out[outer, inner], of any sizes and alignment.
// `merged` rows that follow each other are one, of `wide` elements. Launch (ceil(outer / slices) * tiles,
// chunks) blocks of (width, height, slices) threads, at most BLOCK. A tile has width * PACK columns, or
// PACK - 1 less if slices or rows are not all aligned to packs; there is one if merged > 1. Every height-th
// row must lie alike, or height be reduce / merged or more. slices = 1 if chunks > 1. totals holds
// outer * tiles * chunks * width * PACK values; arrived[outer * tiles] is zero before and after.
// Step 3: a thread owns PACK columns and loads 16 bytes at a time wherever a row begins: rows of a thread lie
// alike, and columns are told apart when the threads of a block meet in shared memory. The last chunk of
// a tile to arrive folds the chunks: one launch.
// Limit: memory.
#include "common/edges.cuh"
#include "common/operators.cuh"
#include "common/reduce.cuh"
using T = float;
using Acc = float;
using Out = float;
using Op = Sum<Acc>;
constexpr int PACK = 4;
constexpr int BLOCK = 256;
constexpr int UNROLL = 4;

// Folds the packs of rows row, row + step, .. below end, the first of them at x[at], `apart` elements apart.
template <typename V>
__device__ Packed<Acc, PACK> fold_rows(const V *x, long long at, long long size, long long row,
                                       long long end, int step, long long apart)
{
    Op op;
    Packed<Acc, PACK> acc;
    for (int k = 0; k < PACK; ++k) acc[k] = op.initial();
    for (; row < end; row += UNROLL * step, at += UNROLL * apart) {
        Packed<V, PACK> p[UNROLL];
#pragma unroll
        for (int u = 0; u < UNROLL; ++u)
            if (row + u * step < end) p[u] = load_within<PACK>(x, at + u * apart, size);
#pragma unroll
        for (int u = 0; u < UNROLL; ++u)
            for (int k = 0; k < PACK && row + u * step < end; ++k)
                acc[k] = op(acc[k], op.from(p[u][k], row + u * step));
    }
    return acc;
}

// Folds what the threads of each slice have of its `wide` columns, and of these every inner-th. Row y of
// slice z begins at element (from + z * slice + y * row) % PACK of its packs. put(z, j, result).
template <typename Put>
__device__ void fold_block(Packed<Acc, PACK> *s, Packed<Acc, PACK> acc, int wide, int inner,
                           unsigned from, unsigned slice, unsigned row, Put put)
{
    Op op;
    Acc *cell = &s[0][0];
    int pitch = blockDim.x * PACK, height = blockDim.y, slices = blockDim.z;
    int tid = (threadIdx.z * height + threadIdx.y) * blockDim.x + threadIdx.x;
    int threads = blockDim.x * height * slices;
    s[tid] = acc;
    __syncthreads();  // all are written
    for (int i = tid; i < slices * wide && height > 1; i += threads) {
        int z = i / wide, j = i % wide;
        unsigned begins = from + z * slice;
        Acc *column = cell + z * height * pitch + j, a = column[begins % PACK];
        for (int y = 1; y < height; ++y)
            a = op(a, column[y * pitch + (begins + y * row) % PACK]);
        column[begins % PACK] = a;
    }
    __syncthreads();  // each slice has one row left
    for (int i = tid; i < slices * inner; i += threads) {
        int z = i / inner, j = i % inner;
        Acc *column = cell + z * height * pitch + (from + z * slice) % PACK, a = column[j];
        for (int k = j + inner; k < wide; k += inner) a = op(a, column[k]);
        put(z, j, a);
    }
}

extern "C" __global__ __launch_bounds__(BLOCK, 1024 / BLOCK) void tiles(const T *__restrict__ x, Out *out,
                                                          long long outer, long long reduce,
                                                          long long inner, int merged, Acc *totals,
                                                          unsigned *arrived)
{
    __shared__ Packed<Acc, PACK> s[BLOCK];
    Op op;
    int height = blockDim.y, chunks = gridDim.y, pitch = blockDim.x * PACK, y = threadIdx.y;
    long long wide = merged * inner, size = outer * reduce * inner, rows = reduce / merged;
    unsigned place = reinterpret_cast<size_t>(x) / sizeof(T);
    int columns = pitch - ((place | reduce * inner | wide) % PACK ? PACK - 1 : 0);
    long long tiles = (wide + columns - 1) / columns, first = blockIdx.x % tiles * columns;
    long long slice = blockIdx.x / tiles * blockDim.z, mine = slice + threadIdx.z;
    long long share = (rows + chunks - 1) / chunks, row = blockIdx.y * share;
    long long end = min(rows, row + share), at = (mine * reduce + row * merged) * inner + first;
    int here = min((long long)columns, wide - first), own = min((long long)here, inner);

    // This thread's packs begin at column `column` of the tile, which may be before it.
    int column = threadIdx.x * PACK - (place + at + y * wide) % PACK;
    bool needed = mine < outer && column < here;
    auto acc = fold_rows(x, at + y * wide + column, size, row + y, needed ? end : 0, height,
                         height * wide);
    if (merged > 1 && needed && blockIdx.y == chunks - 1 && y == (rows - row) % height) {
        for (int k = 0; k < PACK; ++k)  // rows that are too few to be merged
            if (column + k >= 0 && column + k < reduce % merged * inner)
                acc[k] = op(acc[k], op.from(x[at + (rows - row) * wide + column + k], rows));
    }
    place += (slice * reduce + row * merged) * inner + first;
    if (chunks == 1) {
        fold_block(s, acc, here, own, place, reduce * inner, wide, [&](int z, int j, Acc a) {
            if (slice + z < outer)
                out[(slice + z) * inner + first + j] = Out(op.finish(a, reduce));
        });
        return;
    }
    totals += blockIdx.x * (long long)chunks * pitch;
    fold_block(s, acc, here, own, place, 0, wide,
               [&](int, int j, Acc a) { totals[blockIdx.y * (long long)pitch + j] = a; });
    if (!last_to_arrive(arrived + blockIdx.x, chunks)) return;
    column = threadIdx.x * PACK;
    acc = fold_rows(totals, y * (long long)pitch + column, chunks * (long long)pitch, y,
                    column < own ? chunks : 0, height, height * (long long)pitch);
    fold_block(s, acc, own, own, 0, 0, 0, [&](int, int j, Acc a) {
        out[slice * inner + first + j] = Out(op.finish(a, reduce));
    });
}
