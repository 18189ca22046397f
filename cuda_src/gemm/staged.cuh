// A product of matrices of floats by tiles: a block makes ROWS x COLUMNS elements of it,
//     out.store(row, column, sum over a share of k of a(k, row) * b(k, column)), FOUR neighbours at a time.
//
// STAGES of tiles, DEEP along k, have room in shared memory. One is multiplied, the others are under way by cp.async: 16
// bytes or one float at a time, so that matrices may lie at any float, and what is under way needs no registers. Floats
// that come one by one along k turn the tile: k comes first there. In fours along k they stay as they lie (KEPT).
//
// A warp makes WARP_ROWS x WARP_COLUMNS, a lane quads of rows by quads of columns. Fragments are loaded one step ahead, or
// for four steps at once where lines are kept.
// Multiply-adds go to and fro, so that one operand stays from each to the next: by columns, where a lane has many rows.
#pragma once
#include "gemm/tensor.cuh"
#include "gemm/tiles.cuh"

// A warp's lanes have FOUR rows and columns each, in an order in which any two lanes that differ in bit 0 read the same
// columns, and in bit 1 the same rows: then shared memory serves a half of the warp, not a quarter, at once.
constexpr int LANES_DOWN = 4, LANES_ACROSS = 8;
__device__ inline int lane_down() { return threadIdx.x / 16 % 2 * 2 + threadIdx.x % 2; }
__device__ inline int lane_across() { return threadIdx.x / 2 % LANES_ACROSS; }

__device__ inline void copy_element(unsigned to, const void *from, int bytes)
{
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(to),
                 "l"(__cvta_generic_to_global(from)), "r"(bytes)
                 : "memory");
}

// What a block's threads copy of tiles of x, SIDE wide across k. KEPT lines lie in pairs of 128 bytes; the chunks of 16
// bytes of line i are in places that differ by i / 4 % 8, so that every fourth line of eight is read in different banks.
template <bool ALONG_K, int SIDE, int DEEP, int PIECE, int THREADS>
struct Copier {
    static constexpr int PACK = PIECE / sizeof(float), LINE = SIDE + FOUR;
    static constexpr bool KEPT = ALONG_K && PACK == FOUR;
    static constexpr int BYTES = DEEP * (KEPT ? SIDE : LINE) * sizeof(float);
    static constexpr int TURNING = THREADS / SIDE > 8 ? THREADS / SIDE : 8;
    static constexpr int ALONG = KEPT ? DEEP / FOUR : TURNING;  // neighbouring threads
    static constexpr int WIDE = ALONG_K ? THREADS / ALONG : THREADS * PACK;
    static constexpr int NEXT_I = WIDE < SIDE ? WIDE : SIDE;  // from copy to copy
    static constexpr int NEXT_K = ALONG_K ? ALONG * PACK : THREADS * PACK / NEXT_I;
    static constexpr int OVER_I = SIDE / NEXT_I, OVER_K = NEXT_K < DEEP ? DEEP / NEXT_K : 1;
    static constexpr int COUNT = OVER_I * OVER_K;
    static_assert(!KEPT || DEEP == 16, "two lines in 128 bytes");

    const float *from;
    long long step, next;  // to the next copies, and from the last ones to the next tile
    unsigned to, inside;   // inside: a bit for each of OVER_I
    int k;
    bool idle;  // there are more threads than pieces

    // From a tile on, of the matrix of this block, which is so wide.
    __device__ Copier(const float *x, long long stride, long long batch, long long first,
                      long long begin, long long width)
        : inside(0)
    {
        k = ALONG_K ? threadIdx.x % ALONG * PACK : threadIdx.x * PACK / NEXT_I;
        int i = ALONG_K ? threadIdx.x / ALONG : threadIdx.x * PACK % NEXT_I;
        long long line = ALONG_K ? first + i : begin + k, place = ALONG_K ? begin + k : first + i;
        from = x + blockIdx.z * batch + line * stride + place;
        step = (ALONG_K ? NEXT_I : NEXT_K) * stride;
        next = (ALONG_K ? DEEP : DEEP * stride) - ((ALONG_K ? OVER_I : OVER_K) - 1) * step;
        to = KEPT ? start(i) ^ k / FOUR * CHUNK : (k * LINE + i) * sizeof(float);
        idle = KEPT ? WIDE > SIDE && i >= SIDE : NEXT_K > DEEP && k >= DEEP;
#pragma unroll
        for (int n = 0; n < OVER_I; ++n) inside |= unsigned(first + i + n * NEXT_I < width) << n;
    }
    // Where line i begins; and where a place is so many lines further on, if their number is a multiple of a power of two
    // that the place's own number is less than.
    static __device__ unsigned start(int i)
    {
        if (!KEPT) return i * sizeof(float);
        return i / 2 * 128 + (i % 2 * FOUR ^ i / FOUR % 8) * CHUNK;
    }
    static __device__ unsigned further(unsigned place, int lines)
    {
        if (!KEPT) return place + lines * sizeof(float);
        return (place ^ lines / FOUR % 8 * CHUNK) + lines / 2 * 128;
    }

