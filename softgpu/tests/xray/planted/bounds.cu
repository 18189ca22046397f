// Accesses outside of what was allocated.

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
