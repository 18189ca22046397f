// What one chip of compute capability 9.0 can do besides: products by warpgroups, copies of boxes, barriers that count
// arrivals and bytes. measure.py launches the kernels, and writes one for each shape and type of PRODUCTS_OF.
#include "common/boxes.cuh"
#include "gemm/warpgroup.cuh"

constexpr int TURNS = 64, UNROLLED = 16;
constexpr int ROOM = 40 << 10;  // for 64 lines of a and 256 of b
typedef unsigned u32;
typedef unsigned long long u64;
extern __shared__ __align__(1024) unsigned char room[];

__device__ inline u32 address_of(const void *p) { return __cvta_generic_to_shared(p); }

// TURNS * UNROLLED products by each warpgroup. TOGETHER: so many are waited for at once; of 0, none until the end.
#define PRODUCTS_OF(name, Sum, D, step)                                                            \
    template <int TOGETHER>                                                                        \
    __device__ void name(long long *cycles, Sum *out)                                              \
    {                                                                                              \
        __shared__ __align__(1024) u32 tiles[ROOM / 4];                                            \
        for (int i = threadIdx.x; i < ROOM / 4; i += blockDim.x) tiles[i] = 0;                     \
        show_stores();                                                                             \
        u64 a = described(address_of(tiles), 0), b = described(address_of(tiles) + (8 << 10), 0);  \
        constexpr int EACH = TOGETHER ? TOGETHER : UNROLLED;                                       \
        [[maybe_unused]] u32 held[4] = {};                                                         \
        Sum sum[D] = {};                                                                           \
        __syncthreads();                                                                           \
        long long start = clock64();                                                               \
        _Pragma("unroll 1") for (int turn = 0; turn < TURNS; turn++)                               \
        {                                                                                          \
            _Pragma("unroll") for (int u = 0; u < UNROLLED; u++)                                   \
            {                                                                                      \
                if (u % EACH == 0) begin_products();                                               \
                step;                                                                              \
                if (TOGETHER && (u + 1) % EACH == 0) close_products(), wait_for_products<0>();     \
            }                                                                                      \
            if (!TOGETHER) close_products(), wait_for_products<1>();                               \
        }                                                                                          \
        wait_for_products<0>();                                                                    \
        __syncthreads();                                                                           \
        if (threadIdx.x == 0) cycles[blockIdx.x] = clock64() - start;                              \
        for (int i = 0; i < D; i++) out[(threadIdx.x + i) & 1023] = sum[i];                        \
    }                                                                                              \
    extern "C" __global__ __launch_bounds__(256) void name##_latency(long long *cycles, Sum *out)  \
    { name<1>(cycles, out); }                                                                      \
    extern "C" __global__ __launch_bounds__(256) void name##_four(long long *cycles, Sum *out)     \
    { name<4>(cycles, out); }                                                                      \
    extern "C" __global__ __launch_bounds__(256) void name##_rate(long long *cycles, Sum *out)     \
    { name<0>(cycles, out); }

// Boxes of 64 halves by `bytes` / 128 lines, `deep` of them under way, from `count` of them that belong to this block,
// `turns` times all. deep and count: powers of two.
constexpr int DEEPEST = 8;
template <typename Copy>
__device__ void copies(long long *cycles, int bytes, int deep, int count, int turns, Copy copy)
{
    __shared__ __align__(8) u64 barriers[DEEPEST];
    u32 barrier = address_of(barriers), to = address_of(room), parity = 0;
    for (int i = 0; i < DEEPEST; i++) begin_barrier(barrier + i * 8, 1);
    show_barriers();
    int all = count * turns, own = blockIdx.x * count;
    long long start = clock64();
    for (int n = 0; n < all + deep; n++) {
        int place = n & deep - 1;
        if (n >= deep) {
            wait_for(barrier + place * 8, parity);
            if (place == deep - 1) parity ^= 1;
        }
        if (n < all) {
            expect_bytes(barrier + place * 8, bytes);
            copy(to + place * bytes, own + (n & count - 1), barrier + place * 8);
        }
    }
    cycles[blockIdx.x] = clock64() - start;
}
extern "C" __global__ void boxes(const __grid_constant__ Maps<1> maps, long long *cycles, int bytes,
                                 int deep, int count, int turns)
{
    copies(cycles, bytes, deep, count, turns, [&](u32 to, int box, u32 barrier) {
        copy_box(to, maps.of[0], 0, box * (bytes / 128), 0, barrier);
    });
}
extern "C" __global__ void bulks(const unsigned char *x, long long *cycles, int bytes, int deep,
                                 int count, int turns)
{
    copies(cycles, bytes, deep, count, turns, [&](u32 to, int box, u32 barrier) {
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1],"
                     " %2, [%3];" ::"r"(to),
                     "l"(x + (long long)box * bytes), "r"(bytes), "r"(barrier)
                     : "memory");
    });
}
// The other way: stores of a box, whose room is read before the next one begins.
extern "C" __global__ void stores(const __grid_constant__ Maps<1> maps, long long *cycles,
                                  int bytes, int count, int turns)
{
    long long start = clock64();
    for (int n = 0; n < count * turns; n++) {
        asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group"
                     " [%0, {%1, %2, %1}], [%3];" ::"l"(&maps.of[0]),
                     "r"(0), "r"((blockIdx.x * count + (n & count - 1)) * (bytes / 128)),
                     "r"(address_of(room))
                     : "memory");
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
    }
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    cycles[blockIdx.x] = clock64() - start;
}

