// Kernels such as public programs have (cuda-samples, Rodinia, llm.c, LeetCUDA), written anew:
// public.py launches them.
#include <cuda_fp16.h>
#include <mma.h>

#define KERNEL extern "C" __global__ void
#define THREAD (blockIdx.x * blockDim.x + threadIdx.x)
#define LANE (threadIdx.x % 32)

__device__ float sum_of_warp(float v)
{
    for (int step = 16; step; step /= 2) v += __shfl_xor_sync(~0u, v, step);
    return v;
}

// ---- memory ----
KERNEL adamw(float *w, const float *g, float *m, float *v, float rate, float left1, float left2,
             int n)
{
    int i = THREAD;
    if (i >= n) return;
    float now = g[i], first = 0.9f * m[i] + 0.1f * now, second = 0.999f * v[i] + 0.001f * now * now;
    m[i] = first, v[i] = second;
    w[i] -= rate * (first / left1 / (sqrtf(second / left2) + 1e-8f) + 0.1f * w[i]);
}
KERNEL add_and_normalise(const float *x, const float *more, const float *scale, float *sums,
                         float *out, int width, int rows)
{  // a warp per row
    int row = THREAD / 32;
    if (row >= rows) return;
    x += row * width, more += row * width, sums += row * width, out += row * width;
    float sum = 0, squares = 0;
    for (int c = LANE; c < width; c += 32) {
        float v = x[c] + more[c];
        sums[c] = v, sum += v, squares += v * v;
    }
    float mean = sum_of_warp(sum) / width;
    float factor = rsqrtf(sum_of_warp(squares) / width - mean * mean + 1e-5f);
    for (int c = LANE; c < width; c += 32) out[c] = scale[c] * factor * (sums[c] - mean);
}
KERNEL bias_gradient(const float *d, float *bias, int rows, int columns)
{  // 32 columns per block, a warp every eighth row
    __shared__ float part[8][32];
    int column = blockIdx.x * 32 + threadIdx.x;
    float sum = 0;
    for (int r = threadIdx.y; r < rows; r += 8) sum += d[r * columns + column];
    part[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y) return;
    for (int k = 1; k < 8; k++) sum += part[k][threadIdx.x];
    bias[column] += sum;
}
KERNEL rotate_pairs(const float2 *x, float2 *y, int half, int positions)
{
    int i = THREAD, pair = i % half, at = i / half % positions;
    float angle = at * exp2f(-13.28771f * pair / half), s, c;
    sincosf(angle, &s, &c);
    float2 v = x[i];
    y[i] = make_float2(v.x * c - v.y * s, v.x * s + v.y * c);
}
KERNEL split_heads(const float *x, float *q, float *k, float *v, int length, int heads, int size)
{  // x[batch][place][3][head][size] to three arrays [batch][head][place][size]
    int i = THREAD, d = i % size, t = i / size % length, h = i / size / length % heads;
    int b = i / size / length / heads, from = ((b * length + t) * 3 * heads + h) * size + d;
    q[i] = x[from], k[i] = x[from + heads * size], v[i] = x[from + 2 * heads * size];
}
KERNEL gated(const __half2 *x, const __half2 *gate, __half2 *y, int n)
{
    int i = THREAD;
    if (i >= n) return;
    float2 a = __half22float2(x[i]), b = __half22float2(gate[i]);
    y[i] = __floats2half2_rn(a.x / (1 + __expf(-a.x)) * b.x, a.y / (1 + __expf(-a.y)) * b.y);
}
KERNEL cross_entropy(const float *x, const int *right, float *loss, int width)
{  // a block per row, greatest and sum in one pass
    __shared__ float tops[32], sums[32];
    const float *row = x + (long long)blockIdx.x * width;
    float top = -1e30f, sum = 0;
    for (int i = threadIdx.x; i < width; i += blockDim.x) {
        float v = row[i], higher = fmaxf(top, v);
        sum = sum * __expf(top - higher) + __expf(v - higher), top = higher;
    }
    for (int step = 16; step; step /= 2) {
        float t = __shfl_xor_sync(~0u, top, step), s = __shfl_xor_sync(~0u, sum, step);
        float higher = fmaxf(top, t);
        sum = sum * __expf(top - higher) + s * __expf(t - higher), top = higher;
    }
    if (!LANE) tops[threadIdx.x / 32] = top, sums[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x) return;
    for (int w = 1; w < blockDim.x / 32; w++) {
        float higher = fmaxf(top, tops[w]);
        sum = sum * __expf(top - higher) + sums[w] * __expf(tops[w] - higher), top = higher;
    }
    loss[blockIdx.x] = logf(sum) + top - row[right[blockIdx.x]];
}
KERNEL quantise_rows(const float4 *x, char4 *y, float *scales, int width)
{  // a block of 128 per row
    __shared__ float tops[4];
    const float4 *row = x + blockIdx.x * width;
    float top = 0;
    for (int i = threadIdx.x; i < width; i += 128) {
        float4 v = row[i];
        top = fmaxf(fmaxf(top, fmaxf(fabsf(v.x), fabsf(v.y))), fmaxf(fabsf(v.z), fabsf(v.w)));
    }
    for (int step = 16; step; step /= 2) top = fmaxf(top, __shfl_xor_sync(~0u, top, step));
    if (!LANE) tops[threadIdx.x / 32] = top;
    __syncthreads();
    top = fmaxf(fmaxf(tops[0], tops[1]), fmaxf(tops[2], tops[3]));
    float scale = 127 / top;
    for (int i = threadIdx.x; i < width; i += 128) {
        float4 v = row[i];
        y[blockIdx.x * width + i] = make_char4(rintf(v.x * scale), rintf(v.y * scale),
                                               rintf(v.z * scale), rintf(v.w * scale));
    }
    if (!threadIdx.x) scales[blockIdx.x] = top / 127;
}
KERNEL hotspot(const float *power, const float *heat, float *next, int side)
{  // blocks of 16 by 16 of which the inner 14 by 14 are kept
    __shared__ float t[16][16];
    int x = threadIdx.x, y = threadIdx.y;
    int column = blockIdx.x * 14 + x - 1, row = blockIdx.y * 14 + y - 1;
    int inside = column >= 0 && row >= 0 && column < side && row < side;
    if (inside) t[y][x] = heat[row * side + column];
    __syncthreads();
    if (!inside || x < 1 || y < 1 || x > 14 || y > 14) return;
    int n = row ? y - 1 : y, s = row < side - 1 ? y + 1 : y;
    int w = column ? x - 1 : x, e = column < side - 1 ? x + 1 : x;
    float here = t[y][x];
    next[row * side + column] =
        here + 0.1f * (power[row * side + column] + (t[n][x] + t[s][x] - 2 * here) * 0.3f +
                       (t[y][w] + t[y][e] - 2 * here) * 0.2f + (80 - here) * 0.01f);
}
KERNEL diffusion(const int *north, const int *south, const int *west, const int *east,
                 const float *image, float *share, int rows, int columns, float q)
{  // neighbours by tables of rows and columns, as in srad
    int i = THREAD, r = i % rows, c = i / rows;
    if (c >= columns) return;
    float here = image[i], n = image[north[r] + rows * c] - here,
          s = image[south[r] + rows * c] - here;
    float w = image[r + rows * west[c]] - here, e = image[r + rows * east[c]] - here;
    float g = (n * n + s * s + w * w + e * e) / (here * here), l = (n + s + w + e) / here;
    float d = 1 + 0.25f * l, v = (0.5f * g - l * l / 16) / (d * d);
    share[i] = __saturatef(1 / (1 + (v - q) / (q * (1 + q))));
}
KERNEL filter_columns(const float *x, const float *taps, float *y, int width, int height)
{  // 16 by 128 places per block of 16 by 8, and 8 above and below
    __shared__ float t[16][145];
    int column = blockIdx.x * 16 + threadIdx.x, top = blockIdx.y * 128 - 8;
    for (int r = threadIdx.y; r < 144; r += 8) {
        int row = top + r;
        t[threadIdx.x][r] = row < 0 || row >= height ? 0 : x[row * width + column];
    }
    __syncthreads();
    for (int r = threadIdx.y; r < 128; r += 8) {
        float sum = 0;
#pragma unroll
        for (int k = 0; k < 17; k++) sum += taps[k] * t[threadIdx.x][r + k];
        y[(top + 8 + r) * width + column] = sum;
    }
}
KERNEL walsh(float *x, int stride)
{  // four places each
    int i = THREAD, low = i % stride, at = (i - low) * 4 + low;
    float a = x[at], b = x[at + stride], c = x[at + 2 * stride], d = x[at + 3 * stride];
    float ac = a + c, bd = b + d, ca = a - c, db = b - d;
    x[at] = ac + bd, x[at + stride] = ac - bd, x[at + 2 * stride] = ca + db;
    x[at + 3 * stride] = ca - db;
}
KERNEL haar(const float *x, float *fine, float *coarse)
{  // all levels of 512 places in shared memory
    __shared__ float s[512];
    int t = threadIdx.x, first = blockIdx.x * 512;
    s[t] = x[first + t], s[t + 256] = x[first + t + 256];
    __syncthreads();
    for (int left = 256, at = blockIdx.x * 511; left; at += left, left /= 2) {
        float a = 0, b = 0;
        if (t < left) a = s[2 * t], b = s[2 * t + 1];
        __syncthreads();
        if (t < left) s[t] = (a + b) * 0.70710678f, fine[at + t] = (a - b) * 0.70710678f;
        __syncthreads();
    }
    if (!t) coarse[blockIdx.x] = s[0];
}
KERNEL march(const float *x, float *y, int width, int height, int depth)
{  // a stencil of 4 places each way, along z in registers, as in FDTD3d
    int c = blockIdx.x * blockDim.x + threadIdx.x + 4,
        r = blockIdx.y * blockDim.y + threadIdx.y + 4;
    if (c >= width - 4 || r >= height - 4) return;
    int plane = width * height, at = r * width + c;
    float line[9];
    for (int k = 0; k < 8; k++) line[k + 1] = x[at + k * plane];
    for (int z = 4; z < depth - 4; z++) {
        for (int k = 0; k < 8; k++) line[k] = line[k + 1];
        line[8] = x[at + (z + 4) * plane];
        const float *p = x + at + z * plane;
        float sum = 0.5f * line[4];
#pragma unroll
        for (int k = 1; k <= 4; k++)
            sum += 0.1f / k *
                   (line[4 - k] + line[4 + k] + p[-k] + p[k] + p[-k * width] + p[k * width]);
        y[at + z * plane] = sum;
    }
}
KERNEL sums_of_rows(const float *x, float *y, int width, int reach)
{  // a thread per row, as boxFilter has
    int row = THREAD;
    const float *in = x + row * width;
    float *out = y + row * width, sum = in[0] * reach;
    for (int i = 0; i <= reach; i++) sum += in[i];
    for (int i = 0; i < width; i++) {
        out[i] = sum / (2 * reach + 1);
        sum += in[min(i + reach + 1, width - 1)] - in[max(i - reach, 0)];
    }
}
KERNEL to_colours(const unsigned char *light, const uchar2 *hue, uchar4 *out, int width)
{  // NV12 to RGBA
    int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
    float y = 1.164f * (light[r * width + c] - 16);
    uchar2 uv = hue[r / 2 * (width / 2) + c / 2];
    float u = uv.x - 128.0f, v = uv.y - 128.0f;
    float red = y + 1.596f * v, green = y - 0.813f * v - 0.391f * u, blue = y + 2.018f * u;
    out[r * width + c] = make_uchar4(fminf(fmaxf(red, 0), 255), fminf(fmaxf(green, 0), 255),
                                     fminf(fmaxf(blue, 0), 255), 255);
}
KERNEL eliminate(float *a, const float *factors, int n, int step)
{  // gaussian's second kernel
    int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
    if (r >= n - 1 - step || c >= n - step) return;
    a[n * (r + 1 + step) + c + step] -= factors[n * (r + 1 + step) + step] * a[n * step + c + step];
}
KERNEL fluxes(const int *neighbours, const float *state, float *out, int n)
{  // of an unstructured mesh, as in cfd: 4 neighbours, 5 quantities
    int i = THREAD;
    if (i >= n) return;
    float own[5], sum[5] = {};
    for (int q = 0; q < 5; q++) own[q] = state[q * n + i];
    float speed = rsqrtf(own[0] * own[0] + 1);
    for (int k = 0; k < 4; k++) {
        int j = neighbours[k * n + i];
        float density = state[j], wave = speed + rsqrtf(density * density + 1);
        for (int q = 0; q < 5; q++) sum[q] += wave * (own[q] - state[q * n + j]);
    }
    for (int q = 0; q < 5; q++) out[q * n + i] = sum[q];
}

