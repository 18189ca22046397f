// Kernels of the kinds that people write, which the clock has never seen: cases.py launches them.
#include <cuda_fp16.h>

#define KERNEL extern "C" __global__ void
#define THREAD (blockIdx.x * blockDim.x + threadIdx.x)

// ---- streams ----
KERNEL saxpy(const float *x, float *y, float a, int n)
{
    int i = THREAD;
    if (i < n) y[i] = a * x[i] + y[i];
}
KERNEL triad(const double *x, const double *y, double *z, double a, int n)
{
    int i = THREAD;
    if (i < n) z[i] = x[i] + a * y[i];
}
KERNEL copy_bytes(const char *x, char *y, int n)
{
    int i = THREAD;
    if (i < n) y[i] = x[i];
}
KERNEL scale_half2(const __half2 *x, __half2 *y, int n)
{
    int i = THREAD;
    if (i < n) y[i] = __hmul2(x[i], __float2half2_rn(1.5f));
}
KERNEL add_float4(const float4 *x, const float4 *y, float4 *z, int n)
{
    int i = THREAD;
    if (i >= n) return;
    float4 a = x[i], b = y[i];
    z[i] = make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}
KERNEL stride_loop(const float *x, float *y, int n)
{
    for (int i = THREAD; i < n; i += gridDim.x * blockDim.x) y[i] = 2 * x[i] + 1;
}
KERNEL gray(const uchar3 *pixels, unsigned char *out, int n)
{
    int i = THREAD;
    if (i >= n) return;
    uchar3 p = pixels[i];
    out[i] = 0.299f * p.x + 0.587f * p.y + 0.114f * p.z;
}
KERNEL fill(float *y, int n)
{
    int i = THREAD;
    if (i < n) y[i] = i;
}

// ---- arithmetic ----
KERNEL polynomial(const float *x, float *y, int n)
{
    int i = THREAD;
    if (i >= n) return;
    float v = x[i], s = 0.1f;
#pragma unroll
    for (int k = 0; k < 64; k++) s = s * v + 0.01f * k;
    y[i] = s;
}
KERNEL waves(const float *x, float *y, int n)
{
    int i = THREAD;
    if (i < n) y[i] = __sinf(x[i]) * __expf(-x[i] * x[i]) + __logf(1 + x[i] * x[i]);
}
KERNEL exact_waves(const float *x, float *y, int n)
{
    int i = THREAD;
    if (i < n) y[i] = sinf(x[i]) * expf(-x[i] * x[i]) + log1pf(x[i] * x[i]);
}
KERNEL quotient(const float *x, float *y, int n)
{
    int i = THREAD;
    if (i < n) y[i] = sqrtf(1 + x[i] * x[i]) / (2 + fabsf(x[i]));
}
KERNEL double_exp(const double *x, double *y, int n)
{
    int i = THREAD;
    if (i < n) y[i] = exp(x[i]);
}
KERNEL hashes(const unsigned *x, unsigned *y, int n)
{
    int i = THREAD;
    if (i >= n) return;
    unsigned h = x[i];
    for (int k = 0; k < 32; k++) {
        h ^= h >> 16;
        h *= 0x7feb352du;
        h ^= h >> 15;
        h += k;
    }
    y[i] = h;
}
KERNEL remainders(const int *x, int *y, int d, int n)
{
    int i = THREAD;
    if (i < n) y[i] = x[i] % d + x[i] / d;
}
KERNEL random_pi(unsigned *hits, int turns)
{
    unsigned state = THREAD * 747796405u + 1, inside = 0;
    for (int k = 0; k < turns; k++) {
        state = state * 1664525u + 1013904223u;
        float x = (state >> 8) * 0x1p-24f;
        state = state * 1664525u + 1013904223u;
        float y = (state >> 8) * 0x1p-24f;
        inside += x * x + y * y < 1;
    }
    hits[THREAD] = inside;
}
KERNEL mandelbrot(int *out, int width, int most)
{
    int px = THREAD, py = blockIdx.y;
    float cx = -2 + 3.f * px / width, cy = -1.5f + 3.f * py / width, x = 0, y = 0;
    int k = 0;
    for (; k < most && x * x + y * y < 4; k++) {
        float t = x * x - y * y + cx;
        y = 2 * x * y + cy;
        x = t;
    }
    out[py * width + px] = k;
}
KERNEL bodies(const float4 *at, float4 *pull, int n)
{
    __shared__ float4 tile[256];
    int i = THREAD;
    float4 own = at[i];
    float ax = 0, ay = 0, az = 0;
    for (int base = 0; base < n; base += blockDim.x) {
        tile[threadIdx.x] = at[base + threadIdx.x];
        __syncthreads();
#pragma unroll 8
        for (int k = 0; k < blockDim.x; k++) {
            float dx = tile[k].x - own.x, dy = tile[k].y - own.y, dz = tile[k].z - own.z;
            float r = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f), f = tile[k].w * r * r * r;
            ax += f * dx;
            ay += f * dy;
            az += f * dz;
        }
        __syncthreads();
    }
    pull[i] = make_float4(ax, ay, az, 0);
}

