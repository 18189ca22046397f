// Blocks of one launch that meet in global memory.

// launch: grid 4, block 64; in float 256
extern "C" __global__ void in_place(float *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    bool last = i == gridDim.x * blockDim.x - 1;
#if BUG
    float next = last ? 0 : x[i + 1];  // caught: race
#else
    float next = threadIdx.x == 63 || last ? 0 : x[i + 1];
#endif
    __syncthreads();
    x[i] = x[i] - next;  // caught: race
}

// launch: grid 8, block 64; in float 512, new float 8, new float 1, zero uint 1
extern "C" __global__ void last_block_no_fence(const float *x, float *totals, float *out,
                                               unsigned *arrived)
{
    __shared__ float s[64];
    __shared__ bool last;
    int t = threadIdx.x;
    s[t] = x[blockIdx.x * 64 + t];
    __syncthreads();
    for (int half = 32; half > 0; half /= 2) {
        if (t < half) s[t] += s[t + half];
        __syncthreads();
    }
    if (t == 0) {
        totals[blockIdx.x] = s[0];  // caught: race
        if (!BUG) __threadfence();
        last = atomicInc(arrived, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && t == 0) {
        float sum = 0;
        for (unsigned b = 0; b < gridDim.x; b++) sum += totals[b];  // caught: race
        *out = sum;
    }
}

// All threads write, one counts the block: the others may not be done.
// launch: grid 4, block 64; in float 256, new float 256, new float 1, zero uint 1
extern "C" __global__ void last_block_no_barrier(const float *x, float *y, float *out,
                                                 unsigned *arrived)
{
    __shared__ bool last;
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    y[i] = x[i] * x[i];  // caught: race
    __threadfence();
    if (!BUG) __syncthreads();
    if (t == 63) last = atomicInc(arrived, gridDim.x - 1) == gridDim.x - 1;
    __syncthreads();
    if (last && t == 0) {
        float sum = 0;
        for (unsigned k = 0; k < 64 * gridDim.x; k++) sum += y[k];  // caught: race
        *out = sum;
    }
}

// launch: grid 2, block 32; in float 32, new float 32, new float 32, zero int 1
extern "C" __global__ void plain_flag(const float *x, float *between, float *y, int *flag)
{
    int t = threadIdx.x;
    if (blockIdx.x == 0) {
        between[t] = x[t];
        __threadfence();
        __syncwarp();
#if BUG
        if (t == 0) *flag = 1;  // caught: race
#else
        if (t == 0) atomicExch(flag, 1);
#endif
    } else {
#if BUG
        int seen = *flag;  // caught: race
#else
        int seen = atomicAdd(flag, 0);
#endif
        __threadfence();
        if (seen) y[t] = between[t];
    }
}

// launch: grid 2, block 64; in float 128, new float 2
extern "C" __global__ void every_thread_writes(const float *x, float *out)
{
    int t = threadIdx.x;
    float v = x[blockIdx.x * 64 + t];
    for (int m = 16; m > 0; m /= 2) v += __shfl_down_sync(0xffffffff, v, m);
#if BUG
    out[blockIdx.x] = v;  // caught: double write
#else
    if (t == 0) out[blockIdx.x] = v;
#endif
}

// Four bits an element: two threads share a byte.
// launch: grid 2, block 64; index int 128 16, zero uchar 64
extern "C" __global__ void nibbles(const int *x, unsigned char *y)
{
    int i = blockIdx.x * 64 + threadIdx.x;
#if BUG
    y[i / 2] |= x[i] << 4 * (i % 2);  // caught: race
#else
    if (i % 2 == 0) y[i / 2] = x[i] | x[i + 1] << 4;
#endif
}

// An atomic of the block's scope is none between blocks.
// launch: grid 4, block 32; index int 128 4, zero int 1
extern "C" __global__ void scope_of_a_block(const int *x, int *out)
{
    int v = x[blockIdx.x * 32 + threadIdx.x];
#if BUG
    atomicAdd_block(out, v);  // caught: race
#else
    atomicAdd(out, v);
#endif
}

// The first, plain read is only a guess that the swap confirms: no race.
// launch: grid 4, block 64; in float 256, zero float 1
extern "C" __global__ void maximum_by_swap(const float *x, float *out)
{
    float v = fabsf(x[blockIdx.x * 64 + threadIdx.x]);
#if BUG
    if (v > *out) *out = v;  // caught: race
#else
    int *place = reinterpret_cast<int *>(out), old = *place, guess;
    do {
        guess = old;
        if (v <= __int_as_float(guess)) break;
        old = atomicCAS(place, guess, __float_as_int(v));
    } while (old != guess);
#endif
}

// launch: grid 4, block 64; in float 256, zero float 2, zero int 1
extern "C" __global__ void behind_a_lock(const float *x, float *out, int *lock)
{
    if (threadIdx.x > 0) return;
    while (atomicCAS(lock, 0, 1) != 0) {}
    __threadfence();
    out[0] += x[blockIdx.x * 64];  // caught: race
    out[1] = fmaxf(out[1], out[0]);
    if (!BUG) __threadfence();
    atomicExch(lock, 0);
}

// Who drew the last ticket does.
// launch: grid 3, block 32; zero int 1
extern "C" __global__ void cleared_with_the_last_ticket(int *tickets)
{
    if (threadIdx.x > 0) return;
#if BUG
    atomicAdd(tickets, 1);              // caught: race
    if (blockIdx.x == 2) *tickets = 0;  // caught: race
#else
    if (atomicAdd(tickets, 1) == 2) *tickets = 0;
#endif
}

// Volatile reads may meet an atomic, a plain one between them may not.
// launch: grid 4, block 32; zero int 1, new int 3
extern "C" __global__ void read_among_volatile_reads(int *flag, int *y)
{
    int b = blockIdx.x;
    if (threadIdx.x > 0) return;
    if (b == 3) atomicExch(flag, 1);  // caught: race
#if BUG
    else if (b == 1) y[b] = *flag;  // caught: race
#endif
    else y[b] = *(volatile int *)flag;
}