// ---- latency ----
KERNEL pathfinder(const int *wall, const int *from, int *to, int width, int steps)
{
    __shared__ int row[256], next[256];
    int x = threadIdx.x, column = blockIdx.x * (256 - 2 * steps) - steps + x;
    int inside = column >= 0 && column < width;
    row[x] = inside ? from[column] : 1 << 30;
    __syncthreads();
    for (int i = 0; i < steps; i++) {
        int use = x > i && x < 255 - i && inside;
        if (use) {
            int least = min(row[x], min(row[x - 1], row[x + 1]));
            next[x] = least + wall[i * width + column];
        }
        __syncthreads();
        if (use) row[x] = next[x];
        __syncthreads();
    }
    if (x >= steps && x < 256 - steps && inside) to[column] = row[x];
}
KERNEL align(const int *score, int *table, int columns, int penalty, int diagonal)
{  // needle: tiles of 16 on a diagonal, a warp's half per tile
    __shared__ int t[17][17], s[16][16];
    int x = threadIdx.x, bx = blockIdx.x, by = diagonal - 1 - blockIdx.x;
    int first = (by * 16 + 1) * columns + bx * 16 + 1;
    if (!x) t[0][0] = table[first - columns - 1];
    for (int r = 0; r < 16; r++) s[r][x] = score[first + r * columns + x];
    t[x + 1][0] = table[first + x * columns - 1], t[0][x + 1] = table[first - columns + x];
    __syncthreads();
    for (int step = 0; step < 31; step++) {
        int c = step < 16 ? x + 1 : x + step - 14, r = step < 16 ? step - x + 1 : 16 - x;
        if (r >= 1 && c <= 16 && x <= (step < 16 ? step : 30 - step))
            t[r][c] =
                max(t[r - 1][c - 1] + s[r - 1][c - 1], max(t[r][c - 1], t[r - 1][c]) - penalty);
        __syncthreads();
    }
    for (int r = 0; r < 16; r++) table[first + r * columns + x] = t[r + 1][x + 1];
}
KERNEL factor(float *a, int n, int from)
{  // lud's first kernel: one block's tile of 32
    __shared__ float t[32][33];
    int x = threadIdx.x;
    for (int r = 0; r < 32; r++) t[r][x] = a[(from + r) * n + from + x];
    __syncthreads();
    for (int i = 0; i < 31; i++) {
        if (x > i) {
            for (int j = 0; j < i; j++) t[x][i] -= t[x][j] * t[j][i];
            t[x][i] /= t[i][i];
        }
        __syncthreads();
        if (x > i)
            for (int j = 0; j <= i; j++) t[i + 1][x] -= t[i + 1][j] * t[j][x];
        __syncthreads();
    }
    for (int r = 1; r < 32; r++) a[(from + r) * n + from + x] = t[r][x];
}
KERNEL widen(const int *begins, const int *edges, const unsigned char *mask, unsigned char *next,
             const unsigned char *seen, int *cost, int n)
{  // bfs: the edges of those that are on the border
    int i = THREAD;
    if (i >= n || !mask[i]) return;
    for (int e = begins[i]; e < begins[i + 1]; e++) {
        int to = edges[e];
        if (!seen[to]) cost[to] = cost[i] + 1, next[to] = 1;
    }
}
KERNEL find_keys(const int *keys, const int *children, const int *wanted, int *found, int depth)
{  // b+tree of 128: a block per key, a thread per key of a node
    __shared__ int node;
    int t = threadIdx.x, want = wanted[blockIdx.x];
    if (!t) node = 0;
    __syncthreads();
    for (int level = 0; level < depth; level++) {
        int at = node * 129 + t;
        if (keys[at] <= want && want < keys[at + 1]) found[blockIdx.x] = at;
        __syncthreads();
        if (keys[at] <= want && want < keys[at + 1]) node = children[at];
        __syncthreads();
    }
}
KERNEL binomial(const float *price, const float *strike, float *value, int steps)
{  // an option per block, its tree's level in shared memory
    __shared__ float v[257];
    int t = threadIdx.x;
    float s = price[blockIdx.x] + 30, k = strike[blockIdx.x] + 30;
    v[t] = fmaxf(s * __expf(0.02f * (2 * t - steps)) - k, 0);
    if (!t) v[steps] = fmaxf(s * __expf(0.02f * steps) - k, 0);
    for (int left = steps; left; left--) {
        __syncthreads();
        float next = t < left ? 0.5001f * v[t + 1] + 0.4998f * v[t] : 0;
        __syncthreads();
        if (t < left) v[t] = next;
    }
    if (!t) value[blockIdx.x] = v[0];
}
KERNEL simulate(const float *price, const float *draws, float *value, int paths)
{  // Monte Carlo: a block per option
    __shared__ float sums[8];
    float s = price[blockIdx.x] + 30, sum = 0;
    for (int i = threadIdx.x; i < paths; i += 256)
        sum += fmaxf(s * __expf(0.01f + 0.2f * draws[i]) - 30, 0);
    sum = sum_of_warp(sum);
    if (!LANE) sums[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x) return;
    for (int w = 1; w < 8; w++) sum += sums[w];
    value[blockIdx.x] = sum / paths;
}
KERNEL merge_runs(const int *x, int *y)
{  // two sorted runs of 512: a place by counting in the other
    __shared__ int s[1024];
    int t = threadIdx.x, first = blockIdx.x * 1024;
    s[t] = x[first + t], s[t + 512] = x[first + t + 512];
    __syncthreads();
    for (int half = 0; half < 2; half++) {
        int v = s[half * 512 + t], other = (1 - half) * 512, low = 0;
        for (int step = 256; step; step /= 2)
            if (half ? s[other + low + step - 1] <= v : s[other + low + step - 1] < v) low += step;
        if (half ? s[other + low] <= v : s[other + low] < v) low++;
        y[first + t + low] = v;
    }
}
KERNEL resample(const float *shares, const float *drawn, int *which, int n)
{  // particlefilter: each thread walks along the sums
    int i = THREAD, at = 0;
    if (i >= n) return;
    float u = (drawn[i] + 0.5f) * n;
    while (at < n - 1 && shares[at] < u) at++;
    which[i] = at;
}
KERNEL suppress(const float4 *boxes, unsigned long long *masks, int n)
{  // 64 boxes against 64 others
    __shared__ float4 others[64];
    int t = threadIdx.x, i = blockIdx.y * 64 + t, first = blockIdx.x * 64;
    others[t] = boxes[first + t];
    __syncthreads();
    float4 own = boxes[i];
    unsigned long long mask = 0;
    for (int k = 0; k < 64; k++) {
        float4 o = others[k];
        float w = fminf(own.x + own.z, o.x + o.z) - fmaxf(own.x, o.x);
        float h = fminf(own.y + own.w, o.y + o.w) - fmaxf(own.y, o.y);
        float both = fmaxf(w, 0) * fmaxf(h, 0);
        if (both > 0.5f * (own.z * own.w + o.z * o.w - both)) mask |= 1ull << k;
    }
    masks[i * (n / 64) + blockIdx.x] = mask;
}