// ---- strides, gathers, scatters ----
KERNEL every(const float *x, float *y, int stride, int n)
{
    int i = THREAD;
    if (i < n) y[i] = x[(long long)i * stride];
}
KERNEL shifted(const float *x, float *y, int by, int n)
{
    int i = THREAD;
    if (i + by < n) y[i] = x[i + by];
}
KERNEL fields(const float *points, float *length, int n)  // x, y, z side by side
{
    int i = THREAD;
    if (i >= n) return;
    float x = points[3 * i], y = points[3 * i + 1], z = points[3 * i + 2];
    length[i] = x * x + y * y + z * z;
}
KERNEL gather(const float *x, const int *where, float *y, int n)
{
    int i = THREAD;
    if (i < n) y[i] = x[where[i]];
}
KERNEL scatter(const float *x, const int *where, float *y, int n)
{
    int i = THREAD;
    if (i < n) y[where[i]] = x[i];
}
KERNEL search(const int *sorted, const int *keys, int *found, int m, int n)
{
    int i = THREAD;
    if (i >= n) return;
    int key = keys[i], low = 0, high = m;
    while (low < high) {
        int middle = (low + high) / 2;
        if (sorted[middle] < key) low = middle + 1;
        else high = middle;
    }
    found[i] = low;
}
KERNEL table(const unsigned char *x, const float *values, float *y, int n)
{
    __shared__ float kept[256];
    kept[threadIdx.x] = values[threadIdx.x];
    __syncthreads();
    int i = THREAD;
    if (i < n) y[i] = kept[x[i]];
}

// ---- transposes ----
KERNEL transpose_naive(const float *x, float *y, int n)
{
    int column = THREAD, row = blockIdx.y * blockDim.y + threadIdx.y;
    y[column * n + row] = x[row * n + column];
}
template <int WIDTH>
__device__ void transpose(const float *x, float *y, int n)
{
    __shared__ float tile[32][WIDTH];
    int column = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8) tile[threadIdx.y + k][threadIdx.x] = x[(row + k) * n + column];
    __syncthreads();
    column = blockIdx.y * 32 + threadIdx.x, row = blockIdx.x * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8) y[(row + k) * n + column] = tile[threadIdx.x][threadIdx.y + k];
}
KERNEL transpose_conflicts(const float *x, float *y, int n) { transpose<32>(x, y, n); }
KERNEL transpose_padded(const float *x, float *y, int n) { transpose<33>(x, y, n); }

