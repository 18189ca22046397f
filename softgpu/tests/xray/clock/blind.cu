// Kernels whose times were predicted before an H200 ran them: blind.py launches them.
#include <cuda_fp16.h>

#define KERNEL extern "C" __global__ void
#define THREAD (blockIdx.x * blockDim.x + threadIdx.x)

// ---- one element at a time ----
KERNEL weighted(const double *x, const double *y, double *z, double a, double b, long long n)
{
    for (long long i = THREAD; i < n; i += (long long)gridDim.x * blockDim.x)
        z[i] = a * x[i] + b * y[i];
}
KERNEL clamp_halves(const __half *x, __half *y, int n)
{
    int i = THREAD;
    if (i < n) y[i] = __hmin(__hmax(x[i], __float2half(-0.25f)), __float2half(0.25f));
}
KERNEL gelu(const float4 *x, float4 *y, int n)
{
    int i = THREAD;
    if (i >= n) return;
    float4 v = x[i];
    float *w = &v.x;
    for (int k = 0; k < 4; k++) w[k] = 0.5f * w[k] * (1 + erff(w[k] * 0.70710678f));
    y[i] = v;
}
KERNEL options(const float *price, const float *strike, const float *years, float *call, float *put,
               float rate, float sigma, int n)
{
    int i = THREAD;
    if (i >= n) return;
    float s = price[i] + 30, k = strike[i] + 30, t = years[i] + 1, root = sigma * sqrtf(t);
    float d1 = (logf(s / k) + (rate + 0.5f * sigma * sigma) * t) / root, d2 = d1 - root;
    float n1 = normcdff(d1), n2 = normcdff(d2), left = k * expf(-rate * t);
    call[i] = s * n1 - left * n2;
    put[i] = left * (1 - n2) - s * (1 - n1);
}
KERNEL multiply_complex(const double2 *a, const double2 *b, double2 *c, int n)
{
    int i = THREAD;
    if (i >= n) return;
    double2 x = a[i], y = b[i];
    c[i] = make_double2(x.x * y.x - x.y * y.y, x.x * y.y + x.y * y.x);
}
KERNEL unpack_bits(const unsigned *words, float *out, int n)
{
    int i = THREAD;
    if (i < n) out[i] = words[i / 32] >> i % 32 & 1;
}
KERNEL steps_to_one(const int *x, int *steps, int n)
{
    int i = THREAD;
    if (i >= n) return;
    unsigned v = (x[i] & 0xffff) + 1;
    int count = 0;
    for (; v != 1; count++) v = v & 1 ? 3 * v + 1 : v / 2;
    steps[i] = count;
}
KERNEL common_divisor(const int *a, const int *b, int *out, int n)
{
    int i = THREAD;
    if (i >= n) return;
    int x = a[i] + 1, y = b[i] + 1;
    while (y) {
        int rest = x % y;
        x = y;
        y = rest;
    }
    out[i] = x;
}
KERNEL cube_roots(const double *x, double *y, int n)
{
    int i = THREAD;
    if (i >= n) return;
    double v = fabs(x[i]) + 1, r = v;
    for (int k = 0; k < 12; k++) r -= (r * r * r - v) / (3 * r * r);
    y[i] = r;
}

