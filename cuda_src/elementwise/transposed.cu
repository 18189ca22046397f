// Elementwise operation of arrays, of which one or both (A, B = CROSSWISE) are contiguous along another
// dimension than out: a, b -> out, as layout says. Dimension 0 is contiguous in out, dimension 1 in what
// is crosswise; layout numbers tiles. Launch layout.items blocks of BLOCK threads.
// Step 15: a tile goes through shared memory: read in packs along one dimension, taken out along the
// other. Packs are aligned wherever a row begins: what a row has of its first and its last is moved one
// by one. Chunks of 16 bytes are swizzled (slot), so that both ways are free of bank conflicts.
// Limit: the memory.
#include "elementwise/layout.cuh"
#include "elementwise/operands.cuh"
#include "common/edges.cuh"
constexpr int CROSSWISE = SPACED + 1;
using T = float;
using Out = float;
using Op = Add;
using Index = int;
constexpr int A = PACKED;
constexpr int B = CROSSWISE;
constexpr int COLUMNS = 64;
constexpr int ROWS = 64;
constexpr int BLOCK = 256;

constexpr int PACK = 16 / sizeof(T), CHUNKS = ROWS / PACK < 8 ? ROWS / PACK : 8;
constexpr int DOWN = ROWS / PACK + 1, ACROSS = COLUMNS / PACK + 1;  // packs that a side may touch
constexpr int READS = (COLUMNS * DOWN + BLOCK - 1) / BLOCK;
constexpr int WRITES = (ROWS * ACROSS + BLOCK - 1) / BLOCK;

// The dimensions that tiles lie in: their sizes, and the strides along them.
struct Sides {
    Index columns, rows;
    Places<Index> column, row;
};

// A stretch of PACK rows of a column is one access of 16 bytes. Eight that are taken at once, from every
// PACK-th column, lie in different banks.
__device__ int slot(int column, int row)
{ return column * ROWS + (row / PACK ^ column / PACK % CHUNKS) * PACK + row % PACK; }

// Elements first .. last of a pack at x, which lie a stride apart; 16 bytes at once if they are one.
__device__ Packed<T, PACK> part(const T *x, Index stride, int first, int last)
{
    Packed<T, PACK> p = {};
    if (stride == 1 && last - first == PACK && elements_before<PACK>(x, 0) == 0)
        return *reinterpret_cast<const Packed<T, PACK> *>(x);
#pragma unroll
    for (int k = 0; k < PACK; ++k)
        if (k >= first && k < last) p[k] = x[k * stride];
    return p;
}

// Reads a tile that is contiguous along rows, of which there are `above` before it and `below` from it on.
__device__ void fetch(T *tile, const T *x, Index stride, int columns, int rows, Index above,
                      Index below)
{
    Packed<T, PACK> pack[READS];
#pragma unroll
    for (int i = 0; i < READS; ++i) {
        int place = threadIdx.x + i * BLOCK, column = place / DOWN;
        const T *begin = x + column * stride;
        int row = place % DOWN * PACK - elements_before<PACK>(begin, 0);
        if (column < columns && row < rows)
            pack[i] = part(begin + row, 1, max(Index(0), -above - row), min(Index(PACK), below - row));
    }
#pragma unroll
    for (int i = 0; i < READS; ++i) {
        int place = threadIdx.x + i * BLOCK, column = place / DOWN;
        int row = place % DOWN * PACK - elements_before<PACK>(x + column * stride, 0);
        if (column >= columns || row >= rows) continue;
        if (row % PACK == 0)
            *reinterpret_cast<Packed<T, PACK> *>(tile + slot(column, row)) = pack[i];
        else
            for (int k = 0; k < PACK; ++k)
                if (row + k >= 0 && row + k < rows) tile[slot(column, row + k)] = pack[i][k];
    }
}

// A pack of a row of the result: its place in the tile, and which of its elements lie there.
struct Piece {
    int row, column, first, last;
    __device__ Piece(const Out *out, Index stride, int place, int columns, int rows)
        : row(place / ACROSS), first(0), last(0)
    {
        column = place % ACROSS * PACK - elements_before<PACK>(out + row * stride, 0);
        if (row < rows) first = max(0, -column), last = min(PACK, columns - column);
    }
};

template <int KIND>
__device__ Packed<T, PACK> operand(Operand<T> x, Index place, Index stride, const T *tile, Piece piece)
{
    Packed<T, PACK> p = {};
    if constexpr (KIND == NUMBER)
        for (int k = 0; k < PACK; ++k) p[k] = x.number;
    else if constexpr (KIND != CROSSWISE)
        p = part(x.address + place, stride, piece.first, piece.last);
    else
#pragma unroll
        for (int k = 0; k < PACK; ++k)
            if (k >= piece.first && k < piece.last) p[k] = tile[slot(piece.column + k, piece.row)];
    return p;
}

extern "C" __global__ __launch_bounds__(BLOCK, 1024 / BLOCK) void transposed(Operand<T> a,
                                                                             Operand<T> b, Out *out,
                                                                             Layout<Index> layout,
                                                                             Sides sides, Op op)
{
    __shared__ __align__(16) T tile_a[A == CROSSWISE ? COLUMNS * ROWS : 1];
    __shared__ __align__(16) T tile_b[B == CROSSWISE ? COLUMNS * ROWS : 1];
    Index left = 0, above = 0;
    auto start = layout.find(blockIdx.x, [&](int d, Index i) {
        if (d == 0) left = i * COLUMNS;
        if (d == 1) above = i * ROWS;
    });
    Index below = sides.rows - above;
    int columns = min(Index(COLUMNS), sides.columns - left), rows = min(Index(ROWS), below);

    if constexpr (A == CROSSWISE)
        fetch(tile_a, a.address + start.a, sides.column.a, columns, rows, above, below);
    if constexpr (B == CROSSWISE)
        fetch(tile_b, b.address + start.b, sides.column.b, columns, rows, above, below);
    Packed<T, PACK> p[WRITES], q[WRITES];
    for (int after = 0; after < 2; ++after) {  // what lies as the result does does not wait for tiles
#pragma unroll
        for (int u = 0; u < WRITES; ++u) {
            Piece piece(out + start.out, sides.row.out, threadIdx.x + u * BLOCK, columns, rows);
            if (piece.first >= piece.last) continue;
            auto place = start.moved(piece.row, sides.row).moved(piece.column, sides.column);
            if (after == (A == CROSSWISE))
                p[u] = operand<A>(a, place.a, sides.column.a, tile_a, piece);
            if (after == (B == CROSSWISE))
                q[u] = operand<B>(b, place.b, sides.column.b, tile_b, piece);
            if (!after) continue;
            auto result = apply<Out>(op, p[u], q[u]);
            if (piece.last - piece.first == PACK) store<PACKED>(out, place.out, Index(1), result);
            else
#pragma unroll
                for (int k = 0; k < PACK; ++k)
                    if (k >= piece.first && k < piece.last) out[place.out + k] = result.get()[k];
        }
        if (!after) __syncthreads();  // the tiles are whole
    }
}