// ---- products ----
KERNEL product_naive(const float *a, const float *b, float *c, int n)
{
    int column = THREAD, row = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < n; k++) sum += a[row * n + k] * b[k * n + column];
    c[row * n + column] = sum;
}
template <int T>
__device__ void product(const float *a, const float *b, float *c, int n)
{
    __shared__ float left[T][T], right[T][T];
    int column = blockIdx.x * T + threadIdx.x, row = blockIdx.y * T + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < n; k += T) {
        left[threadIdx.y][threadIdx.x] = a[row * n + k + threadIdx.x];
        right[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + column];
        __syncthreads();
        for (int i = 0; i < T; i++) sum += left[threadIdx.y][i] * right[i][threadIdx.x];
        __syncthreads();
    }
    c[row * n + column] = sum;
}
KERNEL product_16(const float *a, const float *b, float *c, int n) { product<16>(a, b, c, n); }
KERNEL product_32(const float *a, const float *b, float *c, int n) { product<32>(a, b, c, n); }
KERNEL product_registers(const float *a, const float *b, float *c, int n)  // 64x64 by 16x16
{
    __shared__ float left[16][64], right[16][64];
    int tx = threadIdx.x % 16, ty = threadIdx.x / 16, row = blockIdx.y * 64,
        column = blockIdx.x * 64;
    float sum[4][4] = {};
    for (int k = 0; k < n; k += 16) {
        for (int i = threadIdx.x; i < 1024; i += 256) {
            left[i % 16][i / 16] = a[(row + i / 16) * n + k + i % 16];
            right[i / 64][i % 64] = b[(k + i / 64) * n + column + i % 64];
        }
        __syncthreads();
#pragma unroll
        for (int i = 0; i < 16; i++) {
            float l[4], r[4];
            for (int j = 0; j < 4; j++) l[j] = left[i][ty * 4 + j], r[j] = right[i][tx * 4 + j];
            for (int j = 0; j < 4; j++)
                for (int m = 0; m < 4; m++) sum[j][m] += l[j] * r[m];
        }
        __syncthreads();
    }
    for (int j = 0; j < 4; j++)
        for (int m = 0; m < 4; m++) c[(row + ty * 4 + j) * n + column + tx * 4 + m] = sum[j][m];
}
KERNEL matvec_warps(const float *a, const float *x, float *y, int rows, int columns)
{
    int row = THREAD / 32, lane = threadIdx.x % 32;
    float sum = 0;
    for (int k = lane; k < columns; k += 32) sum += a[row * columns + k] * x[k];
    for (int by = 16; by; by /= 2) sum += __shfl_down_sync(~0u, sum, by);
    if (lane == 0) y[row] = sum;
}
KERNEL matvec_threads(const float *a, const float *x, float *y, int rows, int columns)
{
    int row = THREAD;
    float sum = 0;
    for (int k = 0; k < columns; k++) sum += a[row * columns + k] * x[k];
    y[row] = sum;
}

// ---- stencils ----
KERNEL blur_line(const float *x, float *y, int n)
{
    int i = THREAD;
    if (i < 3 || i >= n - 3) return;
    float s = 0;
    for (int k = -3; k <= 3; k++) s += x[i + k];
    y[i] = s / 7;
}
KERNEL blur_line_shared(const float *x, float *y, int n)
{
    __shared__ float near[256 + 6];
    int i = THREAD;
    near[threadIdx.x + 3] = x[i];
    if (threadIdx.x < 3) {
        near[threadIdx.x] = i >= 3 ? x[i - 3] : 0;
        near[threadIdx.x + 259] = i + 256 < n ? x[i + 256] : 0;
    }
    __syncthreads();
    float s = 0;
    for (int k = 0; k < 7; k++) s += near[threadIdx.x + k];
    y[i] = s / 7;
}
KERNEL heat(const float *x, float *y, int n)
{
    int i = THREAD, j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < 1 || j < 1 || i >= n - 1 || j >= n - 1) return;
    y[j * n + i] =
        0.25f * (x[j * n + i - 1] + x[j * n + i + 1] + x[(j - 1) * n + i] + x[(j + 1) * n + i]);
}
KERNEL heat_shared(const float *x, float *y, int n)
{
    __shared__ float tile[10][34];
    int i = THREAD, j = blockIdx.y * blockDim.y + threadIdx.y;
    auto at = [&](int r, int c) { return r >= 0 && c >= 0 && r < n && c < n ? x[r * n + c] : 0; };
    int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    tile[ty][tx] = at(j, i);
    if (threadIdx.x == 0) tile[ty][0] = at(j, i - 1);
    if (threadIdx.x == 31) tile[ty][33] = at(j, i + 1);
    if (threadIdx.y == 0) tile[0][tx] = at(j - 1, i);
    if (threadIdx.y == 7) tile[9][tx] = at(j + 1, i);
    __syncthreads();
    y[j * n + i] =
        0.25f * (tile[ty][tx - 1] + tile[ty][tx + 1] + tile[ty - 1][tx] + tile[ty + 1][tx]);
}
KERNEL heat_3d(const float *x, float *y, int n)
{
    int i = THREAD, j = blockIdx.y * blockDim.y + threadIdx.y, k = blockIdx.z;
    if (i < 1 || j < 1 || k < 1 || i >= n - 1 || j >= n - 1 || k >= n - 1) return;
    int at = (k * n + j) * n + i;
    y[at] = x[at] +
            0.1f * (x[at - 1] + x[at + 1] + x[at - n] + x[at + n] + x[at - n * n] + x[at + n * n]);
}
KERNEL convolve(const float *x, const float *w, float *y, int n)
{
    int i = THREAD, j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= n - 4 || j >= n - 4) return;
    float s = 0;
