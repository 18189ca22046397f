// Kernels such as public programs have, of kinds that the other files lack: fresh.py launches them.
#include <cuda_fp16.h>
#include <cuda_pipeline.h>

#define KERNEL extern "C" __global__ void
#define THREAD (blockIdx.x * blockDim.x + threadIdx.x)
#define LANE (threadIdx.x % 32)

__device__ float sum_of_warp(float v)
{
    for (int step = 16; step; step /= 2) v += __shfl_xor_sync(~0u, v, step);
    return v;
}

// ---- language models ----
struct Quantised  // 32 weights of 4 bits, and what they are multiplied by
{
    __half scale;
    unsigned char pairs[16];
};
KERNEL dequantise(const Quantised *x, float *y, int n)
{  // a thread makes two weights that are 16 places apart
    int i = THREAD, block = i / 16, place = i % 16;
    if (i >= n) return;
    float scale = __half2float(x[block].scale);
    int pair = x[block].pairs[place];
    y[block * 32 + place] = ((pair & 15) - 8) * scale;
    y[block * 32 + 16 + place] = ((pair >> 4) - 8) * scale;
}
KERNEL rows_of_bytes(const int4 *m, const int4 *x, const float *scales, float *y, int packs)
{  // a warp per row of a matrix of bytes, times a vector of bytes
    int row = THREAD / 32, sum = 0;
    for (int i = LANE; i < packs; i += 32) {
        int4 a = m[row * packs + i], b = x[i];
        sum = __dp4a(a.x, b.x, sum), sum = __dp4a(a.y, b.y, sum);
        sum = __dp4a(a.z, b.z, sum), sum = __dp4a(a.w, b.w, sum);
    }
    sum = __reduce_add_sync(~0u, sum);
    if (!LANE) y[row] = sum * scales[row];
}
KERNEL pages(const int4 *cache, const int *table, int4 *out, int packs, int most)
{  // a block copies a page of 16 tokens to where its sequence has it
    int page = table[blockIdx.y * most + blockIdx.x];
    const int4 *from = cache + (long long)page * 16 * packs;
    int4 *to = out + (long long)(blockIdx.y * most + blockIdx.x) * 16 * packs;
    for (int i = threadIdx.x; i < 16 * packs; i += blockDim.x) to[i] = from[i];
}
KERNEL rms_norm(const uint4 *x, const uint4 *weight, uint4 *y, int packs)
{  // a block per row of halves, eight a thread, which stay in registers
    __shared__ float part[32];
    uint4 pack = x[blockIdx.x * packs + threadIdx.x], scale = weight[threadIdx.x];
    __half2 *v = (__half2 *)&pack, *w = (__half2 *)&scale;
    float sum = 0;
    for (int k = 0; k < 4; k++) {
        float2 f = __half22float2(v[k]);
        sum += f.x * f.x + f.y * f.y;
    }
    sum = sum_of_warp(sum);
    if (!LANE) part[threadIdx.x / 32] = sum;
    __syncthreads();
    sum = sum_of_warp(LANE < blockDim.x / 32 ? part[LANE] : 0);
    float by = rsqrtf(sum / (8 * packs) + 1e-5f);
    for (int k = 0; k < 4; k++) v[k] = __hmul2(__hmul2(v[k], __float2half2_rn(by)), w[k]);
    y[blockIdx.x * packs + threadIdx.x] = pack;
}
KERNEL norm_back(const float *d, const float *x, const float *weight, const float2 *moments,
                 float *dx, float *dweight, int width)
{  // a warp per row; the weights' gradients are added up in shared memory, then in global memory
    extern __shared__ float sums[];
    for (int i = threadIdx.x; i < width; i += blockDim.x) sums[i] = 0;
    __syncthreads();
    int row = THREAD / 32;
    d += (long long)row * width, x += (long long)row * width, dx += (long long)row * width;
    float2 of = moments[row];
    float mean = 0, along = 0;
    for (int i = LANE; i < width; i += 32) {
        float v = (x[i] - of.x) * of.y, g = weight[i] * d[i];
        mean += g, along += g * v;
    }
    mean = sum_of_warp(mean) / width, along = sum_of_warp(along) / width;
    for (int i = LANE; i < width; i += 32) {
        float v = (x[i] - of.x) * of.y, g = d[i];
        atomicAdd(&sums[i], v * g);
        dx[i] = (weight[i] * g - mean - v * along) * of.y;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < width; i += blockDim.x) atomicAdd(&dweight[i], sums[i]);
}

