// Barriers in shared memory, and the copies and pipelines that go with them.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
#include <cuda/pipeline>

#pragma nv_diag_suppress static_var_with_dynamic_init

namespace cg = cooperative_groups;
using barrier = cuda::barrier<cuda::thread_scope_block>;

// launch: grid 2, block 128; in float 256, new float 256
extern "C" __global__ void initialised_without_meeting(const float *x, float *y)
{
    __shared__ barrier all;
    __shared__ float s[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    if (t == 0) init(&all, 128);  // caught: race
    if (!BUG) __syncthreads();
    s[t] = x[i];
    all.arrive_and_wait();  // caught: race
    y[i] = s[127 - t];
}

// launch: grid 2, block 32; in float 64, new float 64
extern "C" __global__ void lanes_that_do_not_wait(const float *x, float *y)
{
    __shared__ barrier all;
    __shared__ float s[32];
    int t = threadIdx.x, i = blockIdx.x * 32 + t;
    if (t == 0) init(&all, 32);
    __syncthreads();
    s[t] = x[i];  // caught: missing __syncwarp
    auto token = all.arrive();
    if (!BUG) all.wait(std::move(token));
    y[i] = s[31 - t];  // caught: missing __syncwarp
}

// launch: grid 2, block 128; in float 1024, new float 256, int 4
extern "C" __global__ void stage_is_not_awaited(const float *x, float *y, int count)
{
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    __shared__ float s[2][128];
    auto block = cg::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    int t = threadIdx.x;
    float sum = 0;
    for (int k = 0; k < count; k++) {
        const float *from = x + (blockIdx.x * count + k) * 128;
        pipe.producer_acquire();
        cuda::memcpy_async(block, s[k % 2], from, sizeof *s, pipe);  // caught: race
        pipe.producer_commit();
        if (!BUG) pipe.consumer_wait();
        sum += s[k % 2][127 - t];  // caught: race
        pipe.consumer_release();
    }
    y[blockIdx.x * 128 + t] = sum;
}

// launch: grid 2, block 64; in float 512, new float 128, int 8
extern "C" __global__ void buffer_is_not_handed_back(const float *x, float *y, int count)
{
    __shared__ barrier full, empty;
    __shared__ float s[32];
    int t = threadIdx.x;
    if (t == 0) {
        init(&full, 64);
        init(&empty, 64);
    }
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < count; k++) {
        if (t < 32) {
#if !BUG
            if (k > 0) empty.arrive_and_wait();
#endif
            s[t] = x[(blockIdx.x * count + k) * 32 + t];  // caught: race
            (void)full.arrive();
        } else {
            full.arrive_and_wait();
            sum += s[63 - t];  // caught: race
#if !BUG
            if (k + 1 < count) (void)empty.arrive();
#endif
        }
    }
    y[blockIdx.x * 64 + t] = sum;
}

// launch: grid 2, block 64; new float 128
extern "C" __global__ void waits_for_nobody(float *y)
{
    __shared__ barrier all;
    int t = threadIdx.x;
#if !BUG
    if (t == 0) init(&all, 64);
    __syncthreads();
#endif
    (void)all.arrive();  // caught: uninitialised read
    y[blockIdx.x * 64 + t] = t;
}
