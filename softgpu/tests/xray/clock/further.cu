// More kernels such as public programs have, none of which public.cu has: further.py launches them.
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

// ---- language models ----
KERNEL gelu_back(const float4 *x, const float4 *d, float4 *out, int n)
{
    int i = THREAD;
    if (i >= n) return;
    float4 a = x[i], b = d[i];
    float *v = &a.x, *w = &b.x;
    for (int k = 0; k < 4; k++) {
        float cube = 0.044715f * v[k] * v[k] * v[k], t = tanhf(0.7978846f * (v[k] + cube));
        float slope = 0.7978846f * (1 + 3 * 0.044715f * v[k] * v[k]);
        w[k] *= 0.5f * (1 + t) + 0.5f * v[k] * (1 - t * t) * slope;
    }
    out[i] = b;
}
KERNEL softmax_causal(const float *x, float *y, int length)
{  // a warp per row, of which only the first places count
    int row = THREAD / 32, own = row % length;
    x += (long long)row * length, y += (long long)row * length;
    float top = -1e30f, sum = 0;
    for (int i = LANE; i <= own; i += 32) {
        float v = x[i], higher = fmaxf(top, v);
        sum = sum * __expf(top - higher) + __expf(v - higher), top = higher;
    }
    float highest = top;
    for (int step = 16; step; step /= 2)
        highest = fmaxf(highest, __shfl_xor_sync(~0u, highest, step));
    sum = sum_of_warp(sum * __expf(top - highest));
    for (int i = LANE; i <= own; i += 32) y[i] = __expf(x[i] - highest) / sum;
}
KERNEL loss_back(__half *logits, const int *right, float scale, int width)
{  // a block per row: its shares, less one at the right place
    __shared__ float part[8];
    __half2 *row = (__half2 *)(logits + (long long)blockIdx.x * width);
    float sum = 0;
    for (int i = threadIdx.x; i < width / 2; i += 256) {
        float2 v = __half22float2(row[i]);
        sum += __expf(v.x) + __expf(v.y);
    }
    sum = sum_of_warp(sum);
    if (!LANE) part[threadIdx.x / 32] = sum;
    __syncthreads();
    sum = 0;
    for (int w = 0; w < 8; w++) sum += part[w];
    int place = right[blockIdx.x];
    for (int i = threadIdx.x; i < width / 2; i += 256) {
        float2 v = __half22float2(row[i]);
        row[i] = __floats2half2_rn((__expf(v.x) / sum - (2 * i == place)) * scale,
                                   (__expf(v.y) / sum - (2 * i + 1 == place)) * scale);
    }
}
KERNEL norm_of_all(const float *x, float *out, long long n)
{
    __shared__ float part[16];
    float sum = 0;
    for (long long i = THREAD; i < n; i += gridDim.x * blockDim.x) sum += x[i] * x[i];
    sum = sum_of_warp(sum);
    if (!LANE) part[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x >= 32) return;
    sum = sum_of_warp(LANE < blockDim.x / 32 ? part[LANE] : 0);
    if (!threadIdx.x) atomicAdd(out, sum);
}
KERNEL rows_by_vector(const uint4 *a, const uint4 *x, float *y, int rows, int packs)
{  // a warp per row of halves
    int row = THREAD / 32;
    if (row >= rows) return;
    float sum = 0;
    for (int i = LANE; i < packs; i += 32) {
        uint4 p = a[row * packs + i], q = x[i];
        for (int k = 0; k < 4; k++) {
            float2 v = __half22float2(((__half2 *)&p)[k]), w = __half22float2(((__half2 *)&q)[k]);
            sum += v.x * w.x + v.y * w.y;
        }
    }
    sum = sum_of_warp(sum);
    if (!LANE) y[row] = sum;
}
KERNEL two_experts(const float2 *scores, int2 *chosen, float2 *shares, int rows)
{  // a warp per row of 64: the two highest
    int row = THREAD / 32;
    if (row >= rows) return;
    float2 own = scores[row * 32 + LANE];
    float found[2];
    int places[2];
    for (int k = 0; k < 2; k++) {
        float top = fmaxf(own.x, own.y);
        int place = 2 * LANE + (own.y > own.x);
        for (int step = 16; step; step /= 2) {
            float t = __shfl_xor_sync(~0u, top, step);
            int p = __shfl_xor_sync(~0u, place, step);
            if (t > top || t == top && p < place) top = t, place = p;
        }
        found[k] = top, places[k] = place;
        if (place / 2 == LANE) (place & 1 ? own.y : own.x) = -1e30f;
    }
    if (LANE) return;
    float first = 1 / (1 + __expf(found[1] - found[0]));
    chosen[row] = make_int2(places[0], places[1]), shares[row] = make_float2(first, 1 - first);
}
KERNEL attend_rows(const float *q, const float *k, const float *v, float *out, int length)
{  // 64 numbers per head, a thread per query, 32 keys at a time in shared memory
    __shared__ float keys[32][64], values[32][64];
    int t = threadIdx.x;
    long long head = (long long)blockIdx.y * length * 64;
    float own[64], sum[64] = {}, total = 0, top = -1e30f;
    for (int d = 0; d < 64; d++) own[d] = q[head + (blockIdx.x * 64 + t) * 64 + d];
    for (int first = 0; first < length; first += 32) {
        __syncthreads();
        for (int i = t; i < 2048; i += 64) {
            keys[i / 64][i % 64] = k[head + first * 64 + i];
            values[i / 64][i % 64] = v[head + first * 64 + i];
        }
        __syncthreads();
        for (int j = 0; j < 32; j++) {
            float s = 0;
#pragma unroll
            for (int d = 0; d < 64; d++) s += own[d] * keys[j][d];
            float higher = fmaxf(top, s), less = __expf(top - higher), share = __expf(s - higher);
            total = total * less + share, top = higher;
#pragma unroll
            for (int d = 0; d < 64; d++) sum[d] = sum[d] * less + share * values[j][d];
        }
    }
    for (int d = 0; d < 64; d++) out[head + (blockIdx.x * 64 + t) * 64 + d] = sum[d] / total;
}