// ---- layouts ----
struct Body {
    float px, py, pz, mass, vx, vy, vz, age;
};
KERNEL move_bodies(Body *bodies, float dt, int n)
{
    int i = THREAD;
    if (i >= n) return;
    Body b = bodies[i];
    b.px += dt * b.vx, b.py += dt * b.vy, b.pz += dt * b.vz, b.age += dt;
    bodies[i] = b;
}
KERNEL move_arrays(float *p, const float *v, float *age, float dt, int n)
{
    int i = THREAD;
    if (i >= n) return;
    for (int k = 0; k < 3; k++) p[k * n + i] += dt * v[k * n + i];
    age[i] += dt;
}
KERNEL backwards(const float *x, float *y, int n)
{
    int i = THREAD;
    if (i < n) y[n - 1 - i] = x[i];
}
KERNEL channels_last(const float *x, float *y, int channels, int height, int width)
{  // a thread per place of one image: x[image][channel][row][column]
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int image = blockIdx.z * blockDim.z + threadIdx.z;
    if (column >= width || row >= height) return;
    long long place = (long long)row * width + column, size = (long long)height * width;
    for (int c = 0; c < channels; c++)
        y[(image * size + place) * channels + c] = x[(image * channels + c) * size + place];
}
KERNEL turn_left(const float *x, float *y, int side)
{  // a thread per element, in blocks of one row
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
    if (column < side)
        y[(side - 1 - column) * (long long)side + row] = x[row * (long long)side + column];
}
KERNEL turn_left_tiles(const float *x, float *y, int side)
{
    extern __shared__ float tile[];
    int column = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
    tile[threadIdx.y * 17 + threadIdx.x] = x[row * (long long)side + column];
    __syncthreads();
    int c = blockIdx.x * 16 + threadIdx.y, r = blockIdx.y * 16 + threadIdx.x;
    y[(side - 1 - c) * (long long)side + r] = tile[threadIdx.x * 17 + threadIdx.y];
}
KERNEL embed(const int *words, const float *table, float *out, int width)
{  // a block per word
    const float *row = table + (long long)words[blockIdx.x] * width;
    for (int i = threadIdx.x; i < width; i += blockDim.x)
        out[(long long)blockIdx.x * width + i] = row[i];
}
KERNEL embed_back(const int *words, const float *gradient, float *table, int width)
{
    float *row = table + (long long)words[blockIdx.x] * width;
    for (int i = threadIdx.x; i < width; i += blockDim.x)
        atomicAdd(&row[i], gradient[(long long)blockIdx.x * width + i]);
}
KERNEL follow(const int *next, int *last, int hops, int n)
{
    int i = THREAD;
    if (i >= n) return;
    int at = i;
    for (int k = 0; k < hops; k++) at = next[at];
    last[i] = at;
}
KERNEL warp_image(const float *x, float *y, float cosine, float sine, int side)
{  // an image, turned, between four neighbours
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= side || row >= side) return;
    float u = column - side * 0.5f, v = row - side * 0.5f;
    float cx = cosine * u - sine * v + side * 0.5f, cy = sine * u + cosine * v + side * 0.5f;
    int left = floorf(cx), top = floorf(cy);
    float s = 0;
    if (left >= 0 && top >= 0 && left + 1 < side && top + 1 < side) {
        float a = cx - left, b = cy - top;
        const float *p = x + top * side + left;
        s = (1 - b) * ((1 - a) * p[0] + a * p[1]) + b * ((1 - a) * p[side] + a * p[side + 1]);
    }
    y[row * side + column] = s;
}

// ---- neighbours ----
KERNEL pool(const float *x, float *y, int side)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    int half = side / 2;
    if (column >= half || row >= half) return;
    const float *p = x + 2ll * row * side + 2 * column;
    y[row * half + column] = fmaxf(fmaxf(p[0], p[1]), fmaxf(p[side], p[side + 1]));
}
KERNEL edges(const unsigned char *x, unsigned char *y, int side)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
    if (c < 1 || r < 1 || c >= side - 1 || r >= side - 1) return;
    const unsigned char *p = x + r * side + c;
    int gx = p[1 - side] + 2 * p[1] + p[1 + side] - p[-1 - side] - 2 * p[-1] - p[-1 + side];
    int gy = p[side - 1] + 2 * p[side] + p[side + 1] - p[-side - 1] - 2 * p[-side] - p[-side + 1];
    y[r * side + c] = min(255, abs(gx) + abs(gy));
}
KERNEL edges_shared(const unsigned char *x, unsigned char *y, int side)
{
    __shared__ unsigned char t[18][18];
    int c0 = blockIdx.x * 16 - 1, r0 = blockIdx.y * 16 - 1;
    for (int i = threadIdx.y * 16 + threadIdx.x; i < 18 * 18; i += 256) {
        int r = min(max(r0 + i / 18, 0), side - 1), c = min(max(c0 + i % 18, 0), side - 1);
        t[i / 18][i % 18] = x[r * side + c];
    }
    __syncthreads();
    int c = c0 + 1 + threadIdx.x, r = r0 + 1 + threadIdx.y;
    if (c < 1 || r < 1 || c >= side - 1 || r >= side - 1) return;
    const unsigned char *p = &t[threadIdx.y + 1][threadIdx.x + 1];
    int gx = p[-17] + 2 * p[1] + p[19] - p[-19] - 2 * p[-1] - p[17];
    int gy = p[17] + 2 * p[18] + p[19] - p[-19] - 2 * p[-18] - p[-17];
    y[r * side + c] = min(255, abs(gx) + abs(gy));
}
KERNEL median(const float *x, float *y, int n)
{  // of five neighbours
    int i = THREAD;
    if (i < 2 || i >= n - 2) return;
    float v[5];
    for (int k = 0; k < 5; k++) v[k] = x[i + k - 2];
#pragma unroll
    for (int a = 0; a < 4; a++)
#pragma unroll
        for (int b = 0; b < 4 - a; b++) {
            float low = fminf(v[b], v[b + 1]), high = fmaxf(v[b], v[b + 1]);
            v[b] = low, v[b + 1] = high;
        }
    y[i] = v[2];
}
KERNEL life(const unsigned char *x, unsigned char *y, int width, int height)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y;
    if (c >= width) return;
    int left = c ? c - 1 : width - 1, right = c + 1 < width ? c + 1 : 0;
    int up = r ? r - 1 : height - 1, down = r + 1 < height ? r + 1 : 0, sum = 0;
    int columns[3] = {left, c, right}, rows[3] = {up, r, down};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) sum += x[rows[i] * width + columns[j]];
    int alive = x[r * width + c];
    y[r * width + c] = sum - alive == 3 || (alive && sum - alive == 2);
}
KERNEL sound(const double *now, const double *before, double *after, int side)
{  // a wave in three dimensions
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x < 1 || y < 1 || z < 1 || x >= side - 1 || y >= side - 1 || z >= side - 1) return;
    int i = (z * side + y) * side + x, layer = side * side;
    double around = now[i - 1] + now[i + 1] + now[i - side] + now[i + side] + now[i - layer];
    after[i] = 2 * now[i] - before[i] + 0.1 * (around + now[i + layer] - 6 * now[i]);
}
__constant__ float taps[31];
KERNEL filter_constant(const float *x, float *y, int n)
{
    int i = THREAD;
    if (i + 31 > n) return;
    float s = 0;
    for (int k = 0; k < 31; k++) s += taps[k] * x[i + k];
    y[i] = s;
}
KERNEL filter_shared(const float *x, const float *weights, float *y, int n)
{
    extern __shared__ float near[];
    int first = blockIdx.x * blockDim.x;
    for (int k = threadIdx.x; k < blockDim.x + 30; k += blockDim.x)
        near[k] = first + k < n ? x[first + k] : 0;
    __syncthreads();
    float s = 0;
    for (int k = 0; k < 31; k++) s += weights[k] * near[threadIdx.x + k];
    if (first + threadIdx.x < n) y[first + threadIdx.x] = s;
}