// ---- atomics ----
KERNEL assign(const float4 *points, const float4 *centres, float *sums, int *counts, int *member,
              int n)
{  // kmeans: 16 centres, added up by block
    __shared__ float own[16][4];
    __shared__ int many[16];
    int t = threadIdx.x, i = THREAD;
    if (t < 64) own[t / 4][t % 4] = 0;
    if (t < 16) many[t] = 0;
    __syncthreads();
    if (i < n) {
        float4 p = points[i];
        float least = 1e30f;
        int best = 0;
        for (int c = 0; c < 16; c++) {
            float4 q = centres[c];
            float d = (p.x - q.x) * (p.x - q.x) + (p.y - q.y) * (p.y - q.y) +
                      (p.z - q.z) * (p.z - q.z) + (p.w - q.w) * (p.w - q.w);
            if (d < least) least = d, best = c;
        }
        member[i] = best;
        atomicAdd(&own[best][0], p.x), atomicAdd(&own[best][1], p.y);
        atomicAdd(&own[best][2], p.z), atomicAdd(&own[best][3], p.w);
        atomicAdd(&many[best], 1);
    }
    __syncthreads();
    if (t < 64) atomicAdd(&sums[t], own[t / 4][t % 4]);
    if (t < 16) atomicAdd(&counts[t], many[t]);
}
KERNEL bins_by_warp(const unsigned *x, unsigned *bins, int n)
{  // histogram256: a table per warp, four bytes per word
    __shared__ unsigned own[6][256];
    unsigned *mine = own[threadIdx.x / 32];
    for (int b = LANE; b < 256; b += 32) mine[b] = 0;
    __syncthreads();
    for (int i = THREAD; i < n; i += gridDim.x * blockDim.x) {
        unsigned v = x[i];
        atomicAdd(&mine[v & 255], 1), atomicAdd(&mine[v >> 8 & 255], 1);
        atomicAdd(&mine[v >> 16 & 255], 1), atomicAdd(&mine[v >> 24], 1);
    }
    __syncthreads();
    for (int b = threadIdx.x; b < 256; b += 192) {
        unsigned sum = 0;
        for (int w = 0; w < 6; w++) sum += own[w][b];
        atomicAdd(&bins[b], sum);
    }
}
KERNEL degrees(const int *from, const int *to, int *out, int *in, int edges)
{
    int e = THREAD;
    if (e < edges) atomicAdd(&out[from[e]], 1), atomicAdd(&in[to[e]], 1);
}
KERNEL insert_keys(const unsigned *keys, unsigned *table, unsigned mask, int n)
{  // a hash table, the next free place
    int i = THREAD;
    if (i >= n) return;
    unsigned key = keys[i] | 1, at = key * 2654435761u >> 8 & mask;
    for (;;) {
        unsigned was = atomicCAS(&table[at], 0, key);
        if (!was || was == key) return;
        at = at + 1 & mask;
    }
}
KERNEL deposit(const float2 *places, float *grid, int side, int n)
{  // a particle's charge on four corners
    int i = THREAD;
    if (i >= n) return;
    float2 p = places[i];
    float x = (p.x + 0.5f) * (side - 1), y = (p.y + 0.5f) * (side - 1);
    int c = x, r = y;
    float a = x - c, b = y - r, *at = grid + r * side + c;
    atomicAdd(at, (1 - a) * (1 - b)), atomicAdd(at + 1, a * (1 - b));
    atomicAdd(at + side, (1 - a) * b), atomicAdd(at + side + 1, a * b);
}
KERNEL append(const int *x, int *out, int *count, int n)
{  // one atomic per block
    __shared__ int many, first;
    int i = THREAD, keep = i < n && x[i] % 3 == 0, place = 0;
    if (!threadIdx.x) many = 0;
    __syncthreads();
    if (keep) place = atomicAdd(&many, 1);
    __syncthreads();
    if (!threadIdx.x) first = atomicAdd(count, many);
    __syncthreads();
    if (keep) out[first + place & n - 1] = x[i];  // another launch goes on behind this one's
}
KERNEL nearest_cells(const float *depth, const int *cell, unsigned long long *best, int n)
{
    int i = THREAD;
    if (i < n)
        atomicMin(&best[cell[i]], (unsigned long long)__float_as_uint(depth[i] + 1) << 32 | i);
}