// ---- images and grids ----
KERNEL transpose_by_4(const float4 *x, float *y, int rows, int columns)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    float4 v = x[row * (columns / 4) + column];
    for (int k = 0; k < 4; k++) y[(4 * column + k) * rows + row] = (&v.x)[k];
}
__device__ void cosines(float *v, int step)
{  // of 8 numbers
    float in[8];
    for (int i = 0; i < 8; i++) in[i] = v[i * step];
#pragma unroll
    for (int k = 0; k < 8; k++) {
        float sum = 0;
#pragma unroll
        for (int i = 0; i < 8; i++) sum += in[i] * cosf(0.19634954f * (2 * i + 1) * k);
        v[k * step] = sum * (k ? 0.5f : 0.35355339f);
    }
}
KERNEL dct_8x8(const float *x, float *y, int width)
{  // eight squares of 8 by 8 per block, a thread per row, then per column
    __shared__ float s[8][65];
    int t = threadIdx.x, first = blockIdx.y * 8 * width + blockIdx.x * 64;
    for (int r = 0; r < 8; r++) s[r][t] = x[first + r * width + t];
    __syncthreads();
    cosines(&s[t % 8][t / 8 * 8], 1);
    __syncthreads();
    cosines(&s[0][t], 65);
    __syncthreads();
    for (int r = 0; r < 8; r++) y[first + r * width + t] = s[r][t];
}
KERNEL disparity(const unsigned *left, const unsigned *right, int *best, int width, int height)
{  // the shift to which 5 by 5 pixels of four bytes match best
    int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
    unsigned least = ~0u;
    int found = 0;
    for (int shift = 0; shift < 16; shift++) {
        unsigned cost = 0;
        for (int i = -2; i <= 2; i++)
            for (int j = -2; j <= 2; j++) {
                int row = min(max(r + i, 0), height - 1) * width;
                cost += __vsadu4(left[row + min(max(c + j, 0), width - 1)],
                                 right[row + min(max(c + j - shift, 0), width - 1)]);
            }
        if (cost < least) least = cost, found = shift;
    }
    best[r * width + c] = found;
}
__device__ float4 cubic(float t)
{
    return make_float4(((-t + 3) * t - 3) * t + 1, (3 * t - 6) * t * t + 4,
                       ((-3 * t + 3) * t + 3) * t + 1, t * t * t);
}
KERNEL zoom(const float *x, float *y, int side, float scale)
{  // by cubic splines, 4 by 4 places
    int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
    float u = c * scale + 1, v = r * scale + 1;
    int i = u, j = v;
    float4 p = cubic(u - i), q = cubic(v - j);
    float sum = 0;
    for (int b = 0; b < 4; b++) {
        const float *row = x + min(j - 1 + b, side - 1) * side;
        float line = 0;
        for (int a = 0; a < 4; a++) line += (&p.x)[a] * row[min(i - 1 + a, side - 1)];
        sum += (&q.x)[b] * line;
    }
    y[r * side + c] = sum / 36;
}
KERNEL recursive(const float *x, float *y, int width, int height, float a, float b)
{  // a thread per column, down and up again
    int c = THREAD;
    if (c >= width) return;
    float before = x[c], out = before;
    for (int r = 0; r < height; r++) {
        float now = x[r * width + c];
        out = a * now + b * before - 0.25f * out;
        y[r * width + c] = out, before = now;
    }
    out = 0, before = 0;
    for (int r = height - 1; r >= 0; r--) {
        float now = x[r * width + c];
        out = a * before + b * now - 0.25f * out;
        y[r * width + c] += out, before = now;
    }
}
KERNEL lifting(const float *x, float *low, float *high, int half)
{  // a row of wavelets per block, in shared memory
    extern __shared__ float s[];
    int width = 2 * half;
    x += blockIdx.x * width, low += blockIdx.x * half, high += blockIdx.x * half;
    for (int i = threadIdx.x; i < width; i += blockDim.x) s[i] = x[i];
    __syncthreads();
    for (int i = threadIdx.x; i < half; i += blockDim.x)
        s[2 * i + 1] -= 0.5f * (s[2 * i] + s[min(2 * i + 2, width - 2)]);
    __syncthreads();
    for (int i = threadIdx.x; i < half; i += blockDim.x) {
        low[i] = s[2 * i] + 0.25f * (s[max(2 * i - 1, 1)] + s[2 * i + 1]);
        high[i] = s[2 * i + 1];
    }
}
KERNEL rings(const float *across, const float *down, const float *cosine, const float *sine,
             const int *columns, const int *rows, float *score, int height)
{  // leukocyte: slopes at 7 circles of 150 places around each pixel
    int r = threadIdx.x + blockIdx.x * blockDim.x, c = blockIdx.y + 32;
    if (r >= height - 64) return;
    r += 32;
    float most = 0;
    for (int k = 0; k < 7; k++) {
        float sum = 0, squares = 0;
        for (int n = 0; n < 150; n++) {
            int at = (c + columns[k * 150 + n]) * height + r + rows[k * 150 + n];
            float v = across[at] * cosine[n] + down[at] * sine[n];
            sum += v, squares += v * v;
        }
        float mean = sum / 150, spread = squares / 150 - mean * mean;
        most = fmaxf(most, mean * mean / spread);
    }
    score[c * height + r] = most;
}
KERNEL rays(const float *volume, float *image, int side, int size)
{  // through a volume, three numbers at a time, until enough has been seen
    int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
    float x = (c + 0.5f) * (size - 4) / side, y = (r + 0.5f) * (size - 4) / side, z = 0;
    float seen = 0, left = 1;
    while (left > 0.05f && z < size - 1) {
        int i = x, j = y, k = z;
        const float *at = volume + (k * size + j) * size + i;
        float a = x - i, b = y - j, d = z - k;
        float near =
            (1 - b) * ((1 - a) * at[0] + a * at[1]) + b * ((1 - a) * at[size] + a * at[size + 1]);
        at += size * size;
        float far =
            (1 - b) * ((1 - a) * at[0] + a * at[1]) + b * ((1 - a) * at[size] + a * at[size + 1]);
        float v = fabsf(near + d * (far - near)) * 0.1f;
        seen += left * v, left *= 1 - v;
        z += 0.5f, x += 0.01f;
    }
    image[r * side + c] = seen;
}

