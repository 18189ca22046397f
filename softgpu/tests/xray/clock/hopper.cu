// Kernels by boxes and warpgroups, as people write them, for the clock to predict.
#include "common/boxes.cuh"
#include "gemm/warpgroup.cuh"

typedef unsigned u32;
typedef unsigned long long u64;
constexpr int LINE = 128, DEEP = 64, BOX = 64 * LINE;  // bytes; halves of a line; of 64 lines
extern __shared__ __align__(1024) unsigned char room[];

__device__ inline u32 address_of(const void *p) { return __cvta_generic_to_shared(p); }

// Where a block's tile of c[m, n] = a[m, k] b[n, k]' is, 64 x COLUMNS, and its operands.
template <int COLUMNS>
struct Product {
    static constexpr int STAGE = BOX + COLUMNS * LINE;
    const Map &a, &b;
    u32 stages, full;
    int top, left;
    __device__ Product(const Maps<2> &maps, const u64 *barriers)
        : a(maps.of[0]), b(maps.of[1]), stages(address_of(room)), full(address_of(barriers)),
          top(blockIdx.y * 64), left(blockIdx.x * COLUMNS)
    {
    }
    __device__ void fetch(int stage, int step) const
    {
        u32 to = stages + stage * STAGE, barrier = full + stage * 8;
        expect_bytes(barrier, STAGE);
        copy_box(to, a, step * DEEP, top, 0, barrier);
        copy_box(to + BOX, b, step * DEEP, left, 0, barrier);
    }
    __device__ void multiply(float (&sum)[COLUMNS / 2], int stage) const
    {
        u32 at = stages + stage * STAGE;
        begin_products();
#pragma unroll
        for (int n = 0; n < 4; n++)
            multiply_add<true, true>(sum, described(at + n * 32, 0),
                                     described(at + BOX + n * 32, 0), true, half());
        close_products();
    }
    __device__ void store(float *c, int n, const float (&sum)[COLUMNS / 2], int thread) const
    {
        int lane = thread % 32, row = top + thread / 32 * 16 + lane / 4;
#pragma unroll
        for (int i = 0; i < COLUMNS / 2; i += 2)
            *(float2 *)&c[(long long)(row + i / 2 % 2 * 8) * n + left + i / 4 * 8 + lane % 4 * 2] =
                make_float2(sum[i], sum[i + 1]);
    }
};

// A box of each operand comes, is multiplied, and the next one comes.
template <int COLUMNS>
__device__ void in_turn(const Maps<2> &maps, float *c, int n, int steps)
{
    __shared__ __align__(8) u64 barriers[1];
    Product<COLUMNS> product(maps, barriers);
    float sum[COLUMNS / 2] = {};
    if (threadIdx.x == 0) begin_barrier(product.full, 1), show_barriers();
    __syncthreads();
    for (int step = 0; step < steps; step++) {
        if (threadIdx.x == 0) product.fetch(0, step);
        wait_for(product.full, step & 1);
        product.multiply(sum, 0);
        wait_for_products<0>();
        __syncthreads();
    }
    product.store(c, n, sum, threadIdx.x);
}
// STAGES boxes of each are under way; the thread that multiplies asks for them, too.
template <int COLUMNS, int STAGES>
__device__ void ahead(const Maps<2> &maps, float *c, int n, int steps)
{
    __shared__ __align__(8) u64 barriers[STAGES];
    Product<COLUMNS> product(maps, barriers);
    float sum[COLUMNS / 2] = {};
    if (threadIdx.x == 0) {
        for (int i = 0; i < STAGES; i++) begin_barrier(product.full + i * 8, 1);
        show_barriers();
        for (int i = 0; i < STAGES - 1 && i < steps; i++) product.fetch(i, i);
    }
    __syncthreads();
    int stage = 0, parity = 0, next = STAGES - 1;
    for (int step = 0; step < steps; step++) {
        wait_for(product.full + stage * 8, parity);
        product.multiply(sum, stage);
        wait_for_products<1>();
        __syncthreads();  // the products of the step before are done
        if (threadIdx.x == 0 && step + STAGES - 1 < steps) product.fetch(next, step + STAGES - 1);
        if (++next == STAGES) next = 0;
        if (++stage == STAGES) stage = 0, parity ^= 1;
    }
    wait_for_products<0>();
    product.store(c, n, sum, threadIdx.x);
}
// A warp asks for them, a warpgroup multiplies.
template <int COLUMNS, int STAGES>
__device__ void by_two(const Maps<2> &maps, float *c, int n, int steps)
{
    __shared__ __align__(8) u64 barriers[2 * STAGES];
    Product<COLUMNS> product(maps, barriers);
    u32 empty = product.full + STAGES * 8;
    if (threadIdx.x == 0) {
        for (int i = 0; i < 2 * STAGES; i++) begin_barrier(product.full + i * 8, 1);
        show_barriers();
    }
    __syncthreads();
    int stage = 0, parity = 0;
    if (threadIdx.x >= 128) {
        if (threadIdx.x > 128) return;
        for (int step = 0; step < steps; step++) {
            wait_for(empty + stage * 8, parity ^ 1);
            product.fetch(stage, step);
            if (++stage == STAGES) stage = 0, parity ^= 1;
        }
        return;
    }
    float sum[COLUMNS / 2] = {};
    for (int step = 0; step < steps; step++) {
        wait_for(product.full + stage * 8, parity);
        product.multiply(sum, stage);
        wait_for_products<0>();
        if (threadIdx.x == 0) arrive(empty + stage * 8);
        if (++stage == STAGES) stage = 0, parity ^= 1;
    }
    product.store(c, n, sum, threadIdx.x);
}
#define PRODUCT(name, threads, ...)                                                                \
    extern "C" __global__ __launch_bounds__(threads) void name(                                    \
        const __grid_constant__ Maps<2> maps, float *c, int n, int steps)                          \
    { __VA_ARGS__(maps, c, n, steps); }
