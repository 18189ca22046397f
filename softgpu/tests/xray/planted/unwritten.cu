// Reads of what nothing has written.

// launch: grid 2, block 128; in float 256, new float 2
extern "C" __global__ void shared_accumulator(const float *x, float *out)
{
    __shared__ float sum;
#if !BUG
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
#endif
    atomicAdd(&sum, x[blockIdx.x * blockDim.x + threadIdx.x]);  // caught: uninitialised read
    __syncthreads();
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

// launch: grid 4, block 128; in float 512, zero float 1
// launch if BUG: grid 4, block 128; in float 512, new float 1
extern "C" __global__ void output_not_zeroed(const float *x, float *out)
{
    atomicAdd(out, x[blockIdx.x * blockDim.x + threadIdx.x]);  // caught: uninitialised read
}

// launch: grid 1, block 64; in float 64, new float 64, index int 64 4
extern "C" __global__ void local_partly(const float *x, float *y, const int *pick)
{
    float best[8];
#if BUG
    for (int k = 0; k < 3; k++) best[pick[k]] = x[k];
#else
    for (int k = 0; k < 8; k++) best[k] = 0;
    for (int k = 0; k < 3; k++) best[pick[k]] = x[k];
#endif
    y[threadIdx.x] = best[pick[threadIdx.x] + 4];  // caught: uninitialised read
}

struct Bits {
    unsigned low : 3, middle : 9, high : 20;
};

// launch: grid 1, block 64; index int 64 8, new int 64, new int 64
extern "C" __global__ void bits_set_one_by_one(const int *x, Bits *y, int *z)
{
    int t = threadIdx.x;
    y[t].low = x[t];
    y[t].high = 2 * x[t];
#if BUG
    if (t < 63) z[t] = y[t + 64 - 64].low;
    z[t] += x[t];  // caught: uninitialised read
#else
    z[t] = y[t].low + x[t];
#endif
}

// launch: grid 1, block 64; in float 64, new float 64
extern "C" __global__ void block_of_malloc(const float *x, float *y)
{
    int t = threadIdx.x;
    float *own = static_cast<float *>(malloc(4 * sizeof *own));
    if (!own) return;
    own[t % 4] = x[t];
    if (!BUG) own[(t + 1) % 4] = -x[t];
    y[t] = own[(t + 1) % 4];  // caught: uninitialised read
    free(own);
}

// Nobody clears the sum: a register, which holds 0 by luck.
// launch: grid 1, block 64; in float 64, new float 64, int 4
extern "C" __global__ void sum_not_cleared(const float *x, float *y, int n)
{
#if BUG
    float sum;
#else
    float sum = 0;
#endif
    for (int k = 0; k < n; k++) sum += x[(threadIdx.x + k) % 64];  // caught: uninitialised read
    y[threadIdx.x] = sum;
}

// Only some threads give it a value; those that have none must not use it.
// launch: grid 1, block 64; in int 64, zero int 64, int 40
extern "C" __global__ void value_on_one_path(const int *x, int *y, int n)
{
    int found, t = threadIdx.x;
    if (t < n) found = atomicAdd(y + t, 0) + x[t];
#if !BUG
    if (t < n)
#endif
        y[t] = found;  // caught: uninitialised read
}
