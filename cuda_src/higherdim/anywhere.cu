// Reduction over the middle of x[outer, reduce, inner] -> out[outer, inner], of any sizes; x is
// aligned to PACK. `merged` rows that follow each other count as one, of wide = merged * inner
// elements; a chunk has `share` of these. Launch a grid of (outer * tiles, chunks) blocks of (width,
// height) threads, powers of two, BLOCK in all at most, with one tile if rows are merged. A tile has
// `columns`: width * PACK, or PACK - 1 less if slices or rows are not aligned to PACK. Every
// height-th row of a slice must lie alike, or height be their number. totals holds outer * tiles *
// chunks * width * PACK values; arrived[outer * tiles] starts at zero and is zero again at the end.
// Step 4: tiles.cu where the width is odd. A thread loads 16 bytes wherever a row
// begins, the ends of its neighbours among them. Its own rows lie alike, so that it has PACK
// columns as before; other threads' begin elsewhere, which fold_block() makes up for.
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

// Folds every height-th of `rows` rows, numbered from `number` on. The first is at x, the next a
// stride on.
template <typename V>
__device__ Packed<Acc, PACK> fold_rows(const V *x, int rows, long long stride, long long number)
{
    Op op;
    Packed<Acc, PACK> acc;
    for (int k = 0; k < PACK; ++k) acc[k] = op.initial();
    int height = blockDim.y;
    for (int row = 0; row < rows; row += UNROLL * height) {
        Packed<V, PACK> p[UNROLL];
#pragma unroll
        for (int u = 0; u < UNROLL; ++u, x += stride)
            if (row + u * height < rows) p[u] = *reinterpret_cast<const Packed<V, PACK> *>(x);
#pragma unroll
        for (int u = 0; u < UNROLL; ++u)
            for (int k = 0; k < PACK && row + u * height < rows; ++k)
                acc[k] = op(acc[k], op.from(p[u][k], number + row + u * height));
    }
    return acc;
}

// Folds the threads one above the other, and then every own-th of its columns; the first
// of these have the results: put(j, result). Row y begins at element (from + y * wide) % PACK of
// its packs.
template <typename Put>
__device__ void fold_block(Packed<Acc, PACK> acc, int columns, int own, unsigned from,
                           unsigned wide, Put put)
{
    __shared__ Packed<Acc, PACK> s[BLOCK + 1];  // one more, which is written by no one
    Op op;
    int pitch = blockDim.x * PACK, height = blockDim.y, threads = blockDim.x * height;
    int tid = threadIdx.y * blockDim.x + threadIdx.x, groups = max(1, threads / pitch);
    Acc *cell = s[0].element;
    auto at = [&](int y, int j) -> Acc & { return cell[y * pitch + j + (from + y * wide) % PACK]; };
    s[tid] = acc;
    __syncthreads();  // all are written
    for (int i = tid; i < pitch * groups && height > 1; i += threads) {
        int j = i % pitch, y = i / pitch;
        if (j >= columns) continue;
        Acc a = at(y, j);
#pragma unroll 4
        for (int other = y + groups; other < height; other += groups) a = op(a, at(other, j));
        at(y, j) = a;
    }
    for (int half = groups / 2; half > 0; half /= 2) {
        __syncthreads();  // 2 * half rows are left
        int j = tid % pitch, y = tid / pitch;
        if (j < columns && y < half) at(y, j) = op(at(y, j), at(y + half, j));
    }
    __syncthreads();  // one is left
    for (int j = tid; j < own; j += threads) {
        Acc a = at(0, j);
        for (int k = j + own; k < columns; k += own) a = op(a, at(0, k));
        put(j, a);
    }
}

extern "C" __global__ __launch_bounds__(BLOCK, 1024 / BLOCK) void anywhere(
    const T *__restrict__ x, Out *out, long long outer, long long reduce, long long inner,
    int merged, int columns, int tiles, long long share, Acc *totals, unsigned *arrived)
{
    Op op;
    int y = threadIdx.y, height = blockDim.y, chunks = gridDim.y, pitch = blockDim.x * PACK;
    long long wide = merged * inner, rows = reduce / merged, stride = height * wide;
    long long slice = blockIdx.x / tiles, begin = blockIdx.y * share;
    long long first = blockIdx.x % tiles * (long long)columns;
    columns = min((long long)columns, wide - first);
    int own = min((long long)columns, inner);

    // The tile begins at x[top], this thread's packs at column `column` of it: perhaps before it.
    long long top = slice * reduce * inner + first, at = top + (begin + y) * wide;
    unsigned from = top + begin * wide, row = wide;
    int column = threadIdx.x * PACK - unsigned(at) % PACK;
    int left = column < columns ? min(rows - begin, share) - y : 0;
    int last = left > 0 ? (left - 1) / height : 0;  // of its rows
    long long end = at + column + last * stride, size = outer * reduce * inner;
    bool ragged = left > 0 && end + PACK > size;  // x ends within the last pack
    auto acc = fold_rows(x + at + column, ragged ? last * height : left, stride, begin + y);
#pragma unroll
    for (int k = 0; k < PACK; ++k)
        if (ragged && end + k < size)
            acc[k] = op(acc[k], op.from(x[end + k], begin + y + last * height));

    totals += blockIdx.x * (long long)chunks * pitch;
    for (bool done = chunks == 1;; done = true) {
        fold_block(acc, columns, own, from, row, [&](int j, Acc a) {
            if (!done) {
                totals[blockIdx.y * pitch + j] = a;
                for (int k = j + 1; j == own - 1 && k % PACK; ++k)  // whole packs are read
                    totals[blockIdx.y * pitch + k] = op.initial();
            } else {
                for (long long r = rows * merged; r < reduce; ++r)  // too few to be merged
                    a = op(a, op.from(x[top + r * inner + j], r));
                out[slice * inner + first + j] = Out(op.finish(a, reduce));
            }
        });
        if (done || !last_to_arrive(arrived + blockIdx.x, chunks)) return;
        column = threadIdx.x * PACK;
        acc = fold_rows(totals + y * pitch + column, column < own ? chunks - y : 0, height * pitch,
                        0LL);
        columns = own, from = row = 0;
    }
}