PRODUCT(in_turn_64, 128, in_turn<64>)
PRODUCT(in_turn_128, 128, in_turn<128>)
PRODUCT(ahead_64_3, 128, ahead<64, 3>)
PRODUCT(ahead_128_4, 128, ahead<128, 4>)
PRODUCT(ahead_256_3, 128, ahead<256, 3>)
PRODUCT(by_two_128_4, 160, by_two<128, 4>)
PRODUCT(by_two_64_6, 160, by_two<64, 6>)

// Registers and shared memory alone: `turns` times four products, KEPT groups of them under way.
template <int COLUMNS, int KEPT>
__device__ void chains(float *y, int turns)
{
    for (int i = threadIdx.x; i < (BOX + COLUMNS * LINE) / 4; i += blockDim.x)
        ((u32 *)room)[i] = i * 2654435761u & 0xbfffbfff;
    show_stores();
    u32 at = address_of(room);
    float sum[COLUMNS / 2] = {};
    __syncthreads();
    for (int turn = 0; turn < turns; turn++) {
        begin_products();
#pragma unroll
        for (int n = 0; n < 4; n++)
            multiply_add<true, true>(sum, described(at + n * 32, 0),
                                     described(at + BOX + n * 32, 0), true, half());
        close_products();
        wait_for_products<KEPT>();
    }
    wait_for_products<0>();
    float all = 0;
    for (int i = 0; i < COLUMNS / 2; i++) all += sum[i];
    y[blockIdx.x * blockDim.x + threadIdx.x] = all;
}
#define CHAINS(name, ...)                                                                          \
    extern "C" __global__ __launch_bounds__(256) void name(float *y, int turns)                    \
    { __VA_ARGS__(y, turns); }
CHAINS(chains_64, chains<64, 1>)
CHAINS(chains_128, chains<128, 1>)
CHAINS(chains_256, chains<256, 1>)
CHAINS(waited_64, chains<64, 0>)
CHAINS(waited_128, chains<128, 0>)

