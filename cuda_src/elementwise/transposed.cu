// Elementwise operation of arrays, of which one or both (A, B = CROSSWISE) are contiguous along another
// dimension than out: a, b -> out, as layout says. Dimension 0 is contiguous in out, dimension 1 in what
// is crosswise; layout numbers tiles of COLUMNS by ROWS, along dimension 1 first if TURNED. Launch layout.items blocks of BLOCK threads.
// Step 15: a tile goes through shared memory in packs of 16 bytes, wherever rows begin. Each column of it
// is copied as it lies in memory, from the pack on in which it begins. Each row of the result begins where
// a pack of out does: OVER columns before the tile at most, which are read, too. STRETCH = 1: a tile has
// whole rows, and out (and what lies as it does) no gaps, so that the tile's part of it is one stretch.
// Limit: the memory.
#include "elementwise/layout.cuh"
#include "elementwise/operands.cuh"
constexpr int CROSSWISE = SPACED + 1;
using T = float;
using Out = float;
using Op = Add;
using Index = int;
constexpr int DIMENSIONS = 2;
constexpr int A = PACKED;
constexpr int B = CROSSWISE;
constexpr int BLOCK = 256;
constexpr int COLUMNS = 128;  // a power of two, as ROWS
constexpr int ROWS = 32;
constexpr int OVER = 3;
constexpr int TURNED = 0;
constexpr int STRETCH = 0;
constexpr int GAPS = 1;  // 0: all columns begin at a pack

constexpr int PACK = 16 / sizeof(T), PACKS = ROWS / PACK + GAPS;  // of a column
constexpr int PITCH = ROWS + PACK, SKEW = 2 * PACK, WIDE = COLUMNS + OVER;
constexpr int SIZE = WIDE * PITCH + (WIDE / PACK + 1) * SKEW;
constexpr int READS = (WIDE * PACKS + BLOCK - 1) / BLOCK;
constexpr int UNITS = ROWS * COLUMNS / PACK / BLOCK;

// The dimensions that tiles lie in: their sizes, the strides along them, and how many elements from the
// first on are an array that has no gaps (else 0).
struct Sides {
    Index columns, rows;
    Places<Index> column, row, dense;
};

// An array that is contiguous along rows, from the tile's first element on.
struct Source {
    const T *x;
    Index stride, place, dense;  // place: where the tile begins in the array
    __device__ int gap(int column) const
    { return GAPS * (((unsigned long long)x / sizeof(T) + column * unsigned(stride)) % PACK); }
    // Neighbouring rows of every PACK-th column lie in different banks.
    __device__ int slot(int column) const
    { return (column + OVER) * PITCH + (column + OVER) / PACK * SKEW + gap(column); }
};

using Pack = typename Word<16>::type;

// Copies a tile. columns and rows, which end the arrays, are counted from the tile's first, as are `left`
// and `top`, which begin them. Columns outside become zeros.
__device__ void fetch(T *tile, Source from, Index left, Index columns, Index top, Index rows)
{
    Pack pack[READS] = {};
    int slot[READS];
#pragma unroll
    for (int i = 0; i < READS; ++i) {
        int number = threadIdx.x + i * BLOCK, column = number / PACKS - OVER;
        int row = number % PACKS * PACK - from.gap(column);
        slot[i] = column < COLUMNS && row < ROWS && row < rows ? from.slot(column) + row : -1;
        if (slot[i] < 0 || column < left || column >= columns) continue;
        Index first = column * from.stride + row, place = from.place + first;
        if ((row >= top && row + PACK <= rows) || (place >= 0 && place + PACK <= from.dense))
            pack[i] = *reinterpret_cast<const Pack *>(from.x + first);
        else {
            for (int k = 0; k < PACK; ++k)
                if (row + k >= 0 && row + k < rows) tile[slot[i] + k] = from.x[first + k];
            slot[i] = -1;
        }
    }
#pragma unroll
    for (int i = 0; i < READS; ++i)
        if (slot[i] >= 0) *reinterpret_cast<Pack *>(tile + slot[i]) = pack[i];
}

