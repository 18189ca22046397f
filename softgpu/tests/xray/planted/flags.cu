// Volatile memory, flags, locks and the scopes of fences and atomics.
#include <cuda/atomic>

using float_ref = cuda::atomic_ref<float, cuda::thread_scope_device>;
using count_ref = cuda::atomic_ref<unsigned, cuda::thread_scope_device>;

// Only what somebody waits for is a flag.
// launch: grid 1, block 64; in float 64, zero float 1
extern "C" __global__ void volatile_total(const float *x, volatile float *total)
{
    int t = threadIdx.x;
#if BUG
    if (t % 32 == 0) total[0] += x[t];  // caught: race
#else
    if (t == 0) total[0] += x[t];
#endif
}

// Block 1 waits for block 0: the fence has to reach it.
// launch: grid 2, block 32; in float 32, new float 1, new float 1, zero int 1
extern "C" __global__ void fence_of_a_block(const float *x, volatile float *between, float *y,
                                            int *flag)
{
    if (threadIdx.x > 0) return;
    if (blockIdx.x == 0) {
        between[0] = x[0];  // caught: race
#if BUG
        __threadfence_block();
#else
        __threadfence();
#endif
        atomicExch(flag, 1);
    } else {
        while (atomicExch(flag, 0) == 0) {}
        __threadfence();
        y[0] = between[0];  // caught: race
    }
}

// launch: grid 2, block 32; index int 64 9, zero int 1
extern "C" __global__ void store_beside_exchange(const int *x, volatile int *last)
{
    if (threadIdx.x > 0) return;
    int *place = const_cast<int *>(last);
    if (blockIdx.x == 0) atomicExch(place, x[0]);  // caught: race
#if BUG
    else *last = x[1];  // caught: race
#else
    else atomicExch(place, x[1]);
#endif
}

// What is read after the lock has been given back is not protected by it.
// launch: grid 2, block 32; zero float 1, new float 2, zero int 1
extern "C" __global__ void read_after_unlock(volatile float *value, float *y, int *lock)
{
    if (threadIdx.x > 0) return;
    while (atomicCAS(lock, 0, 1) != 0) {}
    __threadfence();
    if (blockIdx.x == 1) value[0] = 5;  // caught: race
    float seen = value[0];
    __threadfence();
    atomicExch(lock, 0);
    if (BUG) seen = value[0];  // caught: race
    y[blockIdx.x] = seen;
}

// launch: grid 2, block 32; zero float 1, zero int 1
extern "C" __global__ void write_beside_the_lock(volatile float *value, int *lock)
{
    if (threadIdx.x > 0) return;
#if BUG
    if (blockIdx.x == 0) {
        value[0] = 1;  // caught: double write
        return;
    }
#endif
    while (atomicCAS(lock, 0, 1) != 0) {}
    __threadfence();
    value[0] = 2 + blockIdx.x;  // caught: double write
    __threadfence();
    atomicExch(lock, 0);
}

// A lock given back by a volatile store, as old code does: whoever waits for it may meet that.
// launch: grid 4, block 32; in float 128, zero float 1, zero int 1
extern "C" __global__ void lock_by_store(const float *x, volatile float *sum, int *lock)
{
    if (threadIdx.x > 0) return;
    while (atomicCAS(lock, 0, 1) != 0) {}
    __threadfence();
    sum[0] += x[32 * blockIdx.x];  // caught: race
    if (!BUG) __threadfence();
    *(volatile int *)lock = 0;
}

// launch: grid 1, block 64; zero float 1, zero int 1
extern "C" __global__ void lock_of_two_warps(volatile float *value, int *lock)
{
    if (threadIdx.x % 32 > 0) return;
    while (atomicCAS_block(lock, 0, 1) != 0) {}
    __threadfence_block();
    value[0] = threadIdx.x;  // caught: double write
    if (!BUG) __threadfence_block();
    atomicExch_block(lock, 0);
}

// launch: grid 2, block 32; zero float 1, zero int 1
extern "C" __global__ void lock_of_a_block(volatile float *value, int *lock)
{
    if (threadIdx.x > 0) return;
#if BUG
    while (atomicCAS_block(lock, 0, 1) != 0) {}  // caught: race
    __threadfence();
    value[0] = blockIdx.x;
    __threadfence();
    atomicExch_block(lock, 0);  // caught: race
#else
    while (atomicCAS(lock, 0, 1) != 0) {}
    __threadfence();
    value[0] = blockIdx.x;
    __threadfence();
    atomicExch(lock, 0);
#endif
}

// One value goes through four threads of two blocks: within a block its fence is enough.
// launch: grid 2, block 64; zero float 1, new float 1, zero int 1
extern "C" __global__ void handed_on(volatile float *value, float *out, int *flag)
{
    if (threadIdx.x % 32 > 0) return;
    int turn = 2 * blockIdx.x + threadIdx.x / 32;
    while (atomicAdd(flag, 0) != turn) {}
    value[0] += turn;  // caught: race
    if (turn == 3) out[0] = value[0];
#if BUG
    __threadfence_block();
#else
    if (turn % 2) __threadfence();
    else __threadfence_block();
#endif
    atomicExch(flag, turn + 1);
}

