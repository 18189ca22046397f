// Kernels as people write them, one for each way of touching memory that the counts should know.
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
KERNEL copy_strided(const float *x, float *y, int n, int stride)
{
    for (int i = ME; i < n; i += gridDim.x * blockDim.x) y[i] = x[i * stride % n];
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
KERNEL transpose_swizzled(const double *x, double *y, int n)
{
    __shared__ double tile[32 * 32];
    int c = threadIdx.x, r = threadIdx.y;
    for (int k = 0; k < 32; k += 8) tile[(r + k) * 32 + (c ^ (r + k))] = x[(r + k) * 32 + c];
    __syncthreads();
    for (int k = 0; k < 32; k += 8) y[(r + k) * 32 + c] = tile[c * 32 + (c ^ (r + k))];
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
KERNEL half_adds(const half2 *x, half2 *out, int n)
{
    int i = ME;
    if (i < n) atomicAdd(&out[i % 32], x[i]);
}
KERNEL single_half_adds(const half *x, half *out)
{ atomicAdd(&out[threadIdx.x * 2], x[threadIdx.x]); }
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
KERNEL uneven_loops(const int *length, const float *x, float *y, int n)
{
    int i = ME;
    if (i >= n) return;
    float sum = 0;
    for (int k = 0; k < length[i]; ++k) sum += x[k * n + i];
    y[i] = sum;
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