// y = 2 x, boxes of 64 x 64 halves there and back, one at a time for each block.
extern "C" __global__ void boxes_doubled(const __grid_constant__ Maps<2> maps, int count)
{
    __shared__ __align__(8) u64 barriers[1];
    u32 full = address_of(barriers), at = address_of(room);
    if (threadIdx.x == 0) begin_barrier(full, 1), show_barriers();
    __syncthreads();
    int parity = 0;
    for (int box = blockIdx.x; box < count; box += gridDim.x, parity ^= 1) {
        if (threadIdx.x == 0)
            expect_bytes(full, BOX), copy_box(at, maps.of[0], 0, box * 64, 0, full);
        wait_for(full, parity);
        for (int i = threadIdx.x; i < BOX / 4; i += blockDim.x) {
            half2 &pair = ((half2 *)room)[i];
            pair = __hadd2(pair, pair);
        }
        show_stores();
        __syncthreads();
        if (threadIdx.x == 0) {
            asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group"
                         " [%0, {%1, %2, %1}], [%3];" ::"l"(&maps.of[1]),
                         "r"(0), "r"(box * 64), "r"(at)
                         : "memory");
            asm volatile("cp.async.bulk.commit_group;" ::: "memory");
            asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

// out[row]: the sum of a row of 4096 floats, which comes as one piece; STAGES rows are under way.
constexpr int ROW = 4096 * 4, ROWS_AHEAD = 3;
extern "C" __global__ void bulk_sums(const float *x, float *out, int rows)
{
    __shared__ __align__(8) u64 barriers[ROWS_AHEAD];
    __shared__ float totals[8];
    u32 full = address_of(barriers), at = address_of(room);
    auto fetch = [&](int stage, int row) {
        expect_bytes(full + stage * 8, ROW);
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1],"
                     " %2, [%3];" ::"r"(at + stage * ROW),
                     "l"(x + (long long)row * (ROW / 4)), "r"(ROW), "r"(full + stage * 8)
                     : "memory");
    };
    if (threadIdx.x == 0) {
        for (int i = 0; i < ROWS_AHEAD; i++) begin_barrier(full + i * 8, 1);
        show_barriers();
        for (int i = 0; i < ROWS_AHEAD; i++)
            if (blockIdx.x + i * gridDim.x < rows) fetch(i, blockIdx.x + i * gridDim.x);
    }
    __syncthreads();
    int stage = 0, parity = 0;
    for (int row = blockIdx.x; row < rows; row += gridDim.x) {
        wait_for(full + stage * 8, parity);
        const float4 *own = (const float4 *)(room + stage * ROW);
        float sum = 0;
        for (int i = threadIdx.x; i < ROW / 16; i += blockDim.x)
            sum += own[i].x + own[i].y + own[i].z + own[i].w;
        for (int d = 16; d; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
        if (threadIdx.x % 32 == 0) totals[threadIdx.x / 32] = sum;
        __syncthreads();
        if (threadIdx.x == 0) {
            if (row + ROWS_AHEAD * gridDim.x < rows) fetch(stage, row + ROWS_AHEAD * gridDim.x);
            sum = 0;
            for (int i = 0; i < blockDim.x / 32; i++) sum += totals[i];
            out[row] = sum;
        }
        __syncthreads();
        if (++stage == ROWS_AHEAD) stage = 0, parity ^= 1;
    }
}

// y[n, m] = x[m, n]', 64 x 64 halves a block: a box comes, words leave.
extern "C" __global__ void box_turned(const __grid_constant__ Maps<1> maps, half *y, int m)
{
    __shared__ __align__(8) u64 barriers[1];
    u32 full = address_of(barriers);
    int top = blockIdx.y * 64, left = blockIdx.x * 64;
    if (threadIdx.x == 0) {
        begin_barrier(full, 1), show_barriers();
        expect_bytes(full, BOX), copy_box(address_of(room), maps.of[0], left, top, 0, full);
    }
    __syncthreads();
    wait_for(full, 0);
    for (int i = threadIdx.x; i < 64 * 64; i += blockDim.x) {
        int row = i % 64, column = i / 64, chunk = column / 8 ^ row % 8;
        y[(long long)(left + column) * m + top + row] =
            *(half *)(room + row * LINE + chunk * 16 + column % 8 * 2);
    }
}

// y[rows, 64] = x[rows, 64] w[64, 64]': w comes once, x through registers; a warpgroup takes 64 rows at a time.
extern "C" __global__ __launch_bounds__(256) void rows_held(const __grid_constant__ Maps<1> maps,
                                                            const half *x, half *y, int rows)
{
    __shared__ __align__(8) u64 barriers[1];
    u32 full = address_of(barriers), at = address_of(room);
    if (threadIdx.x == 0) {
        begin_barrier(full, 1), show_barriers();
        expect_bytes(full, BOX), copy_box(at, maps.of[0], 0, 0, 0, full);
    }
    __syncthreads();
    wait_for(full, 0);
    int lane = threadIdx.x % 32, own = threadIdx.x / 32 * 16 + lane / 4;
    for (int top = blockIdx.x * 128; top < rows; top += gridDim.x * 128) {
        const u32 *from = (const u32 *)(x + (long long)(top + own) * 64) + lane % 4;
        u32 a[4][4];
        float sum[32] = {};
#pragma unroll
        for (int n = 0; n < 4; n++)
            for (int i = 0; i < 4; i++) a[n][i] = from[n * 8 + i / 2 * 4 + i % 2 * 8 * 32];
        begin_products();
#pragma unroll
        for (int n = 0; n < 4; n++)
            multiply_add<true>(sum, a[n], described(at + n * 32, 0), true, half());
        close_products();
        wait_for_products<0>();
#pragma unroll
        for (int i = 0; i < 32; i += 2)
            *(half2 *)&y[(long long)(top + own + i / 2 % 2 * 8) * 64 + i / 4 * 8 + lane % 4 * 2] =
                __floats2half2_rn(sum[i], sum[i + 1]);
    }
}
