// Asynchronous copies into shared memory: waited for too late, too little, or by the wrong ones.
#include <cuda_pipeline.h>

#define COPY(to, from)                                                                             \
    asm volatile(                                                                                  \
        "cp.async.ca.shared.global [%0], [%1], 4;" ::"r"((unsigned)__cvta_generic_to_shared(to)),  \
        "l"(from)                                                                                  \
        : "memory")
__device__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int n>
__device__ void wait()
{ asm volatile("cp.async.wait_group %0;" ::"n"(n) : "memory"); }

// launch: grid 2, block 64; in float 128, new float 128
extern "C" __global__ void reads_its_own_without_waiting(const float *x, float *y)
{
    __shared__ float s[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    __pipeline_memcpy_async(s + t, x + i, 4);  // caught: race
    __pipeline_commit();
    if (!BUG) __pipeline_wait_prior(0);
    y[i] = s[t];  // caught: race
}

// launch: grid 2, block 64; in float 128, new float 128
extern "C" __global__ void waits_after_the_barrier(const float *x, float *y)
{
    __shared__ float s[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    __pipeline_memcpy_async(s + t, x + i, 4);  // caught: race
    __pipeline_commit();
#if BUG
    __syncthreads();
    __pipeline_wait_prior(0);
#else
    __pipeline_wait_prior(0);
    __syncthreads();
#endif
    y[i] = s[63 - t];  // caught: race
}

// launch: grid 2, block 64; in float 1024, new float 1024
extern "C" __global__ void one_group_too_early(const float *x, float *y)
{
    __shared__ float s[3][64];
    int t = threadIdx.x;
    x += blockIdx.x * 512;
    y += blockIdx.x * 512;
    for (int n = 0; n < 2; n++) {
        __pipeline_memcpy_async(s[n] + t, x + n * 64 + t, 4);
        __pipeline_commit();
    }
    for (int n = 0; n < 8; n++) {
        __syncthreads();
        if (n + 2 < 8)
            __pipeline_memcpy_async(s[(n + 2) % 3] + t, x + (n + 2) * 64 + t, 4);  // caught: race
        __pipeline_commit();
        __pipeline_wait_prior(BUG ? 3 : 2);
        __syncthreads();
        y[n * 64 + t] = s[n % 3][63 - t];  // caught: race
    }
}

// launch: grid 2, block 64; in float 128, new float 128
extern "C" __global__ void writes_under_a_copy(const float *x, float *y)
{
    __shared__ float s[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    COPY(s + t, x + i);  // caught: race
    commit();
#if BUG
    if (t == 5) s[40] = 0;  // caught: race
#endif
    wait<0>();
    __syncthreads();
    y[i] = s[63 - t];
}

// launch: grid 2, block 64; in float 256, new float 128
extern "C" __global__ void two_copies_to_one_place(const float *x, float *y)
{
    __shared__ float s[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    COPY(s + t, x + i);  // caught: race
    commit();
    COPY(s + t + (BUG ? 0 : 64), x + i + 64);  // caught: race
    commit();
    wait<0>();
    __syncthreads();
    y[blockIdx.x * 64 + t] = s[63 - t];
}

// launch: grid 2, block 64; in float 128, new float 128
extern "C" __global__ void no_barrier_after_waiting(const float *x, float *y)
{
    __shared__ float s[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    COPY(s + t, x + i);  // caught: race
    asm volatile("cp.async.wait_all;" ::: "memory");
    if (!BUG) __syncthreads();
    y[i] = s[63 - t];  // caught: race
}