    // Begins all copies of a tile, where so many elements of k are left; zeros for what is past an edge.
    __device__ void copy(unsigned tile, int left)
    {
        if (idle) return;
#pragma unroll
        for (int n = 0; n < COUNT; ++n) {
            int over_k = ALONG_K ? n % OVER_K : n / OVER_I;
            int over_i = ALONG_K ? n / OVER_K : n % OVER_I;
            int more_k = over_k * NEXT_K, more_i = over_i * NEXT_I;
            int bytes = (inside >> over_i & 1) && k + more_k < left ? PACK * sizeof(float) : 0;
            unsigned place =
                tile + further(to, more_i) + (KEPT ? 0 : more_k * LINE * sizeof(float));
            const float *x = from + (ALONG_K ? more_k : more_i);
            if constexpr (PACK == 4) copy_async(place, x, bytes);
            else copy_element(place, x, bytes);
            if (ALONG_K ? over_k == OVER_K - 1 : over_i == OVER_I - 1)
                from += n == COUNT - 1 ? next : step;
        }
    }
};

// What a lane holds of an operand: COUNT quads of lines, STEP lines apart; of four steps along k where lines are kept, of
// this step and the next one otherwise.
template <typename Operand, int COUNT, int STEP>
struct Quads {
    using Quad = Packed<float, FOUR>;
    static constexpr bool KEPT = Operand::KEPT;
    Quad quads[COUNT][KEPT ? FOUR : 2];
    unsigned start;

    __device__ void load(const unsigned char *tile, int i)
    {
        auto quad = [&](unsigned place) { return *reinterpret_cast<const Quad *>(tile + place); };
#pragma unroll
        for (int n = 0; n < COUNT; ++n) {
            if (!KEPT)
                quads[n][i % 2] =
                    quad(Operand::further(start, n * STEP) + i * Operand::LINE * sizeof(float));
            else
#pragma unroll
                for (int e = 0; e < FOUR; ++e)
                    quads[n][e] =
                        quad(Operand::further(start ^ (e % 2 * FOUR ^ i / FOUR) * CHUNK, n * STEP) +
                             e / 2 * 128);
        }
    }
    // Element `line` of those that are held, at step i.
    __device__ float at(int line, int i)
    {
        Quad *of = quads[line / FOUR];
        return KEPT ? of[line % FOUR][i % FOUR] : of[i % 2][line % FOUR];
    }
};

// A product that is written four floats at a time, if PACK says so: in one instruction, of which the compiler would make
// four at times.
template <int PACK>
struct Floats : Product<float, float, PACK> {
    template <int COUNT>
    __device__ void store(long long row, long long column, Packed<float, COUNT> sum)
    {
        if constexpr (PACK < FOUR) Product<float, float, PACK>::store(row, column, sum);
        else if (row < this->rows && column < this->columns)
            asm volatile("st.global.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(
                             __cvta_generic_to_global(this->c + row * this->columns + column)),
                         "f"(sum[0]), "f"(sum[1]), "f"(sum[2]), "f"(sum[3])
                         : "memory");
    }
};

// Stores a warp's sums, which begin at this row and column, by way of shared memory of its own, so that lanes store
// neighbours.
template <int TALL, int BROAD, typename Out>
__device__ void store_side_by_side(Packed<float, FOUR> (&sum)[TALL][FOUR][BROAD], float *own,
                                   Out out, long long top, long long left)
{
    constexpr int HIGH = LANES_DOWN * FOUR, WIDE = BROAD * LANES_ACROSS * FOUR, LINE = WIDE + FOUR;
    int lane = threadIdx.x % 32;
    float *place = own + lane_down() * FOUR * LINE + lane_across() * FOUR;
#pragma unroll
    for (int h = 0; h < TALL; ++h) {
#pragma unroll
        for (int r = 0; r < FOUR; ++r)
#pragma unroll
            for (int w = 0; w < BROAD; ++w)
                *reinterpret_cast<Packed<float, FOUR> *>(place + r * LINE +
                                                         w * LANES_ACROSS * FOUR) = sum[h][r][w];
        __syncwarp();
        for (int n = lane; n < HIGH * WIDE; n += 32)
            out.store(top + h * HIGH + n / WIDE, left + n % WIDE,
                      Packed<float, 1>{own[n / WIDE * LINE + n % WIDE]});
        __syncwarp();
    }
}

