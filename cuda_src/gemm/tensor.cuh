// A product of matrices by tensor cores: a block makes ROWS x COLUMNS elements of it,
//     out.store(row, column, sum over a share of k of a(k, row) * b(k, column)), AT_ONCE neighbours at a time.
//
// A tile of a or b lies in shared memory as lines of 128 bytes, 8 chunks of 16 bytes: chunk c of line l at
// place c ^ l % 8, so that one chunk of 8 lines, which `ldmatrix` reads as an 8 x 8 matrix, lies in different
// banks. A tile whose neighbours in memory are along k has a line for each row of a (or column of b); any
// other has a line for each k, in panels 128 bytes wide. It is 128 bytes' worth of elements deep.
//
// How a tile gets there is up to the operands: operand.copy<FIRST, LAST>(tile, left) begins to copy these
// chunks of a thread's COPIES, where `left` elements of k are left, zeros for what is past an edge;
// operand.advance() goes on to the next tile. ALONG_K, SIDE and T say what they copy.
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include "gemm/product.cuh"

constexpr int LINE = 128, CHUNK = 16, CHUNKS = LINE / CHUNK;  // bytes, and chunks of a line
constexpr int HIGH = 16, WIDE = 8, STEP = 32;  // of one instruction: rows, columns, bytes of k
constexpr int EIGHT = 8;                       // neighbours that are stored together at most

// sum += a * b, 16 rows of 32 bytes by 8 columns of 32 bytes, in one instruction.
#define MULTIPLY_ADD(T, ACC, HOLDS, SHAPE_AND_TYPES)                                               \
    __device__ inline void multiply_add(ACC(&sum)[4], const unsigned (&a)[4], const unsigned *b,   \
                                        T)                                                         \
    {                                                                                              \
        asm volatile("mma.sync.aligned." SHAPE_AND_TYPES                                           \
                     " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"            \
                     : HOLDS(sum[0]), HOLDS(sum[1]), HOLDS(sum[2]), HOLDS(sum[3])                  \
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));          \
    }
MULTIPLY_ADD(half, float, "+f", "m16n8k16.row.col.f32.f16.f16.f32")
MULTIPLY_ADD(__nv_bfloat16, float, "+f", "m16n8k16.row.col.f32.bf16.bf16.f32")
MULTIPLY_ADD(float, float, "+f", "m16n8k8.row.col.f32.tf32.tf32.f32")
MULTIPLY_ADD(signed char, int, "+r", "m16n8k32.row.col.s32.s8.s8.s32")
#undef MULTIPLY_ADD

// Four 8 x 8 matrices of 16-bit elements, whose rows are 16 bytes: lane l says where row l % 8 of
// matrix l / 8 lies. Lane l gets, of each, the elements 2 * (l % 4) and its neighbour of row l / 4;
// TRANSPOSED: of column l / 4.
template <bool TRANSPOSED>
__device__ void load_matrices(unsigned *to, unsigned from)
{
    if (TRANSPOSED)
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                     : "r"(from)
                     : "memory");
    else
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                     : "r"(from)
                     : "memory");
}

// 16 bytes to shared memory, not waited for; those past `bytes` become 0.
__device__ inline void copy_async(unsigned to, const void *from, int bytes)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                 :
                 : "r"(to), "l"(__cvta_generic_to_global(from)), "r"(bytes)
                 : "memory");
}

// The same in pieces of BYTES, 4 or 8, which divide the address.
template <int BYTES>
__device__ void copy_in_pieces(unsigned to, const void *from, int bytes)
{
#pragma unroll
    for (int i = 0; i < CHUNK; i += BYTES)
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;"
                     :
                     : "r"(to + i),
                       "l"(__cvta_generic_to_global(static_cast<const char *>(from) + i)),
                       "n"(BYTES), "r"(max(0, min(bytes - i, BYTES)))
                     : "memory");
}

__device__ inline void copy_async(unsigned to, const void *from)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
                 :
                 : "r"(to), "l"(__cvta_generic_to_global(from))
                 : "memory");
}

// What was copied since the last call is a group.
__device__ inline void close_group() { asm volatile("cp.async.commit_group;" ::: "memory"); }

// All groups have come but the last so many.
template <int UNDER_WAY>
__device__ void wait_for_groups()
{ asm volatile("cp.async.wait_group %0;" ::"n"(UNDER_WAY) : "memory"); }

// An operand that lies in lines of memory. Lines and their strides are multiples of BYTES, at most 16.
// WHOLE: of 16, and tiles end where the matrix does.
template <typename Element, bool IS_ALONG_K, int LINES_OF_TILE, int BLOCK, bool WHOLE,
          int BYTES = CHUNK>
