// Lanes of one warp that count on running in step, and shuffles with lanes that are not there.

// launch: grid 2, block 64; in float 128, new float 2
extern "C" __global__ void last_warp_volatile(const float *x, float *out)
{
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = x[blockIdx.x * blockDim.x + t];
    __syncthreads();
    if (t < 32) {
        volatile float *v = s;
#if BUG
        v[t] += v[t + 32];
        v[t] += v[t + 16];  // caught: missing __syncwarp
        v[t] += v[t + 8];
        v[t] += v[t + 4];
        v[t] += v[t + 2];
        v[t] += v[t + 1];
#else
        for (int half = 32; half > 0; half /= 2) {
            float other = v[t + half];
            __syncwarp();
            v[t] += other;
            __syncwarp();
        }
#endif
    }
    if (t == 0) out[blockIdx.x] = s[0];
}

// launch: grid 1, block 64; in float 64, new float 64
extern "C" __global__ void second_syncwarp(const float *x, float *y)
{
    __shared__ float s[64];
    int t = threadIdx.x;
    float v = x[t];
    for (int k = 1; k < 8; k *= 2) {
        s[t] = v;  // caught: missing __syncwarp
        __syncwarp();
        v += s[t ^ k];  // caught: missing __syncwarp
        if (!BUG) __syncwarp();
    }
    y[t] = v;
}

// launch: grid 1, block 32; in float 32, new float 32
extern "C" __global__ void syncwarp_in_branch(const float *x, float *y)
{
    __shared__ float s[32];
    int t = threadIdx.x;
    float v = 0;
    s[t] = x[t];
    if (!BUG) __syncwarp();
    if (t < 16) {
        if (BUG) __syncwarp();  // caught: divergent barrier
        v = s[t] + s[t + 16];
    }
    y[t] = v;
}

// Lanes that have returned need not take part, and nobody reads theirs: no bug.
// launch: grid 1, block 64; in float 40, new float 5, int 5
extern "C" __global__ void groups_of_eight(const float *x, float *out, int rows)
{
    int row = threadIdx.x / 8, lane = threadIdx.x % 8;
    if (row >= rows) return;
    float v = x[row * 8 + lane];
#if BUG
    for (int m = 16; m > 0; m /= 2)
        v += __shfl_xor_sync(0xffffffff, v, m);  // caught: inactive shuffle
#else
    for (int m = 4; m > 0; m /= 2) v += __shfl_xor_sync(0xffffffff, v, m);
#endif
    if (lane == 0) out[row] = v;
}

// launch: grid 1, block 32; in float 32, new float 1
extern "C" __global__ void shuffle_mask_too_small(const float *x, float *out)
{
    int t = threadIdx.x;
    float v = x[t];
#if BUG
    unsigned mask = 0x0000ffff;
#else
    unsigned mask = 0xffffffff;
#endif
    for (int m = 16; m > 0; m /= 2) v += __shfl_down_sync(mask, v, m);  // caught: inactive shuffle
    if (t == 0) *out = v;
}

// A mask is of those who take part, not of those whose votes are wanted.
// launch: grid 1, block 32; in int 32, new int 32
extern "C" __global__ void vote_of_lanes_before(const int *x, int *out)
{
    unsigned before = (1u << threadIdx.x) - 1;
#if BUG
    unsigned votes = __ballot_sync(before, x[threadIdx.x] > 50);  // caught: inactive shuffle
#else
    unsigned votes = __ballot_sync(0xffffffff, x[threadIdx.x] > 50) & before;
#endif
    out[threadIdx.x] = __popc(votes);
}

// What a lane gets that is neither there nor named may be anything: it is thrown away.
// launch: grid 1, block 32; in float 20, new float 1, int 20
extern "C" __global__ void taken_from_those_there(const float *x, float *out, int n)
{
    int t = threadIdx.x;
    unsigned mask = __ballot_sync(0xffffffff, t < n);
    if (t >= n) return;
    float v = x[t];
    for (int m = 16; m > 0; m /= 2) {
        float other = __shfl_down_sync(mask, v, m);  // caught: inactive shuffle
#if BUG
        v += other;
#else
        if (t + m < n) v += other;
#endif
    }
    if (t == 0) *out = v;
}

__device__ void multiply_add(float (&sum)[4], unsigned a, unsigned b)
{
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %4}, "
                 "{%5}, {%0, %1, %2, %3};"
                 : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
                 : "r"(a), "r"(b));  // caught in product_of_half_a_warp: divergent barrier
}

// launch: grid 1, block 64; in uint 64, new float 64
extern "C" __global__ void product_of_half_a_warp(const unsigned *x, float *y)
{
    int t = threadIdx.x;
    float sum[4] = {};
#if BUG
    if (t % 32 < 16) multiply_add(sum, x[t], x[t]);
#else
    if (t / 32 < 1) multiply_add(sum, x[t], x[t]);
#endif
    y[t] = sum[0] + sum[3];
}

// launch: grid 1, block 32; in uint 32, new uint 32
extern "C" __global__ void matrix_after_a_return(const unsigned *x, unsigned *y)
{
    __shared__ __align__(16) unsigned s[32];
    int t = threadIdx.x;
    s[t] = x[t];
    __syncthreads();
    if (BUG && t > 30) return;
    unsigned row;
    asm volatile(
        "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"
        : "=r"(row)
        : "r"((unsigned)__cvta_generic_to_shared(s + t % 8 * 4)));  // caught: divergent barrier
    y[t] = row;
}
