// Product of matrices: a[m, k] times b[k, n] -> c[m, n], a batch of them over blockIdx.z, `strides` apart.
// Either may lie transposed: neighbours in memory are along k (A_ALONG_K, B_ALONG_K) or across it; 4 divides lines,
// strides and places. Launch a grid of (m / ROWS * n / COLUMNS, rounded up, splits, batch) blocks of 256 threads with
// 2 * DEEP * (ROWS + COLUMNS + 8) * sizeof(Acc) bytes of shared memory. Split p of k makes c[batch, p, m, n]: their sum
// is the product.
// Step 5: a warp makes 64 x 64 elements, a thread 16 x 8 of them: fewer loads for each multiply-add. Fragments are
// loaded one step ahead; what a thread fetches it finds by one address, and a bit for each pack.
// Limit: the multiply-adds. A thread needs 250 registers, so that one block fits on a multiprocessor.
#include "gemm/tiles.cuh"
using T = float;
using Acc = float;
using Out = float;
constexpr int A_ALONG_K = 1;
constexpr int B_ALONG_K = 0;
constexpr int C_PACK = 4;

constexpr int ROWS = 256, COLUMNS = 128, DEEP = 16;
constexpr int DOWN = 4, ACROSS = 8;  // lanes of a warp, whose tile is 16 * DOWN x 8 * ACROSS
using Quad = Packed<Acc, FOUR>;

struct Strides {
    long long a, b;  // from one line to the next
    long long a_batch, b_batch;
};

// What a thread carries of a tile of WIDE rows of a, or columns of b, to shared memory, where k comes first.
template <bool ALONG_K, int WIDE>
struct Carry {
    static constexpr int COUNT = DEEP * WIDE / FOUR / BLOCK, LINE = WIDE + FOUR;
    static constexpr int NEXT_K = ALONG_K ? 0 : BLOCK * FOUR / WIDE;  // from pack to pack
    static constexpr int NEXT_I = ALONG_K ? BLOCK * FOUR / DEEP : 0;
    Packed<T, FOUR> pack[COUNT];
    const T *from;  // the first pack of the next tile
    long long stride, depth;
    unsigned inside = 0;  // a bit for each pack: the matrix is so wide

    static __device__ int k()
    { return ALONG_K ? threadIdx.x % (DEEP / FOUR) * FOUR : threadIdx.x / (WIDE / FOUR); }
    static __device__ int i()
    { return ALONG_K ? threadIdx.x / (DEEP / FOUR) : threadIdx.x % (WIDE / FOUR) * FOUR; }
    // Of x from this k and i on, so many elements deep and wide.
    __device__ Carry(const T *x, long long stride, long long first_k, long long first_i,
                     long long depth, long long width)
        : stride(stride), depth(depth)
    {
        first_k += k(), first_i += i();
        from = x + (ALONG_K ? first_i * stride + first_k : first_k * stride + first_i);
        for (int n = 0; n < COUNT; ++n) inside |= unsigned(first_i + n * NEXT_I < width) << n;
    }
    __device__ void fetch()
    {
        int deep = int(min(depth, (long long)DEEP)) - k();
#pragma unroll
        for (int n = 0; n < COUNT; ++n) {
            pack[n] = {};
            const T *place = from + (ALONG_K ? n * NEXT_I * stride : n * NEXT_K * stride);
            if ((inside >> n & 1) && n * NEXT_K < deep)
                pack[n] = *reinterpret_cast<const Packed<T, FOUR> *>(place);
        }
        from += ALONG_K ? DEEP : DEEP * stride;
        depth -= DEEP;
    }
    __device__ void put(Acc *tile)
    {
#pragma unroll
        for (int n = 0; n < COUNT; ++n)
#pragma unroll
            for (int e = 0; e < FOUR; ++e)
                tile[(k() + n * NEXT_K + (ALONG_K ? e : 0)) * LINE + i() + n * NEXT_I +
                     (ALONG_K ? 0 : e)] = Acc(pack[n][e]);
    }
};

extern "C" __global__ __launch_bounds__(BLOCK, 1) void warps(const T *__restrict__ a,
                                                             const T *__restrict__ b, Out *c,
                                                             long long m, long long n, long long k,
                                                             Strides strides)
{
    extern __shared__ __align__(16) unsigned char memory[];
    using A = Carry<A_ALONG_K, ROWS>;
    using B = Carry<B_ALONG_K, COLUMNS>;
    Acc *tiles_a = reinterpret_cast<Acc *>(memory), *tiles_b = tiles_a + 2 * DEEP * A::LINE;
    long long tiles = (m + ROWS - 1) / ROWS;
    long long top = blockIdx.x % tiles * ROWS, left = blockIdx.x / tiles * COLUMNS;
    Share share(k, DEEP);
    A of_a(a + blockIdx.z * strides.a_batch, strides.a, share.begin, top, share.end - share.begin,
           m);
    B of_b(b + blockIdx.z * strides.b_batch, strides.b, share.begin, left, share.end - share.begin,
           n);
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    int y = warp / 2 * 64 + lane / ACROSS * FOUR, x = warp % 2 * 64 + lane % ACROSS * FOUR;
    Quad p[2][4], q[2][2], sum[4][FOUR][2] = {};

    auto take = [&](int to, int pair, int i) {  // the numbers of step i of a pair of tiles
#pragma unroll
        for (int h = 0; h < 4; ++h)
            p[to][h] = *reinterpret_cast<Quad *>(tiles_a + (pair * DEEP + i) * A::LINE + y +
                                                 h * DOWN * FOUR);
#pragma unroll
        for (int w = 0; w < 2; ++w)
            q[to][w] = *reinterpret_cast<Quad *>(tiles_b + (pair * DEEP + i) * B::LINE + x +
                                                 w * ACROSS * FOUR);
    };
    auto put = [&](int pair) {
        of_a.put(tiles_a + pair * DEEP * A::LINE);
        of_b.put(tiles_b + pair * DEEP * B::LINE);
    };
    auto fetch = [&] { of_a.fetch(), of_b.fetch(); };

    fetch();
    put(0);
    __syncthreads();
    take(0, 0, 0);
    int now = 0;
    for (long long first = share.begin; first < share.end; first += DEEP, now ^= 1) {
#pragma unroll
        for (int i = 0; i < DEEP; ++i) {
            bool is_last = i == DEEP - 1;
            if (is_last) {
                put(now ^ 1);
                __syncthreads();  // the next tiles are written, and these have been read
            }
            take((i + 1) % 2, is_last ? now ^ 1 : now, (i + 1) % DEEP);
            if (i == 0) fetch();  // under way while these are multiplied
#pragma unroll
            for (int h = 0; h < 4; ++h)
#pragma unroll
                for (int r = 0; r < FOUR; ++r)
#pragma unroll
                    for (int w = 0; w < 2; ++w)
#pragma unroll
                        for (int s = 0; s < FOUR; ++s)
                            sum[h][r][w][s] += p[i % 2][h][r] * q[i % 2][w][s];
        }
    }
    Product<Out, Acc, C_PACK> product = {
        c + (blockIdx.z * (long long)gridDim.y + blockIdx.y) * m * n, m, n};
#pragma unroll
    for (int h = 0; h < 4; ++h)
#pragma unroll
        for (int r = 0; r < FOUR; ++r)
#pragma unroll
            for (int w = 0; w < 2; ++w)
                product.store(top + y + h * DOWN * FOUR + r, left + x + w * ACROSS * FOUR,
                              sum[h][r][w]);
}