#pragma unroll
    for (int r = 0; r < 5; r++)
#pragma unroll
        for (int c = 0; c < 5; c++) s += w[r * 5 + c] * x[(j + r) * n + i + c];
    y[j * n + i] = s;
}

// ---- scans, sorts, reductions ----
KERNEL scan_blocks(const int *x, int *y)
{
    __shared__ int kept[2][512];
    int side = 0, t = threadIdx.x;
    kept[0][t] = x[THREAD];
    __syncthreads();
    for (int by = 1; by < 512; by *= 2) {
        kept[!side][t] = kept[side][t] + (t >= by ? kept[side][t - by] : 0);
        side = !side;
        __syncthreads();
    }
    y[THREAD] = kept[side][t];
}
KERNEL scan_shuffles(const int *x, int *y)
{
    __shared__ int totals[32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, v = x[THREAD];
    for (int by = 1; by < 32; by *= 2) {
        int other = __shfl_up_sync(~0u, v, by);
        if (lane >= by) v += other;
    }
    if (lane == 31) totals[warp] = v;
    __syncthreads();
    if (warp == 0) {
        int t = lane < blockDim.x / 32 ? totals[lane] : 0;
        for (int by = 1; by < 32; by *= 2) {
            int other = __shfl_up_sync(~0u, t, by);
            if (lane >= by) t += other;
        }
        totals[lane] = t;
    }
    __syncthreads();
    y[THREAD] = v + (warp ? totals[warp - 1] : 0);
}
KERNEL row_prefixes(const float *x, float *y, int rows, int columns)
{
    int row = THREAD;
    if (row >= rows) return;
    float sum = 0;
    for (int k = 0; k < columns; k++) y[row * columns + k] = sum += x[row * columns + k];
}
KERNEL sort_blocks(int *x)
{
    __shared__ int kept[1024];
    int t = threadIdx.x;
    kept[t] = x[THREAD];
    __syncthreads();
    for (int size = 2; size <= 1024; size *= 2)
        for (int by = size / 2; by; by /= 2) {
            int other = t ^ by;
            if (other > t) {
                int a = kept[t], b = kept[other];
                if ((a > b) == !(t & size)) kept[t] = b, kept[other] = a;
            }
            __syncthreads();
        }
    x[THREAD] = kept[t];
}
KERNEL sort_step(int *x, int by, int size)
{
    int i = THREAD, other = i ^ by;
    if (other <= i) return;
    int a = x[i], b = x[other];
    if ((a > b) == !(i & size)) x[i] = b, x[other] = a;
}
KERNEL greatest_of_rows(const float *x, int *where, int columns)
{
    __shared__ float best[256];
    __shared__ int at[256];
    int t = threadIdx.x;
    float most = -1e30f;
    int place = 0;
    for (int k = t; k < columns; k += 256) {
        float v = x[blockIdx.x * columns + k];
        if (v > most) most = v, place = k;
    }
    best[t] = most, at[t] = place;
    __syncthreads();
    for (int by = 128; by; by /= 2) {
        if (t < by && best[t + by] > best[t]) best[t] = best[t + by], at[t] = at[t + by];
        __syncthreads();
    }
    if (t == 0) where[blockIdx.x] = at[0];
}
KERNEL normalise_rows(const float *x, float *y, int columns)
{
    __shared__ float sums[8], squares[8];
    float s = 0, q = 0;
    for (int k = threadIdx.x; k < columns; k += 256) {
        float v = x[blockIdx.x * columns + k];
        s += v, q += v * v;
    }
    for (int by = 16; by; by /= 2)
        s += __shfl_xor_sync(~0u, s, by), q += __shfl_xor_sync(~0u, q, by);
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = s, squares[threadIdx.x / 32] = q;
    __syncthreads();
    s = q = 0;
    for (int w = 0; w < 8; w++) s += sums[w], q += squares[w];
    float mean = s / columns, scale = rsqrtf(q / columns - mean * mean + 1e-5f);
    for (int k = threadIdx.x; k < columns; k += 256) {
        int at = blockIdx.x * columns + k;
        y[at] = (x[at] - mean) * scale;
    }
}
KERNEL dot(const float *x, const float *y, float *out, int n)
{
    float s = 0;
    for (int i = THREAD; i < n; i += gridDim.x * blockDim.x) s += x[i] * y[i];
    for (int by = 16; by; by /= 2) s += __shfl_down_sync(~0u, s, by);
    if (threadIdx.x % 32 == 0) atomicAdd(out, s);
}

// ---- atomics ----
KERNEL histogram_global(const unsigned char *x, unsigned *bins, int n)
{
    int i = THREAD;
    if (i < n) atomicAdd(&bins[x[i]], 1);
}
KERNEL histogram_shared(const unsigned char *x, unsigned *bins, int n)
{
    __shared__ unsigned own[256];
    own[threadIdx.x] = 0;
    __syncthreads();
    for (int i = THREAD; i < n; i += gridDim.x * blockDim.x) atomicAdd(&own[x[i]], 1);
    __syncthreads();
    if (own[threadIdx.x]) atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}
KERNEL add_anywhere(const int *where, const float *x, float *sums, int n)
{
    int i = THREAD;
    if (i < n) atomicAdd(&sums[where[i]], x[i]);
}
KERNEL relax(const int *from, const int *to, int *distance, int n)
{
    int i = THREAD;
    if (i < n) atomicMin(&distance[to[i]], distance[from[i]] + 1);
}
KERNEL keep_positive(const float *x, float *y, int *count, int n)
{
    int i = THREAD, lane = threadIdx.x % 32;
    bool keep = i < n && x[i] > 0;
    unsigned all = __ballot_sync(~0u, keep);
    int base = 0;
    if (lane == 0) base = atomicAdd(count, __popc(all));
    base = __shfl_sync(~0u, base, 0);
    base &= n - 1;  // launched again, it goes on where it was
    if (keep) y[base + __popc(all & ((1u << lane) - 1))] = x[i];
}

// ---- sparse rows ----
KERNEL sparse_threads(const int *begins, const int *columns, const float *values, const float *x,
                      float *y, int n)
{
    int row = THREAD;
    if (row >= n) return;
    float s = 0;
    for (int k = begins[row]; k < begins[row + 1]; k++) s += values[k] * x[columns[k]];
    y[row] = s;
}
KERNEL sparse_warps(const int *begins, const int *columns, const float *values, const float *x,
                    float *y, int n)
{
    int row = THREAD / 32, lane = threadIdx.x % 32;
    if (row >= n) return;
    float s = 0;
    for (int k = begins[row] + lane; k < begins[row + 1]; k += 32) s += values[k] * x[columns[k]];
    for (int by = 16; by; by /= 2) s += __shfl_down_sync(~0u, s, by);
    if (lane == 0) y[row] = s;
}
KERNEL sparse_columns(const int *columns, const float *values, const float *x, float *y, int each,
                      int n)
{
    int row = THREAD;
    if (row >= n) return;
    float s = 0;
    for (int k = 0; k < each; k++) s += values[k * n + row] * x[columns[k * n + row]];
    y[row] = s;
}
