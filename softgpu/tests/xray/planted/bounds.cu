// Accesses outside of what was allocated.

// launch: grid 4, block 256; in float 1000, new float 1000, int 1000
extern "C" __global__ void tail_missing(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
#if BUG
    y[i] = 2 * x[i];  // caught: out of bounds
#else
    if (i < n) y[i] = 2 * x[i];
#endif
}

// launch: grid 2, block 64; in float 1280, new float 128, int 10, int 128
extern "C" __global__ void rows_by_four(const float *x, float *out, int rows, int columns)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int row = 0; row < rows; row += 4)
        for (int k = 0; k < 4; k++)
#if BUG
            sum += x[(row + k) * columns + column];  // caught: out of bounds
#else
            if (row + k < rows) sum += x[(row + k) * columns + column];
#endif
    out[column] = sum;
}

// launch: grid 4, block 256; in float 1000, new float 1000, int 1000
extern "C" __global__ void left_edge(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
#if BUG
    y[i] = x[i] - x[i - 1];  // caught: out of bounds
#else
    y[i] = i > 0 ? x[i] - x[i - 1] : x[i];
#endif
}

// From i = 810 on, the product does not fit an int.
// launch: grid 4, block 256; in float 1000, new float 1000, int 1000
extern "C" __global__ void product_overflows(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
#if BUG
    y[i] = x[i * 2654435 % n];  // caught: out of bounds
#else
    y[i] = x[i * 2654435ll % n];
#endif
}

// launch: grid 1, block 256; in float 1002, new float 1002, int 1002
extern "C" __global__ void pack_tail(const float *x, float *y, int n)
{
    int i = threadIdx.x;
#if BUG
    int packs = (n + 3) / 4;
#else
    int packs = n / 4;
#endif
    if (i < packs) {
        float4 p = reinterpret_cast<const float4 *>(x)[i];  // caught: out of bounds
        y[4 * i] = p.x + p.w;
    }
}

// The second array begins some bytes past the end of the first: there is memory, but not this array's.
// launch: grid 4, block 256; in float 896, in float 1024, new float 1024
extern "C" __global__ void into_the_next(const float *a, const float *b, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
#if BUG
    y[i] = a[i + 300] + b[i];  // caught: out of bounds
#else
    y[i] = a[i < 896 ? i : 895] + b[i];
#endif
}

// launch: grid 1, block 256, shared 1024; in float 512, new float 256
extern "C" __global__ void shared_at_launch(const float *x, float *y)
{
    extern __shared__ float s[];
    int i = threadIdx.x;
    s[i] = x[i];
    if (BUG) s[i + blockDim.x] = x[i + blockDim.x];  // caught: out of bounds
    __syncthreads();
    y[i] = s[255 - i];
}

// launch: grid 4, block 256; in float 1024, new float 1024, int 1024
extern "C" __global__ void halo_forgotten(const float *x, float *y, int n)
{
#if BUG
    __shared__ float s[256];
#else
    __shared__ float s[258];
#endif
    int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
    s[t + 1] = x[i];  // caught: out of bounds
    if (t == 0) s[0] = i > 0 ? x[i - 1] : 0;
    if (t == 255) s[t + 2] = i + 1 < n ? x[i + 1] : 0;
    __syncthreads();
    y[i] = s[t] + s[t + 1] + s[t + 2];
}

// launch: grid 1, block 128; in float 128, new float 128
extern "C" __global__ void before_the_first(const float *x, float *y)
{
    __shared__ float s[128];
    int t = threadIdx.x;
    s[t] = x[t];
    __syncthreads();
#if BUG
    y[t] = s[t] - s[t - 1];  // caught: out of bounds
#else
    y[t] = t > 0 ? s[t] - s[t - 1] : s[t];
#endif
}

// 100 threads are four warps, the last of which is not full.
// launch: grid 1, block 100, shared 16; in float 100, zero float 1
// launch if BUG: grid 1, block 100, shared 12; in float 100, zero float 1
extern "C" __global__ void a_slot_a_warp(const float *x, float *out)
{
    extern __shared__ float totals[];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (lane == 0) totals[warp] = x[threadIdx.x];  // caught: out of bounds
    __syncthreads();
    if (threadIdx.x < (blockDim.x + 31) / 32) atomicAdd(out, totals[threadIdx.x]);
}

// launch: grid 1, block 64; in float 64, new float 64, index int 64 4
// launch if BUG: grid 1, block 64; in float 64, new float 64, index int 64 6
extern "C" __global__ void local_array(const float *x, float *y, const int *bin)
{
    float counts[4] = {0, 0, 0, 0};
    for (int i = 0; i < 64; i++) counts[bin[i]] += x[i];  // caught: out of bounds
    y[threadIdx.x] = counts[threadIdx.x % 4];
}

// launch: grid 1, block 64; in float 64, new float 64
// launch if BUG: grid 1, block 64; in float 64, long 0
extern "C" __global__ void null_output(const float *x, float *y)
{
    y[threadIdx.x] = x[threadIdx.x];  // caught: out of bounds
}

__device__ float last_scale[8];

// launch: grid 1, block 8; in float 8, new float 8
extern "C" __global__ void module_variable(const float *x, float *y)
{
    int t = threadIdx.x;
    last_scale[t] = x[t];
    __syncthreads();
#if BUG
    y[t] = last_scale[t + 1];  // caught: out of bounds
#else
    y[t] = last_scale[7 - t];
#endif
}

__device__ __noinline__ int *own_place(int value)
{
    int own[4];
    for (int k = 0; k < 4; k++) own[k] = value + k;
#if BUG
    int *place = own;
    asm volatile("" : "+l"(place)::"memory");
    return place;
#else
    return nullptr;
#endif
}

// The variables of a function end when it returns.
// launch: grid 1, block 32; index int 32 4, new int 32
extern "C" __global__ void after_the_return(const int *x, int *y)
{
    int *place = own_place(x[threadIdx.x]), own[4] = {};
    own[x[threadIdx.x]] = 1;
    y[threadIdx.x] = (place ? place[x[threadIdx.x]] : 0) + own[3];  // caught: out of bounds
}

// launch: grid 1, block 32; in float 32, new float 32
extern "C" __global__ void past_a_block_of_malloc(const float *x, float *y)
{
    int t = threadIdx.x;
    float *own = static_cast<float *>(malloc(12));
    if (!own) return;
    for (int k = 0; k < 3 + BUG; k++) own[k] = x[t];  // caught: out of bounds
    y[t] = own[1];
    free(own);
}