// ---- sums ----
KERNEL sum_squares(const double *x, double *out, int n)
{
    __shared__ double part[192];
    double s = 0;
    for (int i = THREAD; i < n; i += gridDim.x * blockDim.x) s += x[i] * x[i];
    part[threadIdx.x] = s;
    __syncthreads();
    for (int k = 96; k >= 3; k /= 2) {
        if (threadIdx.x < k) part[threadIdx.x] += part[threadIdx.x + k];
        __syncthreads();
    }
    if (!threadIdx.x) atomicAdd(out, part[0] + part[1] + part[2]);
}
KERNEL sum_squares_lanes(const double *x, double *out, int n)
{
    double s = 0;
    for (int i = THREAD; i < n; i += gridDim.x * blockDim.x) s += x[i] * x[i];
    for (int k = 16; k; k /= 2) s += __shfl_down_sync(~0u, s, k);
    if (threadIdx.x % 32 == 0) atomicAdd(out, s);
}
KERNEL nearest_to_zero(const float *x, unsigned long long *best, int n)
{  // the value's bits above, its place below
    int i = THREAD;
    if (i >= n) return;
    unsigned long long own = (unsigned long long)__float_as_uint(fabsf(x[i])) << 32 | i;
    for (int k = 16; k; k /= 2) {
        unsigned long long other = __shfl_xor_sync(~0u, own, k);
        own = other < own ? other : own;
    }
    if (i % 32 == 0) atomicMin(best, own);
}
KERNEL count_positive(const float *x, int *count, int n)
{
    int i = THREAD;
    unsigned votes = __ballot_sync(~0u, i < n && x[i] > 0);
    if (threadIdx.x % 32 == 0) atomicAdd(count, __popc(votes));
}
KERNEL spread(const float *x, float *mean, float *variance, int width)
{  // a warp per row, each lane by Welford's steps
    int row = blockIdx.x * blockDim.y + threadIdx.y;
    float m = 0, s = 0, count = 0;
    for (int i = threadIdx.x; i < width; i += 32) {
        float v = x[(long long)row * width + i], d = v - m;
        count++;
        m += d / count;
        s += d * (v - m);
    }
    for (int k = 16; k; k /= 2) {
        float m2 = __shfl_xor_sync(~0u, m, k), s2 = __shfl_xor_sync(~0u, s, k), d = m2 - m;
        s += s2 + d * d * count / 2;
        m = (m + m2) / 2;
        count *= 2;
    }
    if (!threadIdx.x) mean[row] = m, variance[row] = s / count;
}
KERNEL layer_norm(const __half *x, const float *gain, const float *bias, __half *y, int width)
{  // a block per row
    __shared__ float sums[2][8];
    const __half2 *row = (const __half2 *)(x + (long long)blockIdx.x * width);
    float s = 0, q = 0;
    for (int i = threadIdx.x; i < width / 2; i += blockDim.x) {
        float2 v = __half22float2(row[i]);
        s += v.x + v.y, q += v.x * v.x + v.y * v.y;
    }
    for (int k = 16; k; k /= 2) s += __shfl_xor_sync(~0u, s, k), q += __shfl_xor_sync(~0u, q, k);
    if (threadIdx.x % 32 == 0) sums[0][threadIdx.x / 32] = s, sums[1][threadIdx.x / 32] = q;
    __syncthreads();
    s = q = 0;
    for (int k = 0; k < blockDim.x / 32; k++) s += sums[0][k], q += sums[1][k];
    float m = s / width, scale = rsqrtf(q / width - m * m + 1e-5f);
    for (int i = threadIdx.x; i < width; i += blockDim.x) {
        float v = __half2float(x[(long long)blockIdx.x * width + i]);
        y[(long long)blockIdx.x * width + i] = __float2half((v - m) * scale * gain[i] + bias[i]);
    }
}
KERNEL prefix_sums(const double *x, double *y)
{  // Blelloch's, two elements per thread
    extern __shared__ double t[];
    int n = 2 * blockDim.x, first = blockIdx.x * n, i = threadIdx.x, step = 1;
    t[2 * i] = x[first + 2 * i], t[2 * i + 1] = x[first + 2 * i + 1];
    for (int d = n / 2; d; d /= 2, step *= 2) {
        __syncthreads();
        if (i < d) t[step * (2 * i + 2) - 1] += t[step * (2 * i + 1) - 1];
    }
    if (!i) t[n - 1] = 0;
    for (int d = 1; d < n; d *= 2) {
        step /= 2;
        __syncthreads();
        if (i < d) {
            double v = t[step * (2 * i + 1) - 1];
            t[step * (2 * i + 1) - 1] = t[step * (2 * i + 2) - 1];
            t[step * (2 * i + 2) - 1] += v;
        }
    }
    __syncthreads();
    y[first + 2 * i] = t[2 * i], y[first + 2 * i + 1] = t[2 * i + 1];
}