// Two warps that wait for each other in turn.
extern "C" __global__ void signals(long long *cycles)
{
    __shared__ __align__(8) u64 barriers[2];
    u32 mine = address_of(barriers) + threadIdx.x / 32 * 8,
        other = address_of(barriers) + 8 - threadIdx.x / 32 * 8;
    if (threadIdx.x == 0) begin_barrier(mine, 1), begin_barrier(other, 1);
    __syncthreads();
    long long start = clock64();
    for (int turn = 0; turn < TURNS * UNROLLED; turn++) {
        if (threadIdx.x / 32 == 1) wait_for(other, turn & 1);
        if (threadIdx.x % 32 == 0) arrive(mine);
        if (threadIdx.x / 32 == 0) wait_for(other, turn & 1);
    }
    if (threadIdx.x == 0) cycles[blockIdx.x] = clock64() - start;
}
// One that finds all barriers passed.
extern "C" __global__ void passed(long long *cycles)
{
    __shared__ __align__(8) u64 barriers[1];
    u32 barrier = address_of(barriers);
    if (threadIdx.x == 0) begin_barrier(barrier, 1);
    __syncthreads();
    long long start = clock64();
    for (int turn = 0; turn < TURNS * UNROLLED; turn++) {
        if (threadIdx.x == 0) arrive(barrier);
        wait_for(barrier, turn & 1);
    }
    if (threadIdx.x == 0) cycles[blockIdx.x] = clock64() - start;
}

// What warpgroups and bulk copies are to see is shown to them.
extern "C" __global__ void shown(long long *cycles)
{
    __syncthreads();
    long long start = clock64();
    for (int turn = 0; turn < TURNS * UNROLLED; turn++) show_stores();
    if (threadIdx.x == 0) cycles[blockIdx.x] = clock64() - start;
}

// Tensor cores of the whole chip at work, on what x holds; cycles: of each block.
constexpr int COLUMNS = 256;
extern "C" __global__ __launch_bounds__(256) void loaded_groups(long long *cycles, const u32 *x,
                                                                int turns, float *out)
{
    __shared__ __align__(1024) u32 tiles[ROOM / 4];
    for (int i = threadIdx.x; i < ROOM / 4; i += blockDim.x) tiles[i] = x[i];
    show_stores();
    u32 at = address_of(tiles);
    float sum[COLUMNS / 2] = {};
    __syncthreads();
    long long start = clock64();
    for (int turn = 0; turn < turns; turn++) {
        begin_products();
#pragma unroll
        for (int n = 0; n < 4; n++)
            multiply_add<true, true>(sum, described(at + n * 32, 0),
                                     described(at + (8 << 10) + n * 32, 0), true, half());
        close_products();
        wait_for_products<1>();
    }
    wait_for_products<0>();
    if (threadIdx.x == 0) cycles[blockIdx.x] = clock64() - start;
    for (int i = 0; i < COLUMNS / 2; i++) out[(threadIdx.x + i) & 1023] = sum[i];
}

// The same by warps, each of which multiplies 64 x 64 elements, 16 deep.
extern "C" __global__ __launch_bounds__(256) void loaded_warps(long long *cycles, const u32 *x,
                                                               int turns, float *out)
{
    u32 a[4][4], b[8][2];
    float sum[4][8][4] = {};
    for (int i = 0; i < 32; i++)
        (i < 16 ? a[i / 4][i % 4] : b[i / 2 - 8][i % 2]) = x[i * 32 + threadIdx.x % 32];
    __syncthreads();
    long long start = clock64();
    for (int turn = 0; turn < turns; turn++)
#pragma unroll
        for (int i = 0; i < 4; i++)
#pragma unroll
            for (int j = 0; j < 8; j++) {
                float (&d)[4] = sum[i][j];
                asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
                             " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                             : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                             : "r"(a[i][0]), "r"(a[i][1]), "r"(a[i][2]), "r"(a[i][3]), "r"(b[j][0]),
                               "r"(b[j][1]));
            }
    if (threadIdx.x == 0) cycles[blockIdx.x] = clock64() - start;
    for (int i = 0; i < 128; i++) out[(threadIdx.x + i) & 1023] = sum[i / 32][i / 4 % 8][i % 4];
}

// cp.async of 16 bytes per thread, `deep` under way, from lines of x that belong to this block.
extern "C" __global__ void copies_async(long long *cycles, const uint4 *x, int deep, int count,
                                        int turns)
{
    const uint4 *from = x + (long long)blockIdx.x * count * blockDim.x + threadIdx.x;
    __syncthreads();
    long long start = clock64();
    for (int turn = 0; turn < turns; turn++)
        for (int n = 0; n < count; n++) {
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(
                             address_of(room) + ((n & deep - 1) * blockDim.x + threadIdx.x) * 16),
                         "l"(from + n * blockDim.x)
                         : "memory");
            asm volatile("cp.async.commit_group;" ::: "memory");
            if (deep == 1) asm volatile("cp.async.wait_group 0;" ::: "memory");
            else if (deep == 4) asm volatile("cp.async.wait_group 3;" ::: "memory");
            else asm volatile("cp.async.wait_group 7;" ::: "memory");
        }
    asm volatile("cp.async.wait_group 0;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) cycles[blockIdx.x] = clock64() - start;
}
