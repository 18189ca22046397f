// Threads of a block that meet at barriers which lie in shared memory.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
#include <cuda/pipeline>

#include <cstdint>

#pragma nv_diag_suppress static_var_with_dynamic_init

namespace cg = cooperative_groups;
using barrier = cuda::barrier<cuda::thread_scope_block>;
enum { THREADS = 128 };

template <int STAGES>
__device__ void sum_through(cuda::pipeline<cuda::thread_scope_block> &pipe, int (*s)[THREADS],
                            int *out, const int *in, int count)
{
    auto block = cg::this_thread_block();
    int sum = 0, i = threadIdx.x;
    for (int done = 0, asked = 0; done < count; done++) {
        for (; asked < count && asked < done + STAGES; asked++) {
            pipe.producer_acquire();
            cuda::memcpy_async(block, s[asked % STAGES], in + asked * THREADS, sizeof *s, pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        sum = 3 * sum + s[done % STAGES][THREADS - 1 - i];
        pipe.consumer_release();
    }
    out[i] = sum;
}

extern "C" {
// Each phase every thread reads what another wrote in the one before.
__global__ void phases(int *out, int count)
{
    __shared__ barrier all;
    __shared__ int s[2][THREADS];
    int i = threadIdx.x, value = i;
    if (i == 0) init(&all, THREADS);
    __syncthreads();
    for (int k = 0; k < count; k++) {
        s[k % 2][i] = value;
        all.arrive_and_wait();
        value = 3 * s[k % 2][(i + 33) % THREADS] + k;
    }
    out[i] = value;
}

// One warp makes, the others use; two barriers hand a buffer back and forth.
__global__ void maker_and_users(int *out, int count)
{
    __shared__ barrier full, empty;
    __shared__ int s[32];
    int i = threadIdx.x, sum = 0;
    if (i == 0) {
        init(&full, THREADS);
        init(&empty, THREADS);
    }
    __syncthreads();
    for (int k = 0; k < count; k++) {
        if (i < 32) {
            if (k > 0) empty.arrive_and_wait();
            s[i] = i + 100 * k;
            (void)full.arrive();
        } else {
            full.arrive_and_wait();
            sum += s[(i + k) % 32];
            if (k + 1 < count) (void)empty.arrive();
        }
    }
    out[i] = sum;
}

// A warp's own lanes make and use: those that wait must let the others go on.
__global__ void lanes_of_one_warp(int *out)
{
    __shared__ barrier ready;
    __shared__ int made;
    if (threadIdx.x == 0) init(&ready, 2);
    __syncthreads();
    if (threadIdx.x == 5) {
        ready.arrive_and_wait();
        out[0] = made;
    } else if (threadIdx.x == 9) {
        int sum = 0;
        for (int k = 0; k < 500; k++) sum += k ^ out[1];
        made = sum;
        (void)ready.arrive();
    }
}

// Half of the threads leave after the first phase.
__global__ void some_drop_out(int *out)
{
    __shared__ barrier all;
    __shared__ int s[THREADS];
    int i = threadIdx.x;
    if (i == 0) init(&all, THREADS);
    __syncthreads();
    s[i] = i;
    if (i % 2) {
        all.arrive_and_drop();
        return;
    }
    all.arrive_and_wait();
    int first = s[i + 1];
    s[i] = 2 * first;
    all.arrive_and_wait();
    out[i] = s[(i + 2) % THREADS];
}

__global__ void copy_by_the_block(int *out, const int *in)
{
    __shared__ barrier copied;
    __shared__ int s[THREADS];
    auto block = cg::this_thread_block();
    if (block.thread_rank() == 0) init(&copied, block.size());
    block.sync();
    cuda::memcpy_async(block, s, in, sizeof s, copied);
    copied.arrive_and_wait();
    out[threadIdx.x] = s[THREADS - 1 - threadIdx.x];
}

// Known to be aligned, these are bulk copies, of whose bytes the barrier hears.
__global__ void copy_by_threads(int4 *out, const int4 *in)
{
    __shared__ barrier copied;
    __shared__ alignas(16) int4 s[THREADS];
    int i = threadIdx.x;
    if (i == 0) init(&copied, THREADS);
    __syncthreads();
    cuda::memcpy_async(s + i, in + i, cuda::aligned_size_t<16>(16), copied);
    copied.arrive_and_wait();
    out[i] = s[THREADS - 1 - i];
}

__global__ void pipeline_of_all(int *out, const int *in, int count)
{
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 3> state;
    __shared__ int s[3][THREADS];
    auto pipe = cuda::make_pipeline(cg::this_thread_block(), &state);
    sum_through<3>(pipe, s, out, in, count);
}

__global__ void pipeline_with_producers(int *out, const int *in, int count)
{
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    __shared__ int s[2][THREADS];
    auto block = cg::this_thread_block();
    auto role = threadIdx.x < 32 ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer;
    auto pipe = cuda::make_pipeline(block, &state, role);
    int sum = 0, i = threadIdx.x;
    for (int k = 0; k < count; k++) {
        if (role == cuda::pipeline_role::producer) {
            pipe.producer_acquire();
            for (int at = i; at < THREADS; at += 32)
                cuda::memcpy_async(&s[k % 2][at], in + k * THREADS + at, sizeof(int), pipe);
            pipe.producer_commit();
        } else {
            pipe.consumer_wait();
            sum = 3 * sum + s[k % 2][i];
            pipe.consumer_release();
        }
    }
    out[i] = sum;
}

__global__ void never_completes(int arrivals)
{
    __shared__ barrier all;
    if (threadIdx.x == 0) init(&all, arrivals);
    __syncthreads();
    all.arrive_and_wait();
}

__global__ void too_many()
{
    __shared__ barrier all;
    if (threadIdx.x == 0) init(&all, 3);
    __syncthreads();
    (void)all.arrive(4);
}
}