// ---- searches and learning ----
KERNEL bisect(const float *diagonal, const float *beside, float *values, int n)
{  // a thread per eigenvalue of a tridiagonal matrix
    __shared__ float d[512], e[512];
    for (int i = threadIdx.x; i < n; i += blockDim.x) d[i] = diagonal[i], e[i] = beside[i];
    __syncthreads();
    int own = THREAD;
    float low = -4, high = 4;
    for (int step = 0; step < 16; step++) {
        float middle = 0.5f * (low + high), q = 1;
        int below = 0;
        for (int i = 0; i < n; i++) {
            q = d[i] - middle - (i ? e[i] * e[i] / q : 0);
            below += q < 0;
        }
        if (below > own) high = middle;
        else low = middle;
    }
    values[own] = low;
}
KERNEL hidden_layer(const float *in, const float *weights, float *part, int hidden)
{  // backprop: 16 inputs by 16 units per block, summed by a tree
    __shared__ float own[16], s[16][16];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y;
    if (!x) own[y] = in[row];
    __syncthreads();
    s[y][x] = weights[row * hidden + blockIdx.x * 16 + x] * own[y];
    __syncthreads();
    for (int step = 1; step < 16; step *= 2) {
        if (y % (2 * step) == 0) s[y][x] += s[y + step][x];
        __syncthreads();
    }
    if (!y) part[blockIdx.y * hidden + blockIdx.x * 16 + x] = s[0][x];
}
KERNEL gains(const float *coordinates, const float *costs, const int *centre, const int *table,
             float *lower, float *saved, int n, int dimensions, int candidate)
{  // streamcluster: what a new centre would save
    __shared__ float own[32];
    int i = THREAD;
    if (threadIdx.x < dimensions) own[threadIdx.x] = coordinates[threadIdx.x * n + candidate];
    __syncthreads();
    if (i >= n) return;
    float cost = 0;
    for (int d = 0; d < dimensions; d++) {
        float off = coordinates[d * n + i] - own[d];
        cost += off * off;
    }
    if (cost < costs[i]) saved[i] = cost - costs[i];
    else atomicAdd(&lower[table[centre[i]]], costs[i] - cost);
}
KERNEL buckets(const float *x, const float *pivots, int *counts, int *bucket, int *place, int n)
{  // hybridsort: each number's bucket of 1024, and its place there
    __shared__ float s[1024];
    for (int i = threadIdx.x; i < 1024; i += blockDim.x) s[i] = pivots[i];
    __syncthreads();
    for (int i = THREAD; i < n; i += gridDim.x * blockDim.x) {
        float v = x[i];
        int low = 0;
        for (int step = 512; step; step /= 2)
            if (s[low + step] <= v) low += step;
        bucket[i] = low, place[i] = atomicAdd(&counts[low], 1);
    }
}

