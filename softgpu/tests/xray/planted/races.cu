// Threads of one block that meet in shared memory without a barrier.

// launch: grid 2, block 256; in float 512, new float 2
extern "C" __global__ void no_barrier_between_levels(const float *x, float *out)
{
    __shared__ float s[256];
    int t = threadIdx.x;
    s[t] = x[blockIdx.x * blockDim.x + t];
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (t < half) s[t] += s[t + half];  // caught: race
        if (!BUG) __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = s[0];
}

// launch: grid 2, block 128; index int 256 16, zero int 16
extern "C" __global__ void histogram(const int *x, int *bins)
{
    __shared__ int own[16];
    int t = threadIdx.x;
    if (t < 16) own[t] = 0;
    __syncthreads();
    int bin = x[blockIdx.x * blockDim.x + t];
#if BUG
    own[bin] += 1;  // caught: race
#else
    atomicAdd(&own[bin], 1);
#endif
    __syncthreads();
    if (t < 16) atomicAdd(&bins[t], own[t]);
}

// launch: grid 2x2, block 16x16; in float 1024, in float 1024, new float 1024
extern "C" __global__ void matmul_tile(const float *a, const float *b, float *c)
{
    __shared__ float p[16][16], q[16][16];
    int x = threadIdx.x, y = threadIdx.y, column = blockIdx.x * 16 + x, row = blockIdx.y * 16 + y;
    float sum = 0;
    for (int k = 0; k < 32; k += 16) {
        p[y][x] = a[row * 32 + k + x];
        q[y][x] = b[(k + y) * 32 + column];  // caught: race
        __syncthreads();
        for (int i = 0; i < 16; i++) sum += p[y][i] * q[i][x];  // caught: race
        if (!BUG) __syncthreads();
    }
    c[row * 32 + column] = sum;
}

// Bytes next to each other are no race; a word that holds four of them is.
// launch: grid 1, block 128; index int 128 256, new uchar 128
extern "C" __global__ void bytes_by_words(const int *x, unsigned char *y)
{
    __shared__ unsigned words[32];
    int t = threadIdx.x;
#if BUG
    if (t < 32) words[t] = 0;
    __syncthreads();
    words[t / 4] |= x[t] << 8 * (t % 4);  // caught: race
#else
    reinterpret_cast<unsigned char *>(words)[t] = x[t];
#endif
    __syncthreads();
    y[t] = reinterpret_cast<unsigned char *>(words)[t];
}

// Producer and consumer warps meet at a barrier of their own, two warps each.
// launch: grid 1, block 64; in float 64, new float 32
extern "C" __global__ void named_barrier(const float *x, float *y)
{
    __shared__ float s[32];
    int t = threadIdx.x;
    if (t < 32) {
        s[t] = x[t] * x[t + 32];  // caught: race
#if !BUG
        asm volatile("bar.arrive 1, 64;" ::: "memory");
#endif
    } else {
#if !BUG
        asm volatile("bar.sync 1, 64;" ::: "memory");
#endif
        y[t - 32] = s[63 - t];  // caught: race
    }
}

// A producer arrives for the second time before the first values have been read.
// launch: grid 1, block 64; in float 32, new float 32
extern "C" __global__ void arrived_twice(const float *x, float *y)
{
    __shared__ float s[32];
    int t = threadIdx.x % 32;
    if (threadIdx.x >= 32) {
        s[t] = x[t];
        asm volatile("bar.arrive 1, 64;" ::: "memory");
#if !BUG
        asm volatile("bar.sync 2, 64;" ::: "memory");
#endif
        s[t] = 2 * x[t];  // caught: race
        asm volatile("bar.arrive 1, 64;" ::: "memory");
    } else {
        asm volatile("bar.sync 1, 64;" ::: "memory");
        float first = s[31 - t];  // caught: race
#if !BUG
        asm volatile("bar.arrive 2, 64;" ::: "memory");
#endif
        asm volatile("bar.sync 1, 64;" ::: "memory");
        y[t] = first + s[31 - t];
    }
}

// A value that one warp waits for: volatile is enough if nothing else is handed over.
// launch: grid 1, block 64; in float 64, new float 64
extern "C" __global__ void value_handed_over(const float *x, float *y)
{
    __shared__ volatile int value;
    __shared__ float beside;
    int t = threadIdx.x;
    if (t == 0) value = 0;
    __syncthreads();
    if (t == 40) {
        if (BUG) beside = x[t];  // caught: race
        value = 7;
    }
    while (value == 0) {}
    y[t] = BUG ? value + beside : value;  // caught: race
}

// launch: grid 1, block 64; in float 64, new float 64
extern "C" __global__ void block_of_malloc_shared(const float *x, float *y)
{
    __shared__ float *between;
    int t = threadIdx.x;
    if (t == 0) between = static_cast<float *>(malloc(64 * sizeof *between));
    __syncthreads();
    if (!between) return;
    between[t] = x[t];  // caught: race
    if (!BUG) __syncthreads();
    y[t] = between[63 - t];  // caught: race
    __syncthreads();
    if (t == 0) free(between);
}

// Memory read through __ldg must not be written in the same launch.
// launch: grid 1, block 64; in float 64, new float 64
extern "C" __global__ void read_only_read(float *x, float *y)
{
    int t = threadIdx.x;
    x[t] = 2 * x[t];  // caught: stale read
    __syncthreads();
#if BUG
    y[t] = __ldg(x + 63 - t);  // caught: stale read
#else
    y[t] = x[63 - t];
#endif
}

// launch: grid 1, block 64; in float 64
// launch if BUG: grid 1, block 64; in float 64
extern "C" __global__ void read_only_then_written(float *x)
{
    int t = threadIdx.x;
#if BUG
    float v = __ldg(x + 63 - t);  // caught: stale read
#else
    float v = x[63 - t];
#endif
    __syncthreads();
    x[t] = v;  // caught: stale read
}

// The thread that reads is one of the last that add: what the others add comes when it likes.
// launch: grid 1, block 128; in int 128, new int 1
extern "C" __global__ void total_of_the_last_warp(const int *x, int *out)
{
    __shared__ int total;
    int t = threadIdx.x;
    if (t == 0) total = 0;
    __syncthreads();
    atomicAdd(&total, x[t]);  // caught: race
    if (!BUG) __syncthreads();
    if (t == 95) out[0] = total;  // caught: race
}
