// Kernels by tensor cores, as people write them, for the clock to predict.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

typedef unsigned u32;
namespace wmma = nvcuda::wmma;

#define ARGUMENTS_4_2                                                                              \
    " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};" : HOLDS(d[0]),              \
                                                                         HOLDS(d[1]),              \
                                                                         HOLDS(d[2]),              \
                                                                         HOLDS(d[3])               \
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1])

#define HOLDS "+f"
__device__ void halves(float (&d)[4], const u32 (&a)[4], const u32 *b)
{ asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32" ARGUMENTS_4_2); }
__device__ void bfloats(float (&d)[4], const u32 (&a)[4], const u32 *b)
{ asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32" ARGUMENTS_4_2); }
__device__ void cut(float (&d)[4], const u32 (&a)[4], const u32 *b)
{ asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32" ARGUMENTS_4_2); }
__device__ void eighths(float (&d)[4], const u32 (&a)[4], const u32 *b)
{ asm volatile("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32" ARGUMENTS_4_2); }
#undef HOLDS
#define HOLDS "+r"
__device__ void bytes(int (&d)[4], const u32 (&a)[4], const u32 *b)
{ asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32" ARGUMENTS_4_2); }
__device__ void bits(int (&d)[4], const u32 (&a)[4], const u32 *b)
{ asm volatile("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc" ARGUMENTS_4_2); }
#undef HOLDS

__device__ void narrow(float (&d)[4], u32 a0, u32 a1, u32 b)
{
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32"
                 " {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a0), "r"(a1), "r"(b));
}
__device__ u32 packed(float low, float high)
{
    __half2 both = __floats2half2_rn(low, high);
    return *(u32 *)&both;
}

// ---- registers alone: CHAINS sums a warp, `turns` products for each ----

#define ITERATED(name, CHAINS, multiply)                                                           \
    extern "C" __global__ void name(const u32 *x, float *y, int turns)                             \
    {                                                                                              \
        int lane = threadIdx.x % 32;                                                               \
        u32 a[4] = {x[lane], x[32 + lane], x[64 + lane], x[96 + lane]};                            \
        u32 b[2] = {x[128 + lane], x[160 + lane]};                                                 \
        float d[CHAINS][4] = {};                                                                   \
        for (int turn = 0; turn < turns; turn++)                                                   \
            for (int i = 0; i < CHAINS; i++) multiply(d[i], a, b);                                 \
        float sum = 0;                                                                             \
        for (int i = 0; i < CHAINS; i++) sum += d[i][0] + d[i][1] + d[i][2] + d[i][3];             \
        y[blockIdx.x * blockDim.x + threadIdx.x] = sum;                                            \
    }
ITERATED(chain_of_halves, 1, halves)
ITERATED(chains_of_halves, 4, halves)
ITERATED(pairs_of_bfloats, 2, bfloats)
ITERATED(chains_cut, 4, cut)

extern "C" __global__ void chains_of_doubles(const double *x, double *y, int turns)
{
    double a = x[threadIdx.x % 32], b = x[32 + threadIdx.x % 32], d[2][2] = {};
    for (int turn = 0; turn < turns; turn++)
        for (int i = 0; i < 2; i++)
            asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64"
                         " {%0, %1}, {%2}, {%3}, {%0, %1};"
                         : "+d"(d[i][0]), "+d"(d[i][1])
                         : "d"(a), "d"(b));
    y[blockIdx.x * blockDim.x + threadIdx.x] = d[0][0] + d[0][1] + d[1][0] + d[1][1];
}

// ---- operands straight from global memory ----

// c[n, n] = a[n, k] times its transpose, a warp for each 32 x 32 elements; sums are halves.
extern "C" __global__ void gram_halves(const half *a, half *c, int n, int k)
{
    int warp = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, across = n / 32;
    int top = warp / across * 32, left = warp % across * 32;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> p[2];
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> q[2];
    wmma::fragment<wmma::accumulator, 16, 16, 16, half> sum[2][2];
    for (int i = 0; i < 4; i++) wmma::fill_fragment(sum[i / 2][i % 2], half(0));
    for (int first = 0; first < k; first += 16) {
        for (int i = 0; i < 2; i++) {
            wmma::load_matrix_sync(p[i], a + (top + i * 16) * k + first, k);
            wmma::load_matrix_sync(q[i], a + (left + i * 16) * k + first, k);
        }
        for (int i = 0; i < 4; i++)
            wmma::mma_sync(sum[i / 2][i % 2], p[i / 2], q[i % 2], sum[i / 2][i % 2]);
    }
    for (int i = 0; i < 4; i++)
        wmma::store_matrix_sync(c + (top + i / 2 * 16) * n + left + i % 2 * 16, sum[i / 2][i % 2],
                                n, wmma::mem_row_major);
}

// c[m, n] = a[m, k] b[n, k]: a warp makes 16 x 32; k in words of a few elements, DEEP words at a time.
#define BY_WORDS(name, Sum, multiply)                                                              \
    extern "C" __global__ void name(const u32 *a, const u32 *b, Sum *c, int n, int words)          \
    {                                                                                              \
        int lane = threadIdx.x % 32, row = lane / 4, word = lane % 4;                              \
        int warp = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, across = n / 32;             \
        int top = warp / across * 16, left = warp % across * 32;                                   \
        Sum sum[4][4] = {};                                                                        \
        const u32 *from_a = a + (top + row) * words + word, *from_b = b + (left + row) * words;    \
        for (int first = 0; first < words; first += 8) {                                           \
            u32 p[4];                                                                              \
            for (int i = 0; i < 4; i++) p[i] = from_a[i % 2 * 8 * words + i / 2 * 4 + first];      \
            for (int j = 0; j < 4; j++) {                                                          \
                const u32 *at = from_b + j * 8 * words + word + first;                             \
                u32 q[2] = {at[0], at[4]};                                                         \
                multiply(sum[j], p, q);                                                            \
            }                                                                                      \
        }                                                                                          \
        for (int j = 0; j < 4; j++)                                                                \
            for (int e = 0; e < 4; e++)                                                            \
                c[(top + row + e / 2 * 8) * n + left + j * 8 + word * 2 + e % 2] = sum[j][e];      \
    }
BY_WORDS(product_of_bytes, int, bytes)
BY_WORDS(common_bits, int, bits)
BY_WORDS(product_of_eighths, float, eighths)

// A 3 x 3 convolution of images[pixels, 16] with 16 filters of bfloats, all of one row: a warp makes
// 16 pixels of it; rows are `width` and a rim.
extern "C" __global__ void convolve_channels(const u32 *image, const u32 *filters, float *out,
                                             int width)
{
    int lane = threadIdx.x % 32, line = lane / 4, word = lane % 4;
    int warp = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    int y = warp / (width / 16), x = warp % (width / 16) * 16, stride = width + 2;
    float sum[2][4] = {};
    for (int tap = 0; tap < 9; tap++) {
        const u32 *pixel = image + ((y + tap / 3) * stride + x + tap % 3 + line) * 8 + word;
        u32 p[4] = {pixel[0], pixel[64], pixel[4], pixel[68]};
        for (int j = 0; j < 2; j++) {
            const u32 *filter = filters + ((tap * 2 + j) * 8 + line) * 8 + word;
            u32 q[2] = {filter[0], filter[4]};
            bfloats(sum[j], p, q);
        }
    }
    for (int j = 0; j < 2; j++)
        for (int e = 0; e < 4; e++)
            out[((y * width) + x + line + e / 2 * 8) * 16 + j * 8 + word * 2 + e % 2] = sum[j][e];
}

// ---- operands in shared memory ----

// c[n, n] = a[n, n] b[n, n], floats cut to tf32: four warps make 32 x 32.
extern "C" __global__ void product_cut(const float *a, const float *b, float *c, int n)
{
    __shared__ __align__(32) float of_a[32][36], of_b[32][36];
    int warp = threadIdx.x / 32, y = warp / 2 * 16, x = warp % 2 * 16;
    int top = blockIdx.y * 32, left = blockIdx.x * 32;
    wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> p;
    wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major> q;
    wmma::fragment<wmma::accumulator, 16, 16, 8, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    for (int first = 0; first < n; first += 32) {
        for (int i = threadIdx.x; i < 1024; i += blockDim.x) {
            of_a[i / 32][i % 32] = wmma::__float_to_tf32(a[(top + i / 32) * n + first + i % 32]);
            of_b[i / 32][i % 32] = wmma::__float_to_tf32(b[(first + i / 32) * n + left + i % 32]);
        }
        __syncthreads();
        for (int step = 0; step < 32; step += 8) {
            wmma::load_matrix_sync(p, &of_a[y][step], 36);
            wmma::load_matrix_sync(q, &of_b[step][x], 36);
            wmma::mma_sync(sum, p, q, sum);
        }
        __syncthreads();
    }
    wmma::store_matrix_sync(c + (top + y) * n + left + x, sum, n, wmma::mem_row_major);
}

// The same of doubles: a warp makes 8 x 32 of a block's 32 x 32.
extern "C" __global__ void product_of_doubles(const double *a, const double *b, double *c, int n)
{
    __shared__ __align__(32) double of_a[32][20], of_b[16][36];
    int y = threadIdx.x / 32 * 8, top = blockIdx.y * 32, left = blockIdx.x * 32;
    wmma::fragment<wmma::matrix_a, 8, 8, 4, double, wmma::row_major> p;
    wmma::fragment<wmma::matrix_b, 8, 8, 4, double, wmma::row_major> q;
    wmma::fragment<wmma::accumulator, 8, 8, 4, double> sum[4];
    for (int j = 0; j < 4; j++) wmma::fill_fragment(sum[j], 0.0);
    for (int first = 0; first < n; first += 16) {
        for (int i = threadIdx.x; i < 512; i += blockDim.x) {
            of_a[i / 16][i % 16] = a[(top + i / 16) * n + first + i % 16];
            of_b[i / 32][i % 32] = b[(first + i / 32) * n + left + i % 32];
        }
        __syncthreads();
        for (int step = 0; step < 16; step += 4) {
            wmma::load_matrix_sync(p, &of_a[y][step], 20);
            for (int j = 0; j < 4; j++) {
                wmma::load_matrix_sync(q, &of_b[step][j * 8], 36);
                wmma::mma_sync(sum[j], p, q, sum[j]);
            }
        }
        __syncthreads();
    }
    for (int j = 0; j < 4; j++)
        wmma::store_matrix_sync(c + (top + y) * n + left + j * 8, sum[j], n, wmma::mem_row_major);
}

// c[n, n] = a[n, n] b[n, n]', halves, 64 x 64 by four warps: tiles 32 deep come by cp.async while the ones
// before are multiplied; lines of 80 bytes, words by plain loads, products 8 deep.
extern "C" __global__ void product_in_turns(const half *a, const half *b, float *c, int n)
{
    __shared__ __align__(16) half tiles[2][2][64][40];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, line = lane / 4, word = lane % 4;
    int y = warp / 2 * 32, x = warp % 2 * 32, top = blockIdx.y * 64, left = blockIdx.x * 64;
    auto fetch = [&](int turn, int first) {
        for (int i = threadIdx.x; i < 256; i += 128) {
            int row = i / 4, chunk = i % 4 * 8;
            const half *from[2] = {a + (top + row) * n, b + (left + row) * n};
            for (int of = 0; of < 2; of++)
                asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(
                                 (u32)__cvta_generic_to_shared(&tiles[turn][of][row][chunk])),
                             "l"(from[of] + first + chunk)
                             : "memory");
        }
        asm volatile("cp.async.commit_group;" ::: "memory");
    };
    float sum[2][4][4] = {};
    fetch(0, 0);
    for (int first = 0; first < n; first += 32) {
        int turn = first / 32 % 2;
        if (first + 32 < n) {
            fetch(1 - turn, first + 32);
            asm volatile("cp.async.wait_group 1;" ::: "memory");
        } else {
            asm volatile("cp.async.wait_group 0;" ::: "memory");
        }
        __syncthreads();
        for (int step = 0; step < 32; step += 8)
            for (int r = 0; r < 2; r++) {
                half(*of_a)[40] = tiles[turn][0] + y + r * 16 + line;
                u32 low = *(u32 *)&of_a[0][step + word * 2],
                    high = *(u32 *)&of_a[8][step + word * 2];
                for (int j = 0; j < 4; j++)
                    narrow(sum[r][j], low, high,
                           *(u32 *)&tiles[turn][1][x + j * 8 + line][step + word * 2]);
            }
        __syncthreads();
    }
    for (int r = 0; r < 2; r++)
        for (int j = 0; j < 4; j++)
            for (int e = 0; e < 4; e++)
                c[(top + y + r * 16 + line + e / 2 * 8) * n + left + x + j * 8 + word * 2 + e % 2] =
                    sum[r][j][e];
}

// Rows of table[., 64] chosen by `chosen`, times w[64, 64], halves: a warp makes 16 rows.
extern "C" __global__ void rows_projected(const int *chosen, const u32 *table, const u32 *w,
                                          float *out)
{
    __shared__ u32 kept[64][36];
    for (int i = threadIdx.x; i < 2048; i += blockDim.x) kept[i / 32][i % 32] = w[i];
    __syncthreads();
    int lane = threadIdx.x % 32, line = lane / 4, word = lane % 4;
    int top = (blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32) * 16;
    const u32 *low = table + chosen[top + line] * 32 + word;
    const u32 *high = table + chosen[top + line + 8] * 32 + word;
    float sum[8][4] = {};
    for (int step = 0; step < 32; step += 8) {
        u32 p[4] = {low[step], high[step], low[step + 4], high[step + 4]};
        for (int j = 0; j < 8; j++) {
            u32 q[2] = {kept[j * 8 + line][step + word], kept[j * 8 + line][step + word + 4]};
            halves(sum[j], p, q);
        }
    }
    for (int j = 0; j < 8; j++)
        for (int e = 0; e < 4; e++)
            out[(top + line + e / 2 * 8) * 64 + j * 8 + word * 2 + e % 2] = sum[j][e];
}

// Attention of 64 queries by four warps, heads of 64: keys[n, 64], values as [64, n]; 64 keys at a time, with
// the greatest so far and the sum of exponentials kept by row.
extern "C" __global__ void attention(const half *queries, const half *keys, const half *values,
                                     float *out, int n)
{
    __shared__ __align__(16) half of_keys[64][72], of_values[64][72];
    int lane = threadIdx.x % 32, line = lane / 4, word = lane % 4;
    int top = blockIdx.x * 64 + threadIdx.x / 32 * 16;
    u32 q[4][4];
    for (int step = 0; step < 4; step++)
        for (int i = 0; i < 4; i++)
            q[step][i] = *(const u32 *)&queries[(top + line + i % 2 * 8) * 64 + step * 16 +
                                                i / 2 * 8 + word * 2];
    float most[2] = {-1e30f, -1e30f}, all[2] = {}, sum[8][4] = {};
    for (int first = 0; first < n; first += 64) {
        __syncthreads();
        for (int i = threadIdx.x; i < 512; i += blockDim.x) {
            int row = i / 8, chunk = i % 8 * 8;
            *(uint4 *)&of_keys[row][chunk] = *(const uint4 *)&keys[(first + row) * 64 + chunk];
            *(uint4 *)&of_values[row][chunk] = *(const uint4 *)&values[row * n + first + chunk];
        }
        __syncthreads();
        float score[8][4] = {}, before[2] = {most[0], most[1]};
        for (int step = 0; step < 4; step++)
            for (int j = 0; j < 8; j++) {
                const u32 *at = (const u32 *)&of_keys[j * 8 + line][step * 16 + word * 2];
                u32 k[2] = {at[0], at[4]};
                halves(score[j], q[step], k);
            }
        for (int j = 0; j < 8; j++)
            for (int e = 0; e < 4; e++) most[e / 2] = fmaxf(most[e / 2], score[j][e]);
        for (int r = 0; r < 2; r++) {
            for (int far = 1; far < 4; far *= 2)
                most[r] = fmaxf(most[r], __shfl_xor_sync(~0u, most[r], far));
            all[r] *= __expf(before[r] - most[r]);
        }
        for (int j = 0; j < 8; j++)
            for (int e = 0; e < 4; e++) {
                sum[j][e] *= __expf(before[e / 2] - most[e / 2]);
                score[j][e] = __expf(score[j][e] - most[e / 2]);
                all[e / 2] += score[j][e];
            }
        for (int step = 0; step < 4; step++) {
            float (*s)[4] = score + step * 2;
            u32 p[4] = {packed(s[0][0], s[0][1]), packed(s[0][2], s[0][3]),
                        packed(s[1][0], s[1][1]), packed(s[1][2], s[1][3])};
            for (int j = 0; j < 8; j++) {
                const u32 *at = (const u32 *)&of_values[j * 8 + line][step * 16 + word * 2];
                u32 v[2] = {at[0], at[4]};
                halves(sum[j], p, v);
            }
        }
    }
    for (int r = 0; r < 2; r++)
        for (int far = 1; far < 4; far *= 2) all[r] += __shfl_xor_sync(~0u, all[r], far);
    for (int j = 0; j < 8; j++)
        for (int e = 0; e < 4; e++)
            out[(top + line + e / 2 * 8) * 64 + j * 8 + word * 2 + e % 2] = sum[j][e] / all[e / 2];
}