// PACK neighbours in a row of the result, as far as they are `inside`.
template <int KIND>
struct Part : Held<KIND, PACK, T> {
    template <typename Inside>
    __device__ void load(Operand<T> x, Index place, Index stride, bool whole, Inside inside)
    {
        if (whole || KIND == NUMBER || KIND == REPEATED)
            return Held<KIND, PACK, T>::load(x, place, stride);
        Packed<T, PACK> p;
#pragma unroll
        for (int k = 0; k < PACK; ++k)
            if (inside(k)) p[k] = x.address[place + k * stride];
        memcpy(this, &p, sizeof p);
    }
    __device__ void take(const T *, Source, int, int, int) {}
};

template <>
struct Part<CROSSWISE> : Held<PACKED, PACK, T> {
    template <typename Inside>
    __device__ void load(Operand<T>, Index, Index, bool, Inside)
    {
    }
    __device__ void take(const T *tile, Source from, int column, int row, int columns)
    {
        Packed<T, PACK> p;
#pragma unroll
        for (int k = 0; k < PACK; ++k, ++column) {
            if (STRETCH && column == columns) column = 0, ++row;
            p[k] = tile[from.slot(column) + row];
        }
        set(p);
    }
};

extern "C" __global__ __launch_bounds__(BLOCK) void transposed(Operand<T> a, Operand<T> b, Out *out,
                                                               Layout<Index, DIMENSIONS> layout,
                                                               Sides sides, Op op)
{
    __shared__ __align__(16) T tile_a[A == CROSSWISE ? SIZE : 1];
    __shared__ __align__(16) T tile_b[B == CROSSWISE ? SIZE : 1];
    Index first[2];
    auto start = layout.find(blockIdx.x, [&](int d, Index i) {
        if (d < 2) first[d ^ TURNED] = i * (d ^ TURNED ? ROWS : COLUMNS);
    });
    Index left = -first[0], top = -first[1];  // where the arrays begin and end, from the tile's on
    Index columns = sides.columns + left, rows = sides.rows + top;
    Source from_a = {a.address + start.a, sides.column.a, start.a, sides.dense.a};
    Source from_b = {b.address + start.b, sides.column.b, start.b, sides.dense.b};
    if constexpr (A == CROSSWISE) fetch(tile_a, from_a, left, columns, top, rows);
    if constexpr (B == CROSSWISE) fetch(tile_b, from_b, left, columns, top, rows);

    int across = columns;
    if (STRETCH) columns *= min(rows, Index(ROWS)), rows = 1;
    Part<A> p[UNITS];
    Part<B> q[UNITS];
    int column[UNITS] = {};
    auto place = [&](int u, int row) {
        return start.moved(row, sides.row).moved(column[u], sides.column);
    };
    auto whole = [&](int u) { return column[u] >= left && column[u] + PACK <= columns; };
    auto inside = [&](int u) {
        return
            [=, column = column[u]](int k) { return column + k >= left && column + k < columns; };
    };
#pragma unroll
    for (int u = 0; u < UNITS; ++u) {  // what lies as the result does is not kept waiting
        int unit = threadIdx.x + u * BLOCK, row = STRETCH ? 0 : unit / 4 % ROWS;
        auto begin = out + start.out + row * sides.row.out;
        int gap = OVER ? (unsigned long long)begin / sizeof(Out) % PACK : 0;
        column[u] = (STRETCH ? unit : unit % 4 + unit / 4 / ROWS * 4) * PACK - gap;
        if (row >= rows) column[u] = columns;  // not there
        if (column[u] >= columns || column[u] + PACK <= left) continue;
        p[u].load(a, place(u, row).a, sides.column.a, whole(u), inside(u));
        q[u].load(b, place(u, row).b, sides.column.b, whole(u), inside(u));
    }
    __syncthreads();  // the tiles are whole
#pragma unroll
    for (int u = 0; u < UNITS; ++u) {
        int row = STRETCH ? 0 : (threadIdx.x + u * BLOCK) / 4 % ROWS;
        if (column[u] >= columns || column[u] + PACK <= left) continue;
        int down = STRETCH ? column[u] / across : row, along = column[u] - (down - row) * across;
        p[u].take(tile_a, from_a, along, down, across);
        q[u].take(tile_b, from_b, along, down, across);
        auto result = apply<Out>(op, p[u].get(), q[u].get());
        Index to = place(u, row).out;
        if (whole(u)) store<PACKED>(out, to, Index(1), result);
        for (int k = 0; k < PACK && !whole(u); ++k)
            if (inside(u)(k)) out[to + k] = result.get()[k];
    }
}