// ---- images and networks ----
KERNEL bilateral(const float *x, float *y, int side, float near, float like)
{
    int column = THREAD, row = blockIdx.y * blockDim.y + threadIdx.y;
    float own = x[row * side + column], sum = 0, all = 0;
    for (int r = -3; r <= 3; r++)
        for (int c = -3; c <= 3; c++) {
            int i = min(max(row + r, 0), side - 1), j = min(max(column + c, 0), side - 1);
            float v = x[i * side + j];
            float w = __expf(-(r * r + c * c) * near - (v - own) * (v - own) * like);
            sum += w * v, all += w;
        }
    y[row * side + column] = sum / all;
}
KERNEL filter_rows(const float *x, const float *taps, float *y, int width)
{  // 8 results a thread of 16, and a part of the row that the block keeps
    __shared__ float kept[4][10 * 16];
    int first = blockIdx.x * 8 * 16 - 16 + threadIdx.x, row = blockIdx.y * 4 + threadIdx.y;
    for (int i = 0; i < 10; i++) {
        int at = first + 16 * i;
        kept[threadIdx.y][threadIdx.x + 16 * i] = at >= 0 && at < width ? x[row * width + at] : 0;
    }
    __syncthreads();
    for (int i = 1; i < 9; i++) {
        float sum = 0;
#pragma unroll
        for (int k = -8; k <= 8; k++)
            sum += taps[8 - k] * kept[threadIdx.y][threadIdx.x + 16 * i + k];
        y[row * width + first + 16 * i] = sum;
    }
}
KERNEL depthwise(const __half *x, const __half *taps, __half *y, int side)
{  // 3 x 3 of each channel, which blockIdx.z counts
    int column = THREAD, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= side || row >= side) return;
    x += (long long)blockIdx.z * side * side, taps += blockIdx.z % 64 * 9;
    float sum = 0;
    for (int r = -1; r <= 1; r++)
        for (int c = -1; c <= 1; c++)
            if (row + r >= 0 && row + r < side && column + c >= 0 && column + c < side)
                sum += __half2float(x[(row + r) * side + column + c]) *
                       __half2float(taps[3 * r + c + 4]);
    y[((long long)blockIdx.z * side + row) * side + column] = __float2half(sum);
}
KERNEL moments_of_channels(const float *x, float2 *out, int batch, int channels, int area)
{  // a block per channel walks over all images; Welford's method
    __shared__ float means[8], squares[8];
    float mean = 0, square = 0, count = 0;
    for (int image = 0; image < batch; image++)
        for (int i = threadIdx.x; i < area; i += blockDim.x) {
            float v = x[((long long)image * channels + blockIdx.x) * area + i], before = v - mean;
            mean += before / ++count, square += before * (v - mean);
        }
    for (int step = 16; step; step /= 2) {
        float other = __shfl_xor_sync(~0u, mean, step), apart = other - mean;
        square += __shfl_xor_sync(~0u, square, step) + apart * apart * count / 2;
        mean = (mean + other) / 2, count *= 2;
    }
    if (!LANE) means[threadIdx.x / 32] = mean, squares[threadIdx.x / 32] = square;
    __syncthreads();
    if (threadIdx.x) return;
    for (int w = 1; w < 8; w++) {
        float apart = means[w] - mean, all = count * (w + 1);
        square += squares[w] + apart * apart * count * w * count / all, mean += apart / (w + 1);
    }
    out[blockIdx.x] = make_float2(mean, square / (8 * count));
}
KERNEL sample_grid(const float *x, const float2 *grid, float *y, int channels, int side)
{  // a thread per place, between four pixels of each channel
    int at = THREAD, n = side * side;
    float2 place = grid[at];
    float column = (place.x + 0.5f) * (side - 1), row = (place.y + 0.5f) * (side - 1);
    int c = min(int(column), side - 2), r = min(int(row), side - 2);
    float fc = column - c, fr = row - r;
    for (int channel = 0; channel < channels; channel++) {
        const float *from = x + (long long)channel * n + r * side + c;
        float above = from[0] + fc * (from[1] - from[0]);
        float below = from[side] + fc * (from[side + 1] - from[side]);
        y[(long long)channel * n + at] = above + fr * (below - above);
    }
}