// Looking at a counter or at a stop sign now and then is no race.
// launch: grid 4, block 64; index int 256 50, zero int 1
extern "C" __global__ void stop_sign(const int *x, int *found)
{
    int i = blockIdx.x * 64 + threadIdx.x;
#if BUG
    if (*found) return;  // caught: race
#else
    if (*(volatile int *)found) return;
#endif
    if (x[i] == 7) atomicExch(found, 1);  // caught: race
}

// A flag that goes back and forth.
// launch: grid 1, block 64; in float 4, new float 4, zero int 1
extern "C" __global__ void back_and_forth(const float *x, float *y, volatile int *flag)
{
    __shared__ float s;
    int t = threadIdx.x;
    for (int k = 0; k < 4; k++) {
        if (t == 0) {
            s = x[k];  // caught: race
            __threadfence_block();
            *flag = 1;
            while (*flag != 0) {}
            __threadfence_block();
        } else if (t == 32) {
            while (*flag != 1) {}
            __threadfence_block();
            y[k] = s;  // caught: race
            if (!BUG) __threadfence_block();
            *flag = 0;
        }
    }
}

// Loops that begin by waiting: the waiting loop and the one around it share their first block.
// launch: grid 2, block 32; zero float 256, zero int 2
extern "C" __global__ void turn_by_turn(float *x, int *flags)
{
    int own = blockIdx.x * 32 + threadIdx.x, theirs = own ^ 32;
    for (int step = 0; step < 3; ++step) {
        while (*(volatile int *)(flags + 1 - blockIdx.x) < step) {}
        __threadfence();
        x[64 * step + 64 + own] = x[64 * step + theirs] + 1;  // caught: race
        if (!BUG) __threadfence();
        __syncwarp();
        if (threadIdx.x == 0) *(volatile int *)(flags + blockIdx.x) = step + 1;
    }
}

// A sum of volatile values waits for none of them.
// launch: grid 1, block 96; in float 96, new float 96, new float 1
extern "C" __global__ void sum_in_a_loop(const float *x, volatile float *y, float *out)
{
    int t = threadIdx.x;
    y[t] = x[t];  // caught: race
    __threadfence();
    if (!BUG) __syncthreads();
    if (t > 0) return;
    float sum = 0;
#pragma unroll 1
    for (int k = 0; k < 96; k++) sum += y[k];  // caught: race
    *out = sum;
}

// Halves of a word do not protect from the whole.
// launch: grid 1, block 64; index int 64 100, zero uint 2
extern "C" __global__ void two_sizes(const int *x, unsigned *both)
{
    int t = threadIdx.x;
    unsigned long long *whole = reinterpret_cast<unsigned long long *>(both);
#if BUG
    if (t < 32) atomicAdd(both, x[t]);  // caught: race
#else
    if (t < 32) atomicAdd(whole, x[t]);
#endif
    else atomicAdd(whole, (unsigned long long)x[t] << 32);  // caught: race
}

// Atomics of two addresses come in any order, too: the count may be seen before the total.
// launch: grid 8, block 32; in float 256, new float 8, new float 1, zero uint 1
extern "C" __global__ void last_block_by_atomics(const float *x, float *totals, float *out,
                                                 unsigned *arrived)
{
    if (threadIdx.x > 0) return;
    atomicExch(totals + blockIdx.x, x[32 * blockIdx.x]);  // caught: race
    if (!BUG) __threadfence();
    if (atomicInc(arrived, gridDim.x - 1) < gridDim.x - 1) return;
    __threadfence();
    float sum = 0;
    for (int k = 0; k < gridDim.x; k++) sum += atomicAdd(totals + k, 0.f);  // caught: race
    *out = sum;
}

// The same by relaxed stores and loads; the count may order them itself.
// launch: grid 8, block 32; in float 256, new float 8, new float 1, zero uint 1
extern "C" __global__ void last_block_by_relaxed_stores(const float *x, float *totals, float *out,
                                                        unsigned *arrived)
{
    using cuda::std::memory_order_acq_rel, cuda::std::memory_order_relaxed;
    if (threadIdx.x > 0) return;
    float_ref(totals[blockIdx.x]).store(x[32 * blockIdx.x], memory_order_relaxed);  // caught: race
    auto how = BUG ? memory_order_relaxed : memory_order_acq_rel;
    if (count_ref(*arrived).fetch_add(1, how) < gridDim.x - 1) return;
    float sum = 0;
    for (int k = 0; k < gridDim.x; k++)
        sum += float_ref(totals[k]).load(memory_order_relaxed);  // caught: race
    *out = sum;
}

// Set to 0 by an atomic: the others may add before.
// launch: grid 1, block 64; index int 64 9, new int 1
extern "C" __global__ void begun_by_an_exchange(const int *x, int *out)
{
    __shared__ int sum;
    int t = threadIdx.x;
    if (t == 0) atomicExch(&sum, 0);  // caught: race
    if (!BUG) __syncthreads();
    atomicAdd(&sum, x[t]);  // caught: race
    __syncthreads();
    if (t == 0) *out = sum;
}
