// Elementwise operation of arrays, of which one or both (A, B = CROSSWISE) are contiguous along another
// dimension than out: a, b -> out, as layout says. Dimension 0 is contiguous in out, dimension 1 in what
// is crosswise; layout numbers tiles. Launch layout.items blocks of any size.
// Step 15: a tile of 128 bytes by as many elements goes through shared memory: read in packs along one
// dimension, taken out along the other. Chunks of 16 bytes are swizzled (slot), so that both ways are
// free of bank conflicts. PACK divides the two sizes and the strides; arrays are aligned to packs.
// Limit: the memory.
#include "elementwise/layout.cuh"
#include "elementwise/operands.cuh"
constexpr int CROSSWISE = SPACED + 1;
using T = float;
using Out = float;
using Op = Add;
using Index = int;
constexpr int A = PACKED;
constexpr int B = CROSSWISE;
constexpr int PACK = 4;
constexpr int BLOCK = 256;
constexpr int CHUNKS = 8;

constexpr int CHUNK = 16 / sizeof(T), SIDE = CHUNKS * CHUNK, PACKS = SIDE / PACK;
constexpr int HEIGHT = sizeof(T) < 4 ? 4 / sizeof(T) : 1;  // rows of a word of shared memory
constexpr int READS = (SIDE * PACKS + BLOCK - 1) / BLOCK, UNITS = (READS + HEIGHT - 1) / HEIGHT;

// The dimensions that tiles lie in: their sizes, and the strides along them.
struct Sides {
    Index columns, rows;
    Places<Index> column, row;
};

// A stretch of CHUNK rows of a column is one access of 16 bytes. Eight that are taken at once, from every
// CHUNK-th column, lie in different banks.
__device__ int slot(int column, int row)
{ return column * SIDE + (row / CHUNK ^ column / CHUNK % 8) * CHUNK + row % CHUNK; }

// Reads a tile that is contiguous along rows.
__device__ void fetch(T *tile, const T *x, Index stride, int columns, int rows)
{
    using Pack = typename Word<sizeof(T) * PACK>::type;
    Pack pack[READS];
#pragma unroll
    for (int i = 0; i < READS; ++i) {
        int place = threadIdx.x + i * BLOCK, column = place / PACKS, row = place % PACKS * PACK;
        if (column < columns && row < rows)
            pack[i] = *reinterpret_cast<const Pack *>(x + column * stride + row);
    }
#pragma unroll
    for (int i = 0; i < READS; ++i) {
        int place = threadIdx.x + i * BLOCK, column = place / PACKS, row = place % PACKS * PACK;
        if (column < columns) *reinterpret_cast<Pack *>(tile + slot(column, row)) = pack[i];
    }
}

// HEIGHT rows of PACK columns each.
template <int KIND>
struct Unit {
    Held<KIND, PACK, T> pack[HEIGHT];
    __device__ void load(Operand<T> x, Index place, Index stride, int left)
    {
#pragma unroll
        for (int h = 0; h < HEIGHT; ++h)
            if (h < left) pack[h].load(x, place + h * stride, Index(1));
    }
    __device__ void take(const T *, int, int) {}
};

template <>
struct Unit<CROSSWISE> {
    Held<PACKED, PACK, T> pack[HEIGHT];
    __device__ void load(Operand<T>, Index, Index, int) {}
    __device__ void take(const T *tile, int column, int row)
    {
        Packed<T, HEIGHT> word[PACK];
#pragma unroll
        for (int k = 0; k < PACK; ++k)
            word[k] = *reinterpret_cast<const Packed<T, HEIGHT> *>(tile + slot(column + k, row));
#pragma unroll
        for (int h = 0; h < HEIGHT; ++h) {
            Packed<T, PACK> p;
#pragma unroll
            for (int k = 0; k < PACK; ++k) p[k] = word[k][h];
            pack[h].set(p);
        }
    }
};

extern "C" __global__ __launch_bounds__(BLOCK) void transposed(Operand<T> a, Operand<T> b, Out *out,
                                                               Layout<Index> layout, Sides sides,
                                                               Op op)
{
    __shared__ __align__(16) T tile_a[A == CROSSWISE ? SIDE * SIDE : 1];
    __shared__ __align__(16) T tile_b[B == CROSSWISE ? SIDE * SIDE : 1];
    Index first[2];
    auto start = layout.find(blockIdx.x, [&](int d, Index i) {
        if (d < 2) first[d] = i * SIDE;
    });
    int columns = min(Index(SIDE), sides.columns - first[0]);
    int rows = min(Index(SIDE), sides.rows - first[1]);

    if constexpr (A == CROSSWISE) fetch(tile_a, a.address + start.a, sides.column.a, columns, rows);
    if constexpr (B == CROSSWISE) fetch(tile_b, b.address + start.b, sides.column.b, columns, rows);
    Unit<A> p[UNITS];
    Unit<B> q[UNITS];
#pragma unroll
    for (int u = 0; u < UNITS;
         ++u) {  // what lies as the result does is not kept waiting by the barrier
        int i = threadIdx.x + u * BLOCK, row = i / PACKS * HEIGHT, column = i % PACKS * PACK;
        if (column >= columns || row >= rows) continue;
        auto place = start.moved(row, sides.row).moved(column, sides.column);
        p[u].load(a, place.a, sides.row.a, rows - row);
        q[u].load(b, place.b, sides.row.b, rows - row);
    }
    __syncthreads();  // the tiles are whole
#pragma unroll
    for (int u = 0; u < UNITS; ++u) {
        int i = threadIdx.x + u * BLOCK, row = i / PACKS * HEIGHT, column = i % PACKS * PACK;
        if (column >= columns || row >= rows) continue;
        auto place = start.moved(row, sides.row).moved(column, sides.column);
        p[u].take(tile_a, column, row);
        q[u].take(tile_b, column, row);
#pragma unroll
        for (int h = 0; h < HEIGHT; ++h)
            if (row + h < rows)
                store<PACKED>(out, place.out + h * sides.row.out, Index(1),
                              apply<Out>(op, p[u].pack[h].get(), q[u].pack[h].get()));
    }
}
