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