template <int ROWS, int COLUMNS, int DEEP, int STAGES, int WARP_ROWS, int WARP_COLUMNS, typename A,
          typename B, typename Out>
__device__ void multiply(A a, B b, Out out, long long top, long long left, Share share)
{
    constexpr int TALL = WARP_ROWS / LANES_DOWN / FOUR, BROAD = WARP_COLUMNS / LANES_ACROSS / FOUR;
    constexpr int OF_A = A::BYTES, STAGE = OF_A + B::BYTES;
    constexpr bool BY_COLUMNS = TALL > 2;  // else registers' banks are in the way of large tiles
    constexpr int OUTER = (BY_COLUMNS ? BROAD : TALL) * FOUR;
    constexpr int INNER = (BY_COLUMNS ? TALL : BROAD) * FOUR;
    using Quad = Packed<float, FOUR>;
    extern __shared__ __align__(128) unsigned char tiles_of_floats[];
    unsigned shared = __cvta_generic_to_shared(tiles_of_floats);
    long long depth = share.end - share.begin;
    int warp = threadIdx.x / 32;
    int y = warp / (COLUMNS / WARP_COLUMNS) * WARP_ROWS;
    int x = warp % (COLUMNS / WARP_COLUMNS) * WARP_COLUMNS;
    Quad sum[TALL][FOUR][BROAD] = {};
    Quads<A, TALL, LANES_DOWN * FOUR> p;
    Quads<B, BROAD, LANES_ACROSS * FOUR> q;
    p.start = A::start(y + lane_down() * FOUR), q.start = B::start(x + lane_across() * FOUR);

#pragma unroll 1
    for (int stage = 0; stage < STAGES - 1; ++stage) {
        int more = min(depth - stage * DEEP, (long long)DEEP);
        a.copy(shared + stage * STAGE, more);
        b.copy(shared + stage * STAGE + OF_A, more);
        close_group();
    }
    int tile = 0, free = (STAGES - 1) * STAGE;
    wait_for_groups<STAGES - 2>();
    __syncthreads();
    if (!A::KEPT) p.load(tiles_of_floats, 0);
    if (!B::KEPT) q.load(tiles_of_floats + OF_A, 0);
    for (long long k = 0; k < depth; k += DEEP) {
        int more = min(depth - k - (STAGES - 1) * DEEP, (long long)DEEP);
#pragma unroll
        for (int i = 0; i < DEEP; ++i) {
            if (i == DEEP - 1) {  // the next tile has come; this one is read by all, and free
                if ((tile += STAGE) == STAGES * STAGE) tile = 0;
                wait_for_groups<STAGES - 2>();
                __syncthreads();
            }
            const unsigned char *from = tiles_of_floats + tile;
            if (A::KEPT ? i % FOUR == 0 : true) p.load(from, A::KEPT ? i : (i + 1) % DEEP);
            if (B::KEPT ? i % FOUR == 0 : true) q.load(from + OF_A, B::KEPT ? i : (i + 1) % DEEP);
            if (i == 0) {  // at one step: spread over several, they cost registers
                a.copy(shared + free, more);
                b.copy(shared + free + OF_A, more);
                close_group();
                if ((free += STAGE) == STAGES * STAGE) free = 0;
            }
#pragma unroll
            for (int over = 0; over < OUTER; ++over)
#pragma unroll
                for (int turn = 0; turn < INNER; ++turn) {
                    int under = over % 2 ? turn : INNER - 1 - turn;
                    int row = BY_COLUMNS ? under : over, column = BY_COLUMNS ? over : under;
                    sum[row / FOUR][row % FOUR][column / FOUR][column % FOUR] +=
                        p.at(row, i) * q.at(column, i);
                }
        }
    }
    wait_for_groups<0>();
    __syncthreads();  // all have read the last tile, whose memory `out` may need
    if constexpr (Out::AT_ONCE < FOUR) {
        float *own = reinterpret_cast<float *>(tiles_of_floats) +
                     warp * LANES_DOWN * FOUR * (WARP_COLUMNS + FOUR);
        store_side_by_side(sum, own, out, top + y, left + x);
    } else
#pragma unroll
        for (int h = 0; h < TALL; ++h)
#pragma unroll
            for (int r = 0; r < FOUR; ++r)
#pragma unroll
                for (int w = 0; w < BROAD; ++w)
                    out.store(top + y + (lane_down() + h * LANES_DOWN) * FOUR + r,
                              left + x + (lane_across() + w * LANES_ACROSS) * FOUR, sum[h][r][w]);
}
