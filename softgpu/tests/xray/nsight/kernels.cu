// Kernels as people write them, one for each way of touching memory that the counts should know.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#define KERNEL extern "C" __global__ void
#define ME (blockIdx.x * blockDim.x + threadIdx.x)

KERNEL copy_float(const float *x, float *y, int n)
{
    int i = ME;
    if (i < n) y[i] = x[i];
}
KERNEL copy_shifted(const float *x, float *y, int n)
{
    int i = ME;
    if (i + 1 < n) y[i] = x[i + 1];
}
KERNEL copy_bytes(const char *x, char *y, int n)
{
    int i = ME;
    if (i < n) y[i] = x[i];
}
KERNEL copy_half(const half *x, half *y, int n)
{
    int i = ME;
    if (i < n) y[i] = __hmul(x[i], __float2half(2));
}
KERNEL copy_double(const double *x, double *y, int n)
{
    int i = ME;
    if (i < n) y[i] = -x[i];
}
KERNEL copy_float4(const float4 *x, float4 *y, int n)
{
    int i = ME;
    if (i < n) y[i] = x[i];
}
KERNEL copy_strided(const float *x, float *y, int n, int stride)
{
    for (int i = ME; i < n; i += gridDim.x * blockDim.x) y[i] = x[i * stride % n];
}
struct Point {
    float x, y, z;
};
KERNEL structs_of_12(const Point *p, float *length, int n)
{
    int i = ME;
    if (i < n) length[i] = p[i].x * p[i].x + p[i].y * p[i].y + p[i].z * p[i].z;
}
struct __align__(16) Wide {
    float a, b, c, d, e, f;
};
KERNEL structs_of_32(const Wide *p, float *sum, int n)
{
    int i = ME;
    if (i < n) {
        Wide w = p[i];
        sum[i] = w.a + w.b + w.c + w.d + w.e + w.f;
    }
}
KERNEL arrays_of_fields(const float *x, const float *y, const float *z, float *length, int n)
{
    int i = ME;
    if (i < n) length[i] = x[i] * x[i] + y[i] * y[i] + z[i] * z[i];
}
KERNEL gather(const float *x, const int *where, float *y, int n)
{
    int i = ME;
    if (i < n) y[i] = x[where[i]];
}
KERNEL scatter(const float *x, const int *where, float *y, int n)
{
    int i = ME;
    if (i < n) y[where[i]] = x[i];
}
KERNEL same_for_all(const float *x, float *y, int n)
{
    int i = ME;
    if (i < n) y[i] = x[blockIdx.x] + x[0];
}
KERNEL stencil(const float *x, float *y, int n)
{
    int i = ME;
    if (i > 0 && i + 1 < n) y[i] = x[i - 1] + x[i] + x[i + 1];
}
KERNEL transpose_plain(const float *x, float *y, int rows, int columns)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
    if (r < rows && c < columns) y[c * rows + r] = x[r * columns + c];
}
template <int PAD>
__device__ void transpose_tile(const float *x, float *y, int rows, int columns)
{
    __shared__ float tile[32][32 + PAD];
    int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        if (r + k < rows && c < columns)
            tile[threadIdx.y + k][threadIdx.x] = x[(r + k) * columns + c];
    __syncthreads();
    c = blockIdx.y * 32 + threadIdx.x, r = blockIdx.x * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        if (r + k < columns && c < rows) y[(r + k) * rows + c] = tile[threadIdx.x][threadIdx.y + k];
}
KERNEL transpose_conflicts(const float *x, float *y, int rows, int columns)
{ transpose_tile<0>(x, y, rows, columns); }
KERNEL transpose_padded(const float *x, float *y, int rows, int columns)
{ transpose_tile<1>(x, y, rows, columns); }
KERNEL transpose_swizzled(const double *x, double *y, int n)
{
    __shared__ double tile[32 * 32];
    int c = threadIdx.x, r = threadIdx.y;
    for (int k = 0; k < 32; k += 8) tile[(r + k) * 32 + (c ^ (r + k))] = x[(r + k) * 32 + c];
    __syncthreads();
    for (int k = 0; k < 32; k += 8) y[(r + k) * 32 + c] = tile[c * 32 + (c ^ (r + k))];
}
KERNEL matmul_tiles(const float *a, const float *b, float *c, int n)
{
    __shared__ float left[16][16], right[16][16];
    int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < n; k += 16) {
        left[threadIdx.y][threadIdx.x] = a[row * n + k + threadIdx.x];
        right[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + column];
        __syncthreads();
        for (int j = 0; j < 16; ++j) sum += left[threadIdx.y][j] * right[j][threadIdx.x];
        __syncthreads();
    }
    c[row * n + column] = sum;
}
KERNEL matmul_float4(const float4 *a, const float4 *b, float4 *c)
{
    __shared__ float4 left[32][8], right[32][8];
    int t = threadIdx.x;
    left[t / 8][t % 8] = a[t];
    right[t / 8][t % 8] = b[t];
    __syncthreads();
    float4 sum = {0, 0, 0, 0};
    for (int k = 0; k < 32; ++k) {
        float x = ((float *)left[t / 8])[k];
        float4 y = right[k][t % 8];
        sum.x += x * y.x, sum.y += x * y.y, sum.z += x * y.z, sum.w += x * y.w;
    }
    c[t] = sum;
}
KERNEL tree_doubles(const double *x, double *out)
{
    __shared__ double s[256];
    int t = threadIdx.x;
    s[t] = x[ME];
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (t < half) s[t] += s[t + half];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = s[0];
}
KERNEL tree_neighbours(const int *x, int *out)
{
    __shared__ int s[256];
    int t = threadIdx.x;
    s[t] = x[ME];
    __syncthreads();
    for (int step = 1; step < 256; step *= 2) {
        if (t % (2 * step) == 0) s[t] += s[t + step];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = s[0];
}
KERNEL prefix_sums(const int *x, int *y, int n)
{
    __shared__ int s[2][128];
    int t = threadIdx.x, i = ME, now = 0;
    s[0][t] = i < n ? x[i] : 0;
    __syncthreads();
    for (int step = 1; step < 128; step *= 2, now ^= 1) {
        s[now ^ 1][t] = s[now][t] + (t >= step ? s[now][t - step] : 0);
        __syncthreads();
    }
    if (i < n) y[i] = s[now][t];
}
KERNEL bitonic_sort(int *x)
{
    __shared__ int s[512];
    int t = threadIdx.x;
    s[t] = x[t], s[t + 256] = x[t + 256];
    for (int size = 2; size <= 512; size *= 2)
        for (int step = size / 2; step > 0; step /= 2) {
            __syncthreads();
            int i = 2 * t - (t & (step - 1)), j = i + step;
            int a = s[i], b = s[j];
            bool swap = (a > b) == ((i & size) == 0);
            s[i] = swap ? b : a, s[j] = swap ? a : b;
        }
    __syncthreads();
    x[t] = s[t], x[t + 256] = s[t + 256];
}
KERNEL bytes_in_shared(const unsigned char *x, unsigned char *y)
{
    __shared__ unsigned char s[1024];
    for (int i = threadIdx.x; i < 1024; i += blockDim.x) s[i] = x[i];
    __syncthreads();
    for (int i = threadIdx.x; i < 1024; i += blockDim.x) y[i] = s[i * 37 % 1024];
}
KERNEL halves_in_shared(const half *x, half *y)
{
    __shared__ half s[64][66];
    for (int i = threadIdx.x; i < 4096; i += blockDim.x) s[i / 64][i % 64] = x[i];
    __syncthreads();
    for (int i = threadIdx.x; i < 4096; i += blockDim.x) y[i] = s[i % 64][i / 64];
}
KERNEL complex_in_shared(const float2 *x, float2 *y)
{
    __shared__ float2 s[256];
    int t = threadIdx.x, reversed = __brev(t) >> 24;
    s[reversed] = x[t];
    __syncthreads();
    for (int half = 1; half < 256; half *= 2) {
        float2 mine = s[t], other = s[t ^ half];
        __syncthreads();
        s[t] = {mine.x + other.x, mine.y - other.y};
        __syncthreads();
    }
    y[t] = s[t];
}
KERNEL rows_of_float4(const float *x, float *y)
{
    __shared__ float s[32][36];
    int t = threadIdx.x;
    for (int k = 0; k < 32; ++k) s[k][t] = x[k * 32 + t];
    __syncthreads();
    float4 sum = {0, 0, 0, 0};
    for (int k = 0; k < 32; k += 4) {
        float4 v = *(float4 *)&s[t][k];
        sum.x += v.x, sum.y += v.y, sum.z += v.z, sum.w += v.w;
    }
    y[t] = sum.x + sum.y + sum.z + sum.w;
}
KERNEL histogram_shared(const unsigned char *x, unsigned *counts, int n)
{
    __shared__ unsigned s[256];
    s[threadIdx.x] = 0;
    __syncthreads();
    for (int i = ME; i < n; i += gridDim.x * blockDim.x) atomicAdd(&s[x[i]], 1);
    __syncthreads();
    if (s[threadIdx.x]) atomicAdd(&counts[threadIdx.x], s[threadIdx.x]);
}
KERNEL histogram_global(const unsigned char *x, unsigned *counts, int n)
{
    int i = ME;
    if (i < n) atomicAdd(&counts[x[i]], 1);
}
KERNEL sum_one_address(const int *x, int *out, int n)
{
    int i = ME;
    if (i < n) atomicAdd(out, x[i]);
}
KERNEL sum_floats_one_address(const float *x, float *out, int n)
{
    int i = ME;
    if (i < n) atomicAdd(out, x[i]);
}
KERNEL sum_doubles_by_block(const double *x, double *out, int n)
{
    int i = ME;
    if (i < n) atomicAdd(&out[blockIdx.x], x[i]);
}
KERNEL count_positive(const float *x, unsigned *count, int n)
{
    int i = ME;
    if (i < n && x[i] > 0) atomicAdd(count, 1);
}
KERNEL greatest(const int *x, int *out, int n)
{
    int i = ME;
    if (i < n) atomicMax(out, x[i]);
}
KERNEL greatest_of_rows(const int *x, int *out, int columns)
{
    int i = ME;
    atomicMax(&out[i / columns], x[i]);
}
KERNEL tickets(int *next, int *mine, int n)
{
    int i = ME;
    if (i < n) mine[i] = atomicAdd(next, 1);
}
KERNEL tickets_of_length(const int *length, int *next, int *mine, int n)
{
    int i = ME;
    if (i < n) mine[i] = atomicAdd(next, length[i]);
}
KERNEL compact(const float *x, float *y, int *used, int n)
{
    int i = ME;
    if (i < n && x[i] > 0) y[atomicAdd(used, 1)] = x[i];
}
KERNEL sum_longs(const unsigned long long *x, unsigned long long *out, int n)
{
    int i = ME;
    if (i < n) {
        atomicAdd(out, x[i]);
        atomicMin(out + 1, x[i]);
        atomicAdd(out + 2, 7ULL);
    }
}
KERNEL lock_free_lists(int *head, int *next, int buckets, int n)
{
    int i = ME;
    if (i < n) next[i] = atomicExch(&head[i % buckets], i);
}
KERNEL claims(int *owner, int n, int slots)
{
    int i = ME;
    if (i < n) atomicCAS(&owner[i % slots], -1, i);
}
KERNEL half_adds(const half2 *x, half2 *out, int n)
{
    int i = ME;
    if (i < n) atomicAdd(&out[i % 32], x[i]);
}
KERNEL single_half_adds(const half *x, half *out)
{ atomicAdd(&out[threadIdx.x * 2], x[threadIdx.x]); }
KERNEL shared_float_adds(const float *x, float *out)
{
    __shared__ float s[8];
    if (threadIdx.x < 8) s[threadIdx.x] = 0;
    __syncwarp();
    atomicAdd(&s[threadIdx.x % 8], x[threadIdx.x]);
    __syncwarp();
    if (threadIdx.x < 8) out[threadIdx.x] = s[threadIdx.x];
}
KERNEL shared_counter(const int *x, int *out, int n)
{
    __shared__ int count, sum, best;
    if (threadIdx.x == 0) count = sum = best = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        if (x[i] > 0) {
            atomicAdd(&count, 1);
            atomicAdd(&sum, x[i]);
            atomicMax(&best, x[i]);
        }
    __syncthreads();
    if (threadIdx.x == 0) out[0] = count, out[1] = sum, out[2] = best;
}
KERNEL shared_slots(int *out, int n)
{
    __shared__ int next;
    if (threadIdx.x == 0) next = 0;
    __syncthreads();
    if (threadIdx.x % 3 == 0) out[atomicAdd(&next, 1)] = threadIdx.x;
}
KERNEL early_exit(const float *x, float *y, int n)
{
    int i = ME;
    if (i >= n || x[i] < 0) return;
    y[i] = sqrtf(x[i]);
}
KERNEL uneven_loops(const int *length, const float *x, float *y, int n)
{
    int i = ME;
    if (i >= n) return;
    float sum = 0;
    for (int k = 0; k < length[i]; ++k) sum += x[k * n + i];
    y[i] = sum;
}
KERNEL two_ways(const float *x, float *y, int n)
{
    int i = ME;
    if (i >= n) return;
    if (i % 2) {
        float v = x[i];
        for (int k = 0; k < 4; ++k) v = v * v + x[(i + k) % n];
        y[i] = v;
    } else {
        y[i] = x[n - 1 - i] * 2;
    }
}
KERNEL four_cases(const int *kind, const float *x, float *y, int n)
{
    int i = ME;
    if (i >= n) return;
    switch (kind[i]) {
    case 0: y[i] = x[i]; break;
    case 1: y[i] = x[i ^ 1] + 1; break;
    case 2: y[n - 1 - i] = x[i]; break;
    default: y[i] = __fdividef(x[i], x[0]);
    }
}
KERNEL search(const int *sorted, const int *wanted, int *found, int n, int m)
{
    int i = ME;
    if (i >= m) return;
    int low = 0, high = n;
    while (low < high) {
        int middle = (low + high) / 2;
        if (sorted[middle] < wanted[i]) low = middle + 1;
        else high = middle;
    }
    found[i] = low;
}
KERNEL block_2d(const float *x, float *y, int columns, int rows)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
    if (c < columns && r < rows) y[r * columns + c] = x[r * columns + c] + 1;
}
KERNEL block_3d(const short *x, short *y, int a, int b, int c)
{
    int i = threadIdx.x, j = threadIdx.y, k = threadIdx.z + blockIdx.x * blockDim.z;
    if (i < a && j < b && k < c) y[(k * b + j) * a + i] = x[(i * b + j) * c + k];
}
__constant__ float weights[64] = {1, 2, 3};
KERNEL constant_weights(const float *x, float *y, int n)
{
    int i = ME;
    if (i < n) y[i] = x[i] * weights[i % 3] + weights[5];
}
__device__ float table[256];
KERNEL module_table(const int *where, float *y, int n)
{
    int i = ME;
    if (i < n) y[i] = table[where[i] & 255];
}
KERNEL read_only(const float *__restrict__ x, const int *__restrict__ where, float *y, int n)
{
    int i = ME;
    if (i < n) y[i] = __ldg(&x[where[i]]) + __ldcs(&x[i]) + __ldcg(&x[n - 1 - i]);
}
KERNEL through_volatile(volatile int *x, volatile int *y, int n)
{
    int i = ME;
    if (i < n) y[i] = x[i] + x[i];
}
KERNEL local_array(const float *x, const int *where, float *y, int n)
{
    float own[16];
    int i = ME;
    if (i >= n) return;
    for (int k = 0; k < 16; ++k) own[k] = x[k * n + i];
    for (int k = 0; k < 8; ++k) own[where[i] & 15] += own[(where[i] >> 4) & 15] * 2;
    y[i] = own[where[i] & 7];
}
__device__ __noinline__ float far_away(const float *x, int i) { return x[i] * 2; }
KERNEL calls(const float *x, float *y, int n)
{
    int i = ME;
    if (i < n) y[i] = far_away(x, i) + far_away(x, n - 1 - i);
}
KERNEL either_memory(const float *x, float *y, int shared_first)
{
    __shared__ float s[256];
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    const float *from = blockIdx.x < shared_first ? s : x + blockIdx.x * 256;
    y[ME] = from[255 - threadIdx.x] + from[threadIdx.x / 2];
}
KERNEL mixed_memory(const float *x, float *y)
{
    __shared__ float s[256];
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    const float *from = threadIdx.x % 2 ? s : x;
    y[ME] = from[threadIdx.x];
}
KERNEL shuffled(const float *x, float *y)
{
    float v = x[ME];
    for (int k = 16; k > 0; k /= 2) v += __shfl_down_sync(~0u, v, k);
    if (threadIdx.x % 32 == 0) y[ME / 32] = v;
}
KERNEL voted(const float *x, unsigned *y, int n)
{
    int i = ME;
    unsigned ballot = __ballot_sync(~0u, i < n && x[i] > 0);
    if (threadIdx.x % 32 == 0) y[i / 32] = ballot;
}
KERNEL packed_bytes(const uchar4 *x, uchar4 *y, int n)
{
    int i = ME;
    if (i < n) {
        uchar4 v = x[i];
        y[i] = make_uchar4(v.w, v.z, v.y, v.x);
    }
}
KERNEL bf16_rows(const __nv_bfloat162 *x, __nv_bfloat162 *y, int columns)
{
    for (int c = threadIdx.x; c < columns; c += blockDim.x)
        y[blockIdx.x * columns + c] = __hadd2(x[blockIdx.x * columns + c], x[c]);
}
KERNEL row_sums_by_thread(const float *x, float *y, int rows, int columns)
{
    int r = ME;
    if (r >= rows) return;
    float sum = 0;
    for (int c = 0; c < columns; ++c) sum += x[r * columns + c];
    y[r] = sum;
}
KERNEL unrolled_rows(const float4 *x, float *y, int n)
{
    float sum = 0;
#pragma unroll 4
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        float4 v = x[blockIdx.x * n + i];
        sum += v.x + v.y + v.z + v.w;
    }
    y[ME] = sum;
}
KERNEL shared_rows(const float *x, float *y, int columns)
{
    extern __shared__ float s[];
    for (int c = threadIdx.x; c < columns; c += blockDim.x) s[c] = x[blockIdx.x * columns + c];
    __syncthreads();
    for (int c = threadIdx.x; c < columns; c += blockDim.x)
        y[blockIdx.x * columns + c] = s[columns - 1 - c] + s[c * 3 % columns];
}
KERNEL structs_in_shared(const float *x, float *y)
{
    __shared__ Point s[128];
    int t = threadIdx.x;
    s[t] = {x[t], x[t + 128], x[t + 256]};
    __syncthreads();
    Point p = s[127 - t];
    y[t] = p.x + p.y * p.z;
}
KERNEL wide_in_shared(const float4 *x, float4 *y)
{
    __shared__ float4 s[16][8];
    int t = threadIdx.x;
    s[t / 8][t % 8] = x[t];
    __syncthreads();
    y[t] = s[t % 16][t / 16];
}
KERNEL convolve_rows(const float *x, float *y, int columns)
{
    __shared__ float s[128 + 8];
    int t = threadIdx.x, c = blockIdx.x * 128 + t;
    const float *row = x + blockIdx.y * columns;
    s[t + 4] = c < columns ? row[c] : 0;
    if (t < 4) s[t] = c >= 4 ? row[c - 4] : 0;
    if (t >= 124) s[t + 8] = c + 4 < columns ? row[c + 4] : 0;
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < 9; ++k) sum += s[t + k] * (k + 1);
    if (c < columns) y[blockIdx.y * columns + c] = sum;
}
KERNEL jacobi(const float *x, float *y, int columns, int rows)
{
    __shared__ float s[10][34];
    int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 8 + threadIdx.y;
    int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    auto at = [&](int i, int j) {
        return i >= 0 && i < rows && j >= 0 && j < columns ? x[i * columns + j] : 0.0f;
    };
    s[ty][tx] = at(r, c);
    if (threadIdx.x == 0) s[ty][0] = at(r, c - 1);
    if (threadIdx.x == 31) s[ty][33] = at(r, c + 1);
    if (threadIdx.y == 0) s[0][tx] = at(r - 1, c);
    if (threadIdx.y == 7) s[9][tx] = at(r + 1, c);
    __syncthreads();
    if (r < rows && c < columns)
        y[r * columns + c] = (s[ty - 1][tx] + s[ty + 1][tx] + s[ty][tx - 1] + s[ty][tx + 1]) / 4;
}
KERNEL matmul_registers(const float *a, const float *b, float *c, int n)
{
    __shared__ float left[8][64], right[8][64];
    int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    float sum[4][4] = {};
    for (int k = 0; k < n; k += 8) {
        for (int i = threadIdx.x; i < 512; i += 256) {
            left[i % 8][i / 8] = a[(blockIdx.y * 64 + i / 8) * n + k + i % 8];
            right[i / 64][i % 64] = b[(k + i / 64) * n + blockIdx.x * 64 + i % 64];
        }
        __syncthreads();
        for (int j = 0; j < 8; ++j) {
            float l[4], r[4];
            for (int u = 0; u < 4; ++u) l[u] = left[j][ty * 4 + u], r[u] = right[j][tx * 4 + u];
            for (int u = 0; u < 4; ++u)
                for (int v = 0; v < 4; ++v) sum[u][v] += l[u] * r[v];
        }
        __syncthreads();
    }
    for (int u = 0; u < 4; ++u)
        for (int v = 0; v < 4; ++v)
            c[(blockIdx.y * 64 + ty * 4 + u) * n + blockIdx.x * 64 + tx * 4 + v] = sum[u][v];
}
KERNEL matmul_interleaved(const float *a, const float *b, float *c, int n)
{
    __shared__ float left[32][33], right[32][33];
    int tx = threadIdx.x, ty = threadIdx.y;
    float sum[2] = {};
    for (int k = 0; k < n; k += 32) {
        for (int u = 0; u < 2; ++u) {
            left[ty + 16 * u][tx] = a[(blockIdx.y * 32 + ty + 16 * u) * n + k + tx];
            right[ty + 16 * u][tx] = b[(k + ty + 16 * u) * n + blockIdx.x * 32 + tx];
        }
        __syncthreads();
        for (int j = 0; j < 32; ++j)
            for (int u = 0; u < 2; ++u) sum[u] += left[ty + 16 * u][j] * right[j][tx];
        __syncthreads();
    }
    for (int u = 0; u < 2; ++u)
        c[(blockIdx.y * 32 + ty + 16 * u) * n + blockIdx.x * 32 + tx] = sum[u];
}
KERNEL prefix_tree(const float *x, float *y)
{
    __shared__ float s[256];
    int t = threadIdx.x, offset = 1;
    s[2 * t] = x[2 * t], s[2 * t + 1] = x[2 * t + 1];
    for (int d = 128; d > 0; d /= 2, offset *= 2) {
        __syncthreads();
        if (t < d) s[offset * (2 * t + 2) - 1] += s[offset * (2 * t + 1) - 1];
    }
    if (t == 0) s[255] = 0;
    for (int d = 1; d < 256; d *= 2) {
        offset /= 2;
        __syncthreads();
        if (t < d) {
            int i = offset * (2 * t + 1) - 1, j = offset * (2 * t + 2) - 1;
            float kept = s[i];
            s[i] = s[j], s[j] += kept;
        }
    }
    __syncthreads();
    y[2 * t] = s[2 * t], y[2 * t + 1] = s[2 * t + 1];
}
KERNEL bodies(const float4 *p, float4 *force, int n)
{
    __shared__ float4 tile[64];
    int i = ME;
    float4 me = p[i];
    float3 sum = {0, 0, 0};
    for (int k = 0; k < n; k += 64) {
        tile[threadIdx.x] = p[k + threadIdx.x];
        __syncthreads();
        for (int j = 0; j < 64; ++j) {
            float4 other = tile[j];
            float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
            float f = other.w * rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
            sum.x += f * dx, sum.y += f * dy, sum.z += f * dz;
        }
        __syncthreads();
    }
    force[i] = {sum.x, sum.y, sum.z, 0};
}
KERNEL particles_in_shared(const float4 *x, float *y)
{
    __shared__ float4 s[128];
    int t = threadIdx.x;
    s[t] = x[t];
    __syncthreads();
    float v = 0;
    for (int k = 1; k < 4; ++k) v += s[(t + k) % 128].x + s[(t * k) % 128].w;
    y[t] = v;
}
KERNEL doubles_strided(const double *x, double *y)
{
    __shared__ double s[512];
    int t = threadIdx.x;
    for (int i = t; i < 512; i += 128) s[i] = x[i];
    __syncthreads();
    y[t] = s[2 * t] + s[(4 * t) % 512] + s[(5 * t) % 512] + s[t / 2];
}
KERNEL private_histograms(const unsigned char *x, unsigned *counts, int n)
{
    __shared__ unsigned s[4][64];
    for (int i = threadIdx.x; i < 256; i += 128) s[i / 64][i % 64] = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += 128) atomicAdd(&s[threadIdx.x / 32][x[i] % 64], 1u);
    __syncthreads();
    if (threadIdx.x < 64) {
        unsigned sum = 0;
        for (int w = 0; w < 4; ++w) sum += s[w][threadIdx.x];
        atomicAdd(&counts[threadIdx.x], sum);
    }
}
KERNEL weighted_histogram(const int *bin, const float *weight, float *sums, int n)
{
    for (int i = ME; i < n; i += gridDim.x * blockDim.x) atomicAdd(&sums[bin[i]], weight[i]);
}
KERNEL scatter_doubles(const int *where, const double *x, double *y, int n)
{
    int i = ME;
    if (i < n) atomicAdd(&y[where[i]], x[i]);
}
KERNEL least_and_greatest(const int *bin, const int *x, int *least, unsigned long long *greatest,
                          int n)
{
    int i = ME;
    if (i < n) {
        atomicMin(&least[bin[i]], x[i]);
        atomicMax(&greatest[bin[i]], (unsigned long long)x[i]);
    }
}
KERNEL union_find(const int *edge, int *parent, int n)
{
    int i = ME;
    if (i < n) atomicCAS(&parent[edge[i]], edge[i], edge[n - 1 - i]);
}
KERNEL warp_synchronous(const float *x, float *y)
{
    __shared__ volatile float s[64];
    int t = threadIdx.x;
    s[t] = x[ME];
    __syncthreads();
    if (t < 32) {
        s[t] += s[t + 32];
        s[t] += s[t + 16];
        s[t] += s[t + 8];
        s[t] += s[t + 4];
        s[t] += s[t + 2];
        s[t] += s[t + 1];
    }
    if (t == 0) y[blockIdx.x] = s[0];
}
KERNEL lookup(const unsigned char *x, const float *table, float *y, int n)
{
    __shared__ float s[256];
    s[threadIdx.x] = table[threadIdx.x];
    __syncthreads();
    for (int i = ME; i < n; i += gridDim.x * blockDim.x) y[i] = s[x[i]];
}
KERNEL softmax_rows(const float *x, float *y, int columns)
{
    __shared__ float s[8];
    int t = threadIdx.x, lane = t % 32, warp = t / 32;
    const float *row = x + blockIdx.x * columns;
    float most = -INFINITY, sum = 0;
    for (int c = t; c < columns; c += 256) most = fmaxf(most, row[c]);
    for (int k = 16; k > 0; k /= 2) most = fmaxf(most, __shfl_xor_sync(~0u, most, k));
    if (lane == 0) s[warp] = most;
    __syncthreads();
    for (int w = 0; w < 8; ++w) most = fmaxf(most, s[w]);
    __syncthreads();
    for (int c = t; c < columns; c += 256) sum += expf(row[c] - most);
    for (int k = 16; k > 0; k /= 2) sum += __shfl_xor_sync(~0u, sum, k);
    if (lane == 0) s[warp] = sum;
    __syncthreads();
    sum = 0;
    for (int w = 0; w < 8; ++w) sum += s[w];
    for (int c = t; c < columns; c += 256) y[blockIdx.x * columns + c] = expf(row[c] - most) / sum;
}
KERNEL half_tiles(const half2 *x, half2 *y)
{
    __shared__ half2 s[32][17];
    int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    for (int r = ty; r < 32; r += 8) s[r][tx] = x[r * 16 + tx];
    __syncthreads();
    for (int r = ty; r < 32; r += 8) {
        half2 a = s[tx * 2][r / 2], b = s[tx * 2 + 1][r / 2];
        y[r * 16 + tx] = r % 2 ? __highs2half2(a, b) : __lows2half2(a, b);
    }
}
KERNEL image_to_planes(const uchar3 *x, unsigned char *y, int n)
{
    int i = ME;
    if (i < n) {
        uchar3 p = x[i];
        y[i] = p.x, y[n + i] = p.y, y[2 * n + i] = p.z;
    }
}
KERNEL interleave(const float *a, const float *b, float2 *y, int n)
{
    int i = ME;
    if (i < n) y[i] = {a[i], b[n - 1 - i]};
}
KERNEL list_ranks(const int *next, int *rank, int n)
{
    int i = ME;
    if (i >= n) return;
    int steps = 0;
    for (int at = i; next[at] != at; at = next[at]) ++steps;
    rank[i] = steps;
}
KERNEL first_negative(const float *x, int *where, int columns)
{
    int r = ME, c = 0;
    while (c < columns && x[r * columns + c] >= 0) ++c;
    where[r] = c;
}
KERNEL staged_copy(const float4 *x, float4 *y)
{
    __shared__ float4 s[256];
    int t = threadIdx.x;
    unsigned to = (unsigned)__cvta_generic_to_shared(&s[t]);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(x + ME) : "memory");
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads();
    y[ME] = s[255 - t];
}
KERNEL outer_products(const float *a, const float *b, float *c, int n)
{
    __shared__ float rows[16], columns[16];
    if (threadIdx.y == 0) rows[threadIdx.x] = a[blockIdx.y * 16 + threadIdx.x];
    if (threadIdx.y == 1) columns[threadIdx.x] = b[blockIdx.x * 16 + threadIdx.x];
    __syncthreads();
    c[(blockIdx.y * 16 + threadIdx.y) * n + blockIdx.x * 16 + threadIdx.x] =
        rows[threadIdx.y] * columns[threadIdx.x];
}
KERNEL queue(const int *x, int *out, int *used, int n)
{
    __shared__ int local[256], count, start;
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    int i = ME;
    if (i < n && x[i] % 3 == 0) local[atomicAdd(&count, 1)] = x[i];
    __syncthreads();
    if (threadIdx.x == 0) start = atomicAdd(used, count);
    __syncthreads();
    for (int k = threadIdx.x; k < count; k += blockDim.x) out[start + k] = local[k];
}
KERNEL sparse_rows(const int *row, const int *column, const float *value, const float *x, float *y,
                   int n)
{
    int i = ME;
    if (i >= n) return;
    float sum = 0;
    for (int j = row[i]; j < row[i + 1]; ++j) sum += value[j] * x[column[j]];
    y[i] = sum;
}
KERNEL sparse_rows_by_warps(const int *__restrict__ row, const int *__restrict__ column,
                            const float *__restrict__ value, const float *__restrict__ x,
                            float *__restrict__ y, int n)
{
    int r = ME / 32, lane = threadIdx.x % 32;
    if (r >= n) return;
    float sum = 0;
    for (int j = row[r] + lane; j < row[r + 1]; j += 32) sum += value[j] * x[column[j]];
    for (int k = 16; k > 0; k /= 2) sum += __shfl_xor_sync(~0u, sum, k);
    if (lane == 0) y[r] = sum;
}
KERNEL triangle(const float *x, float *y)
{
    float sum = 0;
    for (int k = 0; k <= ME; ++k) sum += x[k];
    y[ME] = sum;
}
KERNEL uneven_stores(const int *length, float *y, int n)
{
    int i = ME, end = length[i];
    for (int k = 0; k < end; ++k) y[k * n + i] = k;
}
KERNEL every_32nd(const float *x, float *y, int n)
{
    float sum = 0;
    for (int k = ME; k < n; k += 32) sum += x[k];
    y[ME] = sum;
}
KERNEL fence_of_system(int *x)
{
    x[ME] = 1;
    __threadfence_system();
    x[ME] = 2;
}
KERNEL fence_by_two(int *x)
{
    if (threadIdx.x < 2) {
        x[ME] = 1;
        __threadfence_system();
    }
}
KERNEL two_lines_volatile(volatile int *x)
{
    if (threadIdx.x % 32 < 2) x[ME * 64] = 1;
}