// ---- counting and sorting ----
KERNEL letters_by_warps(const unsigned char *x, unsigned *counts, int n)
{  // 64 counters per warp
    extern __shared__ unsigned own[];
    for (int i = threadIdx.x; i < 2 * blockDim.x; i += blockDim.x) own[i] = 0;
    __syncthreads();
    for (int i = THREAD; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&own[threadIdx.x / 32 * 64 + x[i] % 64], 1u);
    __syncthreads();
    for (int i = threadIdx.x; i < 64; i += blockDim.x) {
        unsigned sum = 0;
        for (int w = 0; w < blockDim.x / 32; w++) sum += own[w * 64 + i];
        atomicAdd(&counts[i], sum);
    }
}
KERNEL many_bins(const int *x, unsigned *counts, int bins, int n)
{
    int i = THREAD;
    if (i < n) atomicAdd(&counts[x[i] % bins], 1u);
}
KERNEL digits(const unsigned *x, unsigned *counts, int shift)
{  // of a radix sort: how many of each digit a block's 1024 elements have
    __shared__ unsigned own[16];
    if (threadIdx.x < 16) own[threadIdx.x] = 0;
    __syncthreads();
    for (int k = 0; k < 4; k++) {
        unsigned digit = x[blockIdx.x * 1024 + k * 256 + threadIdx.x] >> shift & 15;
        atomicAdd(&own[digit], 1u);
    }
    __syncthreads();
    if (threadIdx.x < 16) counts[threadIdx.x * gridDim.x + blockIdx.x] = own[threadIdx.x];
}
KERNEL odd_even(float *x, int parity, int n)
{
    int i = 2 * THREAD + parity;
    if (i + 1 >= n) return;
    float a = x[i], b = x[i + 1];
    if (a > b) x[i] = b, x[i + 1] = a;
}
KERNEL rank(const int *x, int *y, int n)
{  // each thread counts who comes before its own, through tiles
    __shared__ int tile[128];
    int i = THREAD, own = x[i], before = 0;
    for (int first = 0; first < n; first += 128) {
        tile[threadIdx.x] = x[first + threadIdx.x];
        __syncthreads();
        for (int k = 0; k < 128; k++) before += tile[k] < own || (tile[k] == own && first + k < i);
        __syncthreads();
    }
    y[before] = own;
}