// ---- tensor cores ----
using namespace nvcuda;
KERNEL tf32_tiles(const float *a, const float *b, float *c, int n)
{  // 64 by 64 by 32 through shared memory, eight warps of 16 by 32
    __shared__ float s[64][36], r[32][68];
    int t = threadIdx.x, warp = t / 32, top = blockIdx.y * 64, left = blockIdx.x * 64;
    wmma::fragment<wmma::accumulator, 16, 16, 8, float> sums[2];
    wmma::fill_fragment(sums[0], 0), wmma::fill_fragment(sums[1], 0);
    for (int k = 0; k < n; k += 32) {
        for (int i = t; i < 512; i += 256) {
            *(float4 *)&s[i / 8][i % 8 * 4] = *(float4 *)&a[(top + i / 8) * n + k + i % 8 * 4];
            *(float4 *)&r[i / 16][i % 16 * 4] = *(float4 *)&b[(k + i / 16) * n + left + i % 16 * 4];
        }
        __syncthreads();
        for (int d = 0; d < 32; d += 8) {
            wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> p;
            wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major> q;
            wmma::load_matrix_sync(p, &s[warp / 2 * 16][d], 36);
            for (int i = 0; i < p.num_elements; i++) p.x[i] = wmma::__float_to_tf32(p.x[i]);
            for (int j = 0; j < 2; j++) {
                wmma::load_matrix_sync(q, &r[d][warp % 2 * 32 + j * 16], 68);
                for (int i = 0; i < q.num_elements; i++) q.x[i] = wmma::__float_to_tf32(q.x[i]);
                wmma::mma_sync(sums[j], p, q, sums[j]);
            }
        }
        __syncthreads();
    }
    for (int j = 0; j < 2; j++)
        wmma::store_matrix_sync(c + (top + warp / 2 * 16) * n + left + warp % 2 * 32 + j * 16,
                                sums[j], n, wmma::mem_row_major);
}