struct Lines {
    using T = Element;
    static constexpr bool ALONG_K = IS_ALONG_K;
    static constexpr int SIDE = LINES_OF_TILE, PACK = CHUNK / sizeof(T), DEEP = LINE / sizeof(T);
    static constexpr int COPIES = SIDE * CHUNKS / BLOCK, ROUND = BLOCK / CHUNKS;  // ROUND: lines
    static_assert(COPIES * BLOCK == SIDE * CHUNKS && ROUND % 8 == 0, "as many chunks each");
    static_assert(ALONG_K || DEEP % ROUND == 0 || ROUND % DEEP == 0, "whole panels");

    const T *from;  // this thread's first chunk of the next tile
    long long step_k, step_i;
    unsigned to;  // where in a tile that comes to
    int deep;     // where along k it lies
    unsigned
        inside;  // ALONG_K: a bit for each copy; else 8 for each panel: bytes inside the matrix

    // x: where the tile's first line or column begins; width: how many there are from there on.
    __device__ Lines(const T *x, long long stride, long long width)
        : step_k(ALONG_K ? 1 : stride), step_i(ALONG_K ? stride : 1), inside(0)
    {
        int line = threadIdx.x / CHUNKS, chunk = threadIdx.x % CHUNKS;
        to = line * LINE + (chunk ^ line % 8) * CHUNK;
        deep = ALONG_K ? chunk * PACK : line % DEEP;
        int i = ALONG_K ? line : line / DEEP * DEEP + chunk * PACK;
        from = x + deep * step_k + i * step_i;
#pragma unroll
        for (int n = 0; n < COPIES; ++n) {
            int left = min(max(0LL, width - i - more_i(n)), (long long)PACK);
            inside |=
                ALONG_K ? unsigned(left > 0) << n : unsigned(left * sizeof(T)) << panel(n) * 8;
        }
    }
    static __device__ constexpr int panel(int n) { return n * ROUND / DEEP; }
    static __device__ constexpr int more_i(int n) { return ALONG_K ? n * ROUND : panel(n) * DEEP; }
    static __device__ constexpr int more_k(int n) { return ALONG_K ? 0 : n * ROUND % DEEP; }
    template <int FIRST, int LAST>
    __device__ void copy(unsigned tile, int left)
    {
        int along = max(0, min(left - deep, PACK)) * int(sizeof(T));
#pragma unroll
        for (int n = FIRST; n < LAST; ++n) {
            int bytes = deep + more_k(n) < left ? inside >> panel(n) * 8 & 255 : 0;
            if (ALONG_K) bytes = inside >> n & 1 ? along : 0;
            const T *place = from + more_k(n) * step_k + more_i(n) * step_i;
            if constexpr (BYTES < CHUNK)
                copy_in_pieces<BYTES>(tile + to + n * ROUND * LINE, place, bytes);
            else if (!WHOLE) copy_async(tile + to + n * ROUND * LINE, place, bytes);
            else if (left > 0) copy_async(tile + to + n * ROUND * LINE, place);
        }
    }
    __device__ void advance() { from += DEEP * step_k; }
};

// How fragments of an operand are read from a tile: 16 lines of a, or columns of b, and 32 bytes of k.
template <typename Operand, bool IS_A>
struct Fragments {
    static constexpr bool ALONG_K = Operand::ALONG_K;
    static constexpr int DEEP = Operand::DEEP;

    // Where in a tile this lane points, for a fragment from line or column `first` on.
    static __device__ unsigned start(int first)
    {
        int lane = threadIdx.x % 32, line, chunk;
        if (IS_A == ALONG_K) line = lane % 16, chunk = lane / 16;    // matrix 1 is below matrix 0,
        else line = lane % 8 + lane / 16 * 8, chunk = lane / 8 % 2;  // or to its right
        line += ALONG_K ? first : first / DEEP * DEEP;
        chunk += ALONG_K ? 0 : first % DEEP / Operand::PACK;
        return line * LINE + (chunk ^ line % 8) * CHUNK;
    }
    static __device__ void load(unsigned *to, unsigned tile, unsigned start, int step)
    {
        unsigned from = ALONG_K ? start ^ step * STEP : start + step * HIGH * LINE;
        load_matrices<!ALONG_K>(to, tile + from);
    }
};

// A warp makes WARP_ROWS x WARP_COLUMNS of it. Of each operand STAGES tiles have room: one is read, the
// others are under way. Launch with STAGES * (ROWS + COLUMNS) * 128 bytes of shared memory.
template <int WARP_ROWS, int WARP_COLUMNS, int STAGES, typename Acc, typename A, typename B,
          typename Out>