// ---- physics ----
KERNEL boltzmann(const float *x, float *y, int side, float rate)
{  // nine directions, each an array of its own; from where they came
    int column = THREAD, row = blockIdx.y, n = side * side;
    const int dx[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, dy[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
    float f[9], all = 0, along = 0, down = 0;
#pragma unroll
    for (int k = 0; k < 9; k++) {
        int from = (row - dy[k] & side - 1) * side + (column - dx[k] & side - 1);
        f[k] = x[k * n + from], all += f[k], along += dx[k] * f[k], down += dy[k] * f[k];
    }
    along /= all, down /= all;
    float still = 1 - 1.5f * (along * along + down * down);
#pragma unroll
    for (int k = 0; k < 9; k++) {
        float w = k ? k < 5 ? 1 / 9.f : 1 / 36.f : 4 / 9.f, u = 3 * (dx[k] * along + dy[k] * down);
        y[k * n + row * side + column] = f[k] + rate * (w * all * (still + u + u * u / 2) - f[k]);
    }
}
KERNEL pair_forces(const float4 *at, const int *near, float4 *force, int most, int n)
{  // Lennard-Jones, by lists of neighbours
    int i = THREAD;
    if (i >= n) return;
    float4 own = at[i];
    float fx = 0, fy = 0, fz = 0;
    for (int k = 0; k < most; k++) {
        float4 other = at[near[k * n + i]];
        float x = own.x - other.x, y = own.y - other.y, z = own.z - other.z;
        float square = x * x + y * y + z * z + 0.01f;
        if (square < 0.9f) {
            float r2 = 1 / square, r6 = r2 * r2 * r2, f = r2 * r6 * (r6 - 0.5f);
            fx += x * f, fy += y * f, fz += z * f;
        }
    }
    force[i] = make_float4(fx, fy, fz, 0);
}
KERNEL cross_sections(const double *energies, const int *places, const double *rows,
                      const double *wanted, double *out, int count, int kinds, int n)
{  // a search, then two rows of each kind of atom between which the result lies
    int i = THREAD;
    if (i >= n) return;
    double energy = wanted[i] + 0.5, sums[3] = {};
    int low = 0, high = count - 1;
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (energies[middle] > energy) high = middle;
        else low = middle;
    }
    for (int k = 0; k < kinds; k++) {
        const double *row = rows + ((long long)k * 512 + places[low * kinds + k]) * 4;
        double share = (row[4] - energy) * 0.25;
        for (int c = 0; c < 3; c++) sums[c] += row[5 + c] - share * (row[5 + c] - row[1 + c]);
    }
    out[i] = sums[0] + sums[1] * sums[2];
}
KERNEL cells(const float *field, const unsigned char *counts, int *out, float level, int side)
{  // how many triangles each cube of eight places has (marching cubes)
    int i = THREAD, x = i % side, y = i / side % side, z = i / side / side;
    if (x == side - 1 || y == side - 1 || z == side - 1) return;
    int kind = 0;
    for (int k = 0; k < 8; k++) {
        int at = i + (k & 1) + (k >> 1 & 1) * side + (k >> 2) * side * side;
        kind |= (field[at] < level) << k;
    }
    out[i] = counts[kind];
}

// ---- lists, codes and searches ----
KERNEL ranks_of_digits(const unsigned *keys, int *ranks, int *counts, int shift)
{  // the place of each key among its block's keys of the same digit
    __shared__ int of_warps[8][16];
    int i = THREAD, warp = threadIdx.x / 32, digit = keys[i] >> shift & 15;
    for (int k = LANE; k < 16; k += 32) of_warps[warp][k] = 0;
    __syncwarp();
    unsigned same = __match_any_sync(~0u, digit);
    int before = __popc(same & (1u << LANE) - 1);
    if (!before) of_warps[warp][digit] = __popc(same);
    __syncthreads();
    if (threadIdx.x < 16) {
        int sum = 0;
        for (int w = 0; w < 8; w++) {
            int own = of_warps[w][threadIdx.x];
            of_warps[w][threadIdx.x] = sum, sum += own;
        }
        counts[threadIdx.x * gridDim.x + blockIdx.x] = sum;
    }
    __syncthreads();
    ranks[i] = of_warps[warp][digit] + before;
}
KERNEL sums_by_key(const int *keys, const float *x, float *sums, int n)
{  // keys are in order: a segmented sum by each warp, and an addition for each run
    int i = THREAD;
    int key = i < n ? keys[i] : -1;
    float v = i < n ? x[i] : 0;
    for (int step = 1; step < 32; step *= 2) {
        float other = __shfl_up_sync(~0u, v, step);
        int its = __shfl_up_sync(~0u, key, step);
        if (LANE >= step && its == key) v += other;
    }
    int next = __shfl_down_sync(~0u, key, 1);
    if (key >= 0 && (LANE == 31 || next != key)) atomicAdd(&sums[key], v);
}
KERNEL encode(const unsigned char *x, const unsigned *codes, const unsigned char *lengths,
              unsigned *out)
{  // codes of different lengths, side by side: a scan of their lengths, then bits in shared memory
    __shared__ int ends[256];
    __shared__ unsigned bits[256];
    int own = x[THREAD], length = lengths[own], t = threadIdx.x;
    ends[t] = length, bits[t] = 0;
    __syncthreads();
    for (int step = 1; step < 256; step *= 2) {
        int other = t >= step ? ends[t - step] : 0;
        __syncthreads();
        ends[t] += other;
        __syncthreads();
    }
    int first = ends[t] - length;
    unsigned long long code = (unsigned long long)codes[own] << (64 - length) >> (first & 31);
    atomicOr(&bits[first / 32], unsigned(code >> 32));
    if (unsigned rest = unsigned(code)) atomicOr(&bits[first / 32 + 1], rest);
    __syncthreads();
    out[THREAD] = bits[t];
}
KERNEL nearest_eight(const float2 *queries, const float2 *points, int *out, int count)
{  // the best so far in registers, points by the tile
    __shared__ float2 tile[256];
    float2 own = queries[THREAD];
    float best[8];
    int who[8];
    for (int k = 0; k < 8; k++) best[k] = 1e30f, who[k] = -1;
    for (int first = 0; first < count; first += 256) {
        tile[threadIdx.x] = points[first + threadIdx.x];
        __syncthreads();
        for (int j = 0; j < 256; j++) {
            float x = tile[j].x - own.x, y = tile[j].y - own.y, away = x * x + y * y;
            if (away >= best[7]) continue;
            best[7] = away, who[7] = first + j;
#pragma unroll
            for (int k = 7; k; k--)
                if (best[k] < best[k - 1]) {
                    float b = best[k];
                    int w = who[k];
                    best[k] = best[k - 1], best[k - 1] = b, who[k] = who[k - 1], who[k - 1] = w;
                }
        }
        __syncthreads();
    }
    for (int k = 0; k < 8; k++) out[THREAD * 8 + k] = who[k];
}
KERNEL checksums(const unsigned *x, const unsigned *table, unsigned *out, int words)
{  // cyclic redundancy, a byte at a time by a table in shared memory
    __shared__ unsigned kept[256];
    kept[threadIdx.x] = table[threadIdx.x];
    __syncthreads();
    unsigned sum = ~0u;
    for (int i = 0; i < words; i++) {
        unsigned v = x[i * gridDim.x * blockDim.x + THREAD];
        for (int k = 0; k < 4; k++, v >>= 8) sum = sum >> 8 ^ kept[(sum ^ v) & 255];
    }
    out[THREAD] = ~sum;
}
KERNEL rooks(const int *starts, int *found, int side, int n)
{  // places in the rows below two that are given, not beside the row before, by going back
    __shared__ int open[16][64], taken[16][64];
    int i = THREAD, t = threadIdx.x, all = (1 << side) - 1, count = 0, depth = 0;
    if (i >= n) return;
    int first = 1 << starts[i] % side, second = 1 << starts[i] / side % side;
    int columns = first | second;
    open[0][t] = all & ~(columns | second << 1 | second >> 1);
    while (depth >= 0) {
        int free = open[depth][t], bit = free & -free;
        if (!free) {
            if (depth--) columns ^= taken[depth][t];
            continue;
        }
        open[depth][t] = free ^ bit;
        count += depth + 3 == side;
        taken[depth][t] = bit, columns |= bit;
        if (depth + 3 < side) open[++depth][t] = all & ~columns & ~(bit << 1 | bit >> 1);
        else columns ^= bit;
    }
    found[i] = count;
}

// ---- arithmetic ----
KERNEL normals(float2 *out, unsigned seed, int each)
{  // xorwow, and Box and Muller's method
    unsigned v[5] = {seed, 362436069u ^ THREAD, 521288629u, 88675123u, 5783321u}, d = THREAD;
    for (int i = 0; i < each; i++) {
        float u[2];
        for (int k = 0; k < 2; k++) {
            unsigned t = v[0] ^ v[0] >> 2;
            v[0] = v[1], v[1] = v[2], v[2] = v[3], v[3] = v[4];
            v[4] = v[4] ^ v[4] << 4 ^ t ^ t << 1, d += 362437;
            u[k] = (v[4] + d) * 2.3283064e-10f + 1.1641532e-10f;
        }
        float far = sqrtf(-2 * logf(u[0])), sine, cosine;
        sincosf(6.2831853f * u[1], &sine, &cosine);
        out[i * gridDim.x * blockDim.x + THREAD] = make_float2(far * sine, far * cosine);
    }
}
KERNEL __launch_bounds__(256) product_ahead(const float *a, const float *b, float *c, int side)
{  // tiles of 64 x 64, four rows of sums by four; the next tiles are copied meanwhile
    __shared__ float4 tile_a[2][16][16], tile_b[2][16][16];
    int t = threadIdx.x, x = t % 16, y = t / 16, top = blockIdx.y * 64, left = blockIdx.x * 64;
    auto copy = [&](int k, int to) {  // a is stored with k first
        __pipeline_memcpy_async(&tile_a[to][y][x], &a[(k + y) * side + top + 4 * x], 16);
        __pipeline_memcpy_async(&tile_b[to][y][x], &b[(k + y) * side + left + 4 * x], 16);
        __pipeline_commit();
    };
    float sum[4][4] = {};
    copy(0, 0);
    for (int k = 0; k < side; k += 16) {
        int now = k / 16 & 1;
        if (k + 16 < side) copy(k + 16, now ^ 1);
        __pipeline_wait_prior(k + 16 < side);
        __syncthreads();
#pragma unroll
        for (int i = 0; i < 16; i++) {
            float4 p = tile_a[now][i][y], q = tile_b[now][i][x];
            float *of_a = &p.x, *of_b = &q.x;
            for (int r = 0; r < 4; r++)
                for (int s = 0; s < 4; s++) sum[r][s] += of_a[r] * of_b[s];
        }
        __syncthreads();
    }
    for (int r = 0; r < 4; r++)
        *(float4 *)&c[(top + 4 * y + r) * side + left + 4 * x] = *(float4 *)sum[r];
}
KERNEL sparse_blocks(const int *begins, const int *columns, const float4 *blocks, const float4 *x,
                     float4 *y, int rows)
{  // blocks of 4 x 4: a thread per row of such a block, four to each row of blocks
    int row = THREAD / 4, part = THREAD % 4;
    if (row >= rows) return;
    float sum = 0;
    for (int i = begins[row]; i < begins[row + 1]; i++) {
        float4 a = blocks[i * 4 + part], v = x[columns[i]];
        sum += a.x * v.x + a.y * v.y + a.z * v.z + a.w * v.w;
    }
    ((float *)y)[THREAD] = sum;
}