// ---- sparse, groups ----
KERNEL sparse_entries(const int *row, const int *column, const float *value, const float *x,
                      float *y, int n)
{
    int i = THREAD;
    if (i < n) atomicAdd(&y[row[i]], value[i] * x[column[i]]);
}
KERNEL five_diagonals(const double *bands, const double *x, double *y, int n)
{
    int i = THREAD;
    if (i < 2 || i >= n - 2) return;
    double s = 0;
    for (int k = 0; k < 5; k++) s += bands[k * (long long)n + i] * x[i + k - 2];
    y[i] = s;
}
KERNEL nearest_centre(const float2 *points, const float2 *centres, int *which, int count, int n)
{
    extern __shared__ float2 c[];
    for (int k = threadIdx.x; k < count; k += blockDim.x) c[k] = centres[k];
    __syncthreads();
    int i = THREAD;
    if (i >= n) return;
    float2 p = points[i];
    float least = 1e30f;
    int best = 0;
    for (int k = 0; k < count; k++) {
        float dx = p.x - c[k].x, dy = p.y - c[k].y, d = dx * dx + dy * dy;
        if (d < least) least = d, best = k;
    }
    which[i] = best;
}

// ---- products ----
KERNEL product_doubles(const double *a, const double *b, double *c, int n)
{
    __shared__ double s[16][16], t[16][16];
    int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
    double sum = 0;
    for (int k = 0; k < n; k += 16) {
        s[threadIdx.y][threadIdx.x] = a[row * n + k + threadIdx.x];
        t[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + column];
        __syncthreads();
        for (int i = 0; i < 16; i++) sum += s[threadIdx.y][i] * t[i][threadIdx.x];
        __syncthreads();
    }
    c[row * n + column] = sum;
}
KERNEL product_halves(const __half2 *a, const __half2 *b, __half2 *c, int n)
{  // two columns per thread; n: columns of halves
    int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    __half2 sum = __float2half2_rn(0);
    const __half *left = (const __half *)a + row * n;
    for (int k = 0; k < n; k++) sum = __hfma2(__half2half2(left[k]), b[k * (n / 2) + column], sum);
    c[row * (n / 2) + column] = sum;
}
KERNEL small_products(const float *a, const float *b, float *c)
{  // 8 x 8 matrices, four per block of 256 threads
    __shared__ float s[4][8][8], t[4][8][8];
    int matrix = blockIdx.x * 4 + threadIdx.z, place = matrix * 64 + threadIdx.y * 8 + threadIdx.x;
    s[threadIdx.z][threadIdx.y][threadIdx.x] = a[place];
    t[threadIdx.z][threadIdx.y][threadIdx.x] = b[place];
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < 8; k++)
        sum += s[threadIdx.z][threadIdx.y][k] * t[threadIdx.z][k][threadIdx.x];
    c[place] = sum;
}
KERNEL tall_product(const float *x, const float *w, float *y, int rows)
{  // rows x 32 by 32 x 32, a lane per column
    __shared__ float t[32][32];
    for (int i = threadIdx.y; i < 32; i += blockDim.y) t[i][threadIdx.x] = w[i * 32 + threadIdx.x];
    __syncthreads();
    int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= rows) return;
    float v = x[row * 32 + threadIdx.x], sum = 0;
    for (int k = 0; k < 32; k++) sum += __shfl_sync(~0u, v, k) * t[k][threadIdx.x];
    y[row * 32 + threadIdx.x] = sum;
}
KERNEL butterflies(float2 *x, int span, int n)
{  // one step of a Fourier transform
    int i = THREAD;
    if (i >= n / 2) return;
    int k = i % span, first = 2 * (i - k) + k;
    float s, c;
    sincospif(-(float)k / span, &s, &c);
    float2 a = x[first], b = x[first + span];
    float2 t = make_float2(b.x * c - b.y * s, b.x * s + b.y * c);
    x[first] = make_float2(a.x + t.x, a.y + t.y);
    x[first + span] = make_float2(a.x - t.x, a.y - t.y);
}
KERNEL shortest_paths(int *distance, int via, int n)
{  // one step of Floyd and Warshall's
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= n || row >= n) return;
    int through = distance[row * n + via] + distance[via * n + column];
    if (through < distance[row * n + column]) distance[row * n + column] = through;
}