__device__ void multiply(A a, B b, Out out, long long top, long long left, long long depth)
{
    constexpr int ACROSS = B::SIDE / WARP_COLUMNS, STEPS = LINE / STEP, DEEP = A::DEEP;
    constexpr int M = WARP_ROWS / HIGH, N = WARP_COLUMNS / (2 * WIDE);
    constexpr int OF_A = A::SIDE * LINE, STAGE = OF_A + B::SIDE * LINE;
    static_assert(DEEP * sizeof(typename A::T) == LINE && STEPS == 4, "a share of copies a step");
    extern __shared__ __align__(LINE) unsigned char tiles[];
    unsigned shared = __cvta_generic_to_shared(tiles);
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    int y = warp / ACROSS * WARP_ROWS, x = warp % ACROSS * WARP_COLUMNS;
    unsigned start_a[M], start_b[N];
    unsigned p[2][M][4], q[2][N][4];  // fragments: one step's are used, the next step's loaded
    Acc sum[M][2 * N][4] = {};
#pragma unroll
    for (int m = 0; m < M; ++m) start_a[m] = Fragments<A, true>::start(y + m * HIGH);
#pragma unroll
    for (int n = 0; n < N; ++n) start_b[n] = Fragments<B, false>::start(x + n * 2 * WIDE);
    auto load = [&](int to, unsigned tile, int step) {
#pragma unroll
        for (int m = 0; m < M; ++m) Fragments<A, true>::load(p[to][m], tile, start_a[m], step);
#pragma unroll
        for (int n = 0; n < N; ++n)
            Fragments<B, false>::load(q[to][n], tile + OF_A, start_b[n], step);
    };

#pragma unroll 1
    for (int stage = 0; stage < STAGES - 1; ++stage) {
        int more = min(depth - stage * DEEP, (long long)DEEP);
        a.template copy<0, A::COPIES>(shared + stage * STAGE, more);
        b.template copy<0, B::COPIES>(shared + stage * STAGE + OF_A, more);
        a.advance(), b.advance();
        close_group();
    }
    unsigned tile = shared, free = shared + (STAGES - 1) * STAGE, end = shared + STAGES * STAGE;
    wait_for_groups<STAGES - 2>();
    __syncthreads();
    load(0, tile, 0);
    for (long long k = 0; k < depth; k += DEEP) {
        int more = min(depth - k - (STAGES - 1) * DEEP, (long long)DEEP);
#pragma unroll
        for (int step = 0; step < STEPS; ++step) {
            if (step == STEPS - 1) {  // the next tile has come; this one is read by all, and free
                if ((tile += STAGE) == end) tile = shared;
                wait_for_groups<STAGES - 2>();
                __syncthreads();
            }
            load((step + 1) % 2, tile, (step + 1) % STEPS);
            // Copies are spread over the steps, so that multiplications go on between them.
            if (step == 0) {
                a.template copy<0, A::COPIES / 2>(free, more);
                b.template copy<0, B::COPIES / 3>(free + OF_A, more);
            } else if (step == 1) {
                a.template copy<A::COPIES / 2, A::COPIES>(free, more);
                b.template copy<B::COPIES / 3, B::COPIES * 2 / 3>(free + OF_A, more);
            } else if (step == 2) {
                b.template copy<B::COPIES * 2 / 3, B::COPIES>(free + OF_A, more);
                a.advance(), b.advance();
                close_group();
                if ((free += STAGE) == end) free = shared;
            }
#pragma unroll
            for (int m = 0; m < M; ++m)
#pragma unroll
                for (int turn = 0; turn < 2 * N; ++turn) {
                    int n = m % 2 ? 2 * N - 1 - turn : turn;  // to and fro: one operand stays
                    multiply_add(sum[m][n], p[step % 2][m], q[step % 2][n / 2] + n % 2 * 2,
                                 typename A::T());
                }
        }
    }

    // Sums go through shared memory, so that a lane has AT_ONCE neighbours of a row.
    constexpr int PADDED = WARP_COLUMNS + 8, AT_ONCE = together<Out>();
    wait_for_groups<0>();
    __syncthreads();
    Acc *own = reinterpret_cast<Acc *>(tiles) + warp * HIGH * PADDED;
#pragma unroll
    for (int m = 0; m < M; ++m) {
#pragma unroll
        for (int n = 0; n < 2 * N; ++n)
#pragma unroll
            for (int lower = 0; lower < 2; ++lower) {
                Acc *place = own + (lower * 8 + lane / 4) * PADDED + n * WIDE + lane % 4 * 2;
                *reinterpret_cast<Packed<Acc, 2> *>(place) = {sum[m][n][lower * 2],
                                                              sum[m][n][lower * 2 + 1]};
            }
        __syncwarp();
        if constexpr (Out::AT_ONCE < 0 && WARP_COLUMNS >= 64)
            out.template store_lines<HIGH, WARP_COLUMNS>(
                top + y + m * HIGH, left + x,
                [&](int row, int column) { return own[row * PADDED + column]; });
        else
            for (int n = lane; n < HIGH * WARP_COLUMNS / AT_ONCE; n += 32) {
                int row = n * AT_ONCE / WARP_COLUMNS, column = n * AT_ONCE % WARP_COLUMNS;
                out.store(top + y + m * HIGH + row, left + x + column,
                          *reinterpret_cast<Packed<Acc, AT_ONCE> *>(own + row * PADDED + column));
            }
        __syncwarp();
    }
}