// ---- arithmetic ----
KERNEL sliced_8x8(const float4 *a, const float4 *b, float4 *c, int n)
{  // tiles of 128 by 128 by 8, a turned, by vectors of four
    __shared__ float4 s[8][32], r[8][32];
    int t = threadIdx.x, x = t % 16, y = t / 16, wide = n / 4;
    float sums[8][8] = {};
    for (int k = 0; k < n; k += 8) {
        float4 v = a[(blockIdx.y * 128 + t / 2) * wide + k / 4 + t % 2];
        float *turned = &s[t % 2 * 4][0].x + t / 2;
        turned[0] = v.x, turned[128] = v.y, turned[256] = v.z, turned[384] = v.w;
        r[t / 32][t % 32] = b[(k + t / 32) * wide + blockIdx.x * 32 + t % 32];
        __syncthreads();
#pragma unroll
        for (int d = 0; d < 8; d++) {
            float4 p[2] = {s[d][y], s[d][y + 16]}, q[2] = {r[d][x], r[d][x + 16]};
#pragma unroll
            for (int i = 0; i < 8; i++)
#pragma unroll
                for (int j = 0; j < 8; j++) sums[i][j] += (&p[0].x)[i] * (&q[0].x)[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 2; j++)
            c[(blockIdx.y * 128 + i / 4 * 64 + y * 4 + i % 4) * wide + blockIdx.x * 32 + j * 16 +
              x] = make_float4(sums[i][4 * j], sums[i][4 * j + 1], sums[i][4 * j + 2],
                               sums[i][4 * j + 3]);
}
KERNEL smooth(const float *x, float *y, int side)
{  // a bilateral filter of 7 by 7
    int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
    float here = x[r * side + c], sum = 0, shares = 0;
    for (int i = -3; i <= 3; i++)
        for (int j = -3; j <= 3; j++) {
            float v = x[min(max(r + i, 0), side - 1) * side + min(max(c + j, 0), side - 1)];
            float share = __expf(-0.1f * (i * i + j * j) - 8 * (v - here) * (v - here));
            sum += share * v, shares += share;
        }
    y[r * side + c] = sum / shares;
}
KERNEL sobol(const unsigned *directions, float *out, int n)
{
    __shared__ unsigned own[32];
    if (threadIdx.x < 32) own[threadIdx.x] = directions[threadIdx.x];
    __syncthreads();
    int i = THREAD;
    if (i >= n) return;
    unsigned grey = i ^ i >> 1, v = 0;
#pragma unroll
    for (int k = 0; k < 24; k++)
        if (grey >> k & 1) v ^= own[k];
    out[i] = v * 2.3283064e-10f;
}
KERNEL forces(const float4 *places, const float *charges, const int *near, float4 *out)
{  // lavaMD: a box of 128 against 9 boxes near it
    __shared__ float4 there[128];
    __shared__ float charge[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    float4 own = places[i], sum = {};
    for (int k = 0; k < 9; k++) {
        int j = near[blockIdx.x * 9 + k] * 128 + t;
        __syncthreads();
        there[t] = places[j], charge[t] = charges[j];
        __syncthreads();
        for (int m = 0; m < 128; m++) {
            float4 p = there[m];
            float dx = own.x - p.x, dy = own.y - p.y, dz = own.z - p.z;
            float v = charge[m] * __expf(-0.5f * (dx * dx + dy * dy + dz * dz)), f = 2 * v;
            sum.x += f * dx, sum.y += f * dy, sum.z += f * dz, sum.w += v;
        }
    }
    out[i] = sum;
}
KERNEL noise(const unsigned char *table, float *y, int side)
{  // Perlin's, by a table of 256 in shared memory
    __shared__ unsigned char s[256];
    if (threadIdx.y * 32 + threadIdx.x < 256)
        s[threadIdx.y * 32 + threadIdx.x] = table[threadIdx.y * 32 + threadIdx.x];
    __syncthreads();
    int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 8 + threadIdx.y;
    float sum = 0, size = 0.5f, u = c * 0.013f, v = r * 0.013f;
    for (int octave = 0; octave < 4; octave++, size /= 2, u *= 2, v *= 2) {
        int i = u, j = v;
        float a = u - i, b = v - j, p = a * a * (3 - 2 * a), q = b * b * (3 - 2 * b), g[4];
        for (int k = 0; k < 4; k++) {
            int h = s[s[i + k % 2 & 255] + j + k / 2 & 255];
            g[k] = (h & 1 ? a - k % 2 : k % 2 - a) + (h & 2 ? b - k / 2 : k / 2 - b);
        }
        float low = g[0] + p * (g[1] - g[0]), high = g[2] + p * (g[3] - g[2]);
        sum += size * (low + q * (high - low));
    }
    y[r * side + c] = sum;
}

// ---- tensor cores ----
using namespace nvcuda;
__device__ void copy_16(void *to, const void *from)
{
    unsigned at = __cvta_generic_to_shared(to);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at), "l"(from) : "memory");
}
KERNEL halves_ahead(const __half *a, const __half *b, __half *c, int n)
{  // LeetCUDA's: 64 by 64 by 16, two buffers that copies fill ahead, four warps of 32 by 32
    __shared__ __half s[2][64][24], r[2][16][72];
    int t = threadIdx.x, warp = t / 32, top = blockIdx.y * 64, left = blockIdx.x * 64;
    wmma::fragment<wmma::accumulator, 16, 16, 16, __half> sums[2][2];
    for (int i = 0; i < 4; i++) wmma::fill_fragment(sums[i / 2][i % 2], __float2half(0));
    auto ahead = [&](int k, int at) {
        copy_16(&s[at][t / 2][t % 2 * 8], a + (top + t / 2) * n + k + t % 2 * 8);
        copy_16(&r[at][t / 8][t % 8 * 8], b + (k + t / 8) * n + left + t % 8 * 8);
        asm volatile("cp.async.commit_group;");
    };
    ahead(0, 0);
    for (int k = 0, at = 0; k < n; k += 16, at ^= 1) {
        if (k + 16 < n) ahead(k + 16, at ^ 1);
        if (k + 16 < n) asm volatile("cp.async.wait_group 1;");
        else asm volatile("cp.async.wait_group 0;");
        __syncthreads();
        wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> p[2];
        wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> q[2];
        for (int i = 0; i < 2; i++) {
            wmma::load_matrix_sync(p[i], &s[at][warp / 2 * 32 + i * 16][0], 24);
            wmma::load_matrix_sync(q[i], &r[at][0][warp % 2 * 32 + i * 16], 72);
        }
        for (int i = 0; i < 4; i++)
            wmma::mma_sync(sums[i / 2][i % 2], p[i / 2], q[i % 2], sums[i / 2][i % 2]);
        __syncthreads();
    }
    for (int i = 0; i < 4; i++)
        wmma::store_matrix_sync(c + (top + warp / 2 * 32 + i / 2 * 16) * n + left + warp % 2 * 32 +
                                    i % 2 * 16,
                                sums[i / 2][i % 2], n, wmma::mem_row_major);
}
KERNEL plain_wmma(const __half *a, const __half *b, float *c, int n)
{  // cuda-samples' simple one: a warp per 16 by 16, from global memory
    int warp = threadIdx.x / 32, row = blockIdx.y * 32 + warp / 2 * 16,
        column = blockIdx.x * 32 + warp % 2 * 16;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0);
    for (int k = 0; k < n; k += 16) {
        wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> p;
        wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> q;
        wmma::load_matrix_sync(p, a + row * n + k, n);
        wmma::load_matrix_sync(q, b + column * n + k, n);
        wmma::mma_sync(sum, p, q, sum);
    }
    wmma::store_matrix_sync(c + row * n + column, sum, n, wmma::mem_row_major);
}
KERNEL bytes_wmma(const signed char *a, const signed char *b, int *c, int n)
{  // immaTensorCoreGemm: 64 by 64 by 64 through shared memory
    __shared__ __align__(16) signed char s[64][80], r[64][80];
    int t = threadIdx.x, warp = t / 32, top = blockIdx.y * 64, left = blockIdx.x * 64;
    wmma::fragment<wmma::accumulator, 16, 16, 16, int> sums[4];
    for (int i = 0; i < 4; i++) wmma::fill_fragment(sums[i], 0);
    for (int k = 0; k < n; k += 64) {
        for (int i = t; i < 256; i += 128) {
            *(int4 *)&s[i / 4][i % 4 * 16] =
                *(const int4 *)(a + (top + i / 4) * n + k + i % 4 * 16);
            *(int4 *)&r[i / 4][i % 4 * 16] =
                *(const int4 *)(b + (left + i / 4) * n + k + i % 4 * 16);
        }
        __syncthreads();
        for (int d = 0; d < 64; d += 16) {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, signed char, wmma::row_major> p;
            wmma::load_matrix_sync(p, &s[warp * 16][d], 80);
            for (int i = 0; i < 4; i++) {
                wmma::fragment<wmma::matrix_b, 16, 16, 16, signed char, wmma::col_major> q;
                wmma::load_matrix_sync(q, &r[i * 16][d], 80);
                wmma::mma_sync(sums[i], p, q, sums[i]);
            }
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; i++)
        wmma::store_matrix_sync(c + (top + warp * 16) * n + left + i * 16, sums[i], n,
                                wmma::mem_row_major);
}
KERNEL dense_gelu(const __half *x, const __half *w, const float *bias, __half *y, int n)
{  // a layer of 64 inputs: 16 rows by 64 columns per block, through shared memory at the end
    __shared__ float out[16][68];
    int t = threadIdx.x, warp = t / 32, row = blockIdx.y * 16, column = blockIdx.x * 64;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0);
    for (int k = 0; k < 256; k += 16) {
        wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> p;
        wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> q;
        wmma::load_matrix_sync(p, x + row * 256 + k, 256);
        wmma::load_matrix_sync(q, w + k * n + column + warp * 16, n);
        wmma::mma_sync(sum, p, q, sum);
    }
    wmma::store_matrix_sync(&out[0][warp * 16], sum, 68, wmma::mem_row_major);
    __syncthreads();
    for (int i = t; i < 1024; i += 128) {
        float v = out[i / 64][i % 64] + bias[column + i % 64];
        y[(row + i / 64) * n + column + i % 64] =
            __float2half(0.5f * v * (1 + tanhf(0.7978846f * (v + 0.044715f * v * v * v))));
    }
}
