// Barriers that not all threads of a block reach.

// launch: grid 4, block 256; in float 900, new float 900, int 900
extern "C" __global__ void early_return(const float *x, float *y, int n)
{
    __shared__ float s[256];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
#if BUG
    if (i >= n) return;
    s[t] = x[i];
    __syncthreads();  // caught: divergent barrier
    y[i] = s[t] + s[t ^ 1];
#else
    s[t] = i < n ? x[i] : 0;
    __syncthreads();
    if (i < n) y[i] = s[t] + s[t ^ 1];
#endif
}

// launch: grid 1, block 128; in float 1000, new float 1, int 1000
extern "C" __global__ void uneven_loop(const float *x, float *out, int n)
{
    __shared__ float s[128];
    int t = threadIdx.x;
    float sum = 0;
#if BUG
    for (int i = t; i < n; i += 128) {
        s[t] = x[i];
        __syncthreads();  // caught: divergent barrier
        sum += s[t ^ 32];
        __syncthreads();
    }
#else
    for (int first = 0; first < n; first += 128) {
        s[t] = first + t < n ? x[first + t] : 0;
        __syncthreads();
        sum += s[t ^ 32];
        __syncthreads();
    }
#endif
    atomicAdd(&s[0], sum);
    __syncthreads();
    if (t == 0) *out = s[0];
}

// Warps of two roles meet, each where its own work is done.
// launch: grid 1, block 128; in float 128, new float 128
extern "C" __global__ void two_roles(const float *x, float *y)
{
    __shared__ float row[128];
    int i = threadIdx.x;
    row[i] = x[i];
    if (i < 64) {
#if BUG
        __syncthreads();  // caught: divergent barrier
#else
        asm volatile("barrier.sync 1;" ::: "memory");
#endif
        y[i] = row[i + 64];
    } else {
#if BUG
        __syncthreads();  // caught: divergent barrier
#else
        asm volatile("barrier.sync 1;" ::: "memory");
#endif
        y[i] = row[i - 64];
    }
}

// launch: grid 1, block 96; in float 96, new int 96
extern "C" __global__ void counting_barrier(const float *x, int *y)
{
    int t = threadIdx.x;
    int negative = 0;
#if BUG
    if (t < 40) negative = __syncthreads_count(x[t] < 0);  // caught: divergent barrier
#else
    negative = __syncthreads_count(t < 40 && x[t] < 0);
#endif
    y[t] = negative;
}

__device__ float block_total(float v)
{
    __shared__ float total;
    if (threadIdx.x == 0) total = 0;
    __syncthreads();  // caught in called_by_some: divergent barrier
    atomicAdd(&total, v);
    __syncthreads();
    return total;
}

// launch: grid 2, block 128; in float 256, new float 256
extern "C" __global__ void called_by_some(const float *x, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
#if BUG
    if (x[i] > 0) y[i] = block_total(x[i]);
#else
    float total = block_total(x[i] > 0 ? x[i] : 0);
    if (x[i] > 0) y[i] = total;
#endif
}
