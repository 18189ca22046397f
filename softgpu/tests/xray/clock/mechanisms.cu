// Tiles of floats in registers, local memory, structs that are read in part, and scans in shared
// memory: mechanisms.py launches them.
#define KERNEL extern "C" __global__ void
#define THREAD (blockIdx.x * blockDim.x + threadIdx.x)

// ---- tiles in registers ----
template <int SIDE, int TILE, int DEEP>
__device__ void product(const float *a, const float *b, float *c, int n)
{
    constexpr int ACROSS = SIDE / TILE, THREADS = ACROSS * ACROSS;
    __shared__ float rows[DEEP][SIDE], columns[DEEP][SIDE];
    int t = threadIdx.x, x = t % ACROSS * TILE, y = t / ACROSS * TILE;
    int top = blockIdx.y * SIDE, left = blockIdx.x * SIDE;
    float sums[TILE][TILE] = {};
    for (int k = 0; k < n; k += DEEP) {
        for (int i = t; i < SIDE * DEEP; i += THREADS) {
            rows[i % DEEP][i / DEEP] = a[(top + i / DEEP) * n + k + i % DEEP];
            columns[i / SIDE][i % SIDE] = b[(k + i / SIDE) * n + left + i % SIDE];
        }
        __syncthreads();
#pragma unroll
        for (int d = 0; d < DEEP; d++) {
            float r[TILE], s[TILE];
#pragma unroll
            for (int i = 0; i < TILE; i++) r[i] = rows[d][y + i], s[i] = columns[d][x + i];
#pragma unroll
            for (int i = 0; i < TILE; i++)
#pragma unroll
                for (int j = 0; j < TILE; j++) sums[i][j] += r[i] * s[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < TILE; i++)
        for (int j = 0; j < TILE; j++) c[(top + y + i) * n + left + x + j] = sums[i][j];
}
KERNEL product_2x2(const float *a, const float *b, float *c, int n)
{ product<32, 2, 16>(a, b, c, n); }
KERNEL product_4x4(const float *a, const float *b, float *c, int n)
{ product<64, 4, 16>(a, b, c, n); }
KERNEL product_8x8(const float *a, const float *b, float *c, int n)
{ product<128, 8, 8>(a, b, c, n); }
KERNEL filter_registers(const float *x, const float *taps, float *y, int n)
{
    int first = THREAD * 8;
    if (first + 40 > n) return;
    float window[8], sums[8] = {};
    for (int i = 0; i < 8; i++) window[i] = x[first + i];
#pragma unroll
    for (int k = 0; k < 32; k++) {
        float tap = taps[k];
#pragma unroll
        for (int i = 0; i < 8; i++) sums[i] += tap * window[(k + i) % 8];
        window[k % 8] = x[first + 8 + k];
    }
    for (int i = 0; i < 8; i++) y[first + i] = sums[i];
}
KERNEL distances(const float *points, const float *centres, int *nearest, int n)
{
    int i = THREAD;
    if (i >= n) return;
    float p[16], least = 1e30f;
    for (int d = 0; d < 16; d++) p[d] = points[d * n + i];
    int best = 0;
    for (int c = 0; c < 32; c++) {
        float sum = 0;
#pragma unroll
        for (int d = 0; d < 16; d++) {
            float off = p[d] - centres[c * 16 + d];
            sum += off * off;
        }
        if (sum < least) least = sum, best = c;
    }
    nearest[i] = best;
}

// ---- local memory ----
KERNEL median_of_nine(const float *x, float *y, int side)
{
    int column = THREAD, row = blockIdx.y;
    if (column < 1 || column >= side - 1 || row < 1 || row >= side - 1) return;
    float v[9];
    for (int i = 0; i < 9; i++) v[i] = x[(row + i / 3 - 1) * side + column + i % 3 - 1];
#pragma unroll 1
    for (int i = 0; i < 5; i++) {
        int least = i;
#pragma unroll 1
        for (int j = i + 1; j < 9; j++)
            if (v[j] < v[least]) least = j;
        float kept = v[i];
        v[i] = v[least];
        v[least] = kept;
    }
    y[row * side + column] = v[4];
}
KERNEL bins_of_threads(const unsigned *x, unsigned *bins, int n)
{
    unsigned own[32] = {};
    for (int i = THREAD; i < n; i += gridDim.x * blockDim.x) own[x[i] & 31]++;
    for (int b = 0; b < 32; b++)
        if (own[b]) atomicAdd(&bins[b], own[b]);
}
KERNEL look_up(const int *which, const float *x, float *y, int n)
{
    int i = THREAD;
    if (i >= n) return;
    float table[16];
    for (int k = 0; k < 16; k++) table[k] = x[i] * k + 1;
    float sum = 0;
#pragma unroll 1
    for (int k = 0; k < 16; k++) sum = sum * 0.5f + table[which[i] + k & 15];
    y[i] = sum;
}
extern "C" __global__ void __launch_bounds__(1024, 2) spilled(const float *x, float *y, int n)
{
    int i = THREAD;
    if (i >= n) return;
    float v[48];
#pragma unroll
    for (int k = 0; k < 48; k++) v[k] = x[(i + k * 1024) % n];
#pragma unroll
    for (int step = 1; step < 48; step *= 2)
#pragma unroll
        for (int k = 0; k < 48; k++) v[k] += v[(k + step) % 48] * 0.5f;
    float sum = 0;
#pragma unroll
    for (int k = 0; k < 48; k++) sum += v[k] * v[47 - k];
    y[i] = sum;
}

// ---- structs ----
struct Vector {
    float x, y, z;
};
struct Particle {
    float x, y, z, vx, vy, vz, mass;
};
struct Record {
    double when;
    int kind;
    float values[7];
};
KERNEL lengths(const Vector *v, float *out, int n)
{
    int i = THREAD;
    if (i < n) out[i] = sqrtf(v[i].x * v[i].x + v[i].y * v[i].y + v[i].z * v[i].z);
}
KERNEL step_particles(Particle *p, float dt, int n)
{
    int i = THREAD;
    if (i >= n) return;
    p[i].x += dt * p[i].vx;
    p[i].y += dt * p[i].vy;
    p[i].z += dt * p[i].vz;
}
KERNEL energy(const Particle *p, float *out, int n)
{
    int i = THREAD;
    if (i >= n) return;
    Particle q = p[i];
    out[i] = q.mass * (q.vx * q.vx + q.vy * q.vy + q.vz * q.vz) / 2;
}
KERNEL one_field(const Record *r, float *out, int n)
{
    int i = THREAD;
    if (i < n) out[i] = r[i].kind == 3 ? r[i].values[2] : 0;
}

// ---- scans ----
KERNEL scan_steps(const float *x, float *y, int n)
{
    __shared__ float s[1024];
    int t = threadIdx.x;
    s[t] = x[THREAD];
    __syncthreads();
    for (int step = 1; step < 1024; step *= 2) {
        float more = t >= step ? s[t - step] : 0;
        __syncthreads();
        s[t] += more;
        __syncthreads();
    }
    y[THREAD] = s[t];
}
KERNEL scan_tree(const float *x, float *y, int n)
{
    __shared__ float s[1024];
    int t = threadIdx.x, first = blockIdx.x * 1024;
    s[2 * t] = x[first + 2 * t];
    s[2 * t + 1] = x[first + 2 * t + 1];
    int step = 1;
    for (int left = 512; left; left /= 2, step *= 2) {
        __syncthreads();
        if (t < left) s[step * (2 * t + 2) - 1] += s[step * (2 * t + 1) - 1];
    }
    if (!t) s[1023] = 0;
    for (int left = 1; left < 1024; left *= 2) {
        step /= 2;
        __syncthreads();
        if (t < left) {
            int low = step * (2 * t + 1) - 1, high = step * (2 * t + 2) - 1;
            float kept = s[low];
            s[low] = s[high];
            s[high] += kept;
        }
    }
    __syncthreads();
    y[first + 2 * t] = s[2 * t];
    y[first + 2 * t + 1] = s[2 * t + 1];
}
KERNEL scan_runs(const float *x, float *y, int n)
{
    __shared__ float s[256 * 9], sums[256];
    int t = threadIdx.x, first = blockIdx.x * 2048;
    for (int i = t; i < 2048; i += 256) s[i / 8 * 9 + i % 8] = x[first + i];
    __syncthreads();
    float sum = 0;
    for (int i = 0; i < 8; i++) s[t * 9 + i] = sum += s[t * 9 + i];
    sums[t] = sum;
    __syncthreads();
    for (int step = 1; step < 256; step *= 2) {
        float more = t >= step ? sums[t - step] : 0;
        __syncthreads();
        sums[t] += more;
        __syncthreads();
    }
    float before = t ? sums[t - 1] : 0;
    for (int i = 0; i < 8; i++) s[t * 9 + i] += before;
    __syncthreads();
    for (int i = t; i < 2048; i += 256) y[first + i] = s[i / 8 * 9 + i % 8];
}
