// Atomics, fences and locks of a block's scope and of the device's, between threads, warps and blocks.

// launch: grid 1, block 64; index int 64 9, zero int 1
extern "C" __global__ void store_beside_an_exchange_of_the_block(const int *x, int *last)
{
    int t = threadIdx.x;
    if (t == 0) atomicExch_block(last, x[0]);  // caught: race
#if BUG
    if (t == 32) *(volatile int *)last = x[1];  // caught: race
#else
    if (t == 32) atomicExch_block(last, x[1]);
#endif
}

// Within a block, an atomic of its scope may meet one of the device's.
// launch: grid 1, block 64; index int 64 9, zero int 1
extern "C" __global__ void store_beside_an_exchange_of_the_device(const int *x, int *last)
{
    int t = threadIdx.x;
    if (t == 0) atomicExch(last, x[0]);  // caught: race
#if BUG
    if (t == 32) *(volatile int *)last = x[1];  // caught: race
#else
    if (t == 32) atomicExch_block(last, x[1]);
#endif
}

// A thread needs nothing to follow itself.
// launch: grid 1, block 64; index int 64 9, zero int 1
extern "C" __global__ void exchange_then_store(const int *x, int *last)
{
    int t = threadIdx.x;
    if (t == 0) atomicExch_block(last, x[0]);  // caught: race
#if BUG
    if (t == 63) *last = x[1];  // caught: race
#else
    if (t == 0) *last = x[1];
#endif
}

// launch: grid 1, block 64; zero int 1, zero int 1
extern "C" __global__ void once_more_after_unlocking(volatile int *value, int *lock)
{
    int t = threadIdx.x;
    if (t == 0) {
        while (atomicCAS_block(lock, 0, 1) != 0) {}
        __threadfence_block();
        *value = 1;  // caught: double write
        __threadfence_block();
        atomicExch_block(lock, 0);
    }
#if BUG
    if (t == 32) *value = 2;  // caught: double write
#else
    if (t == 0) *value = 2;
#endif
}

// launch: grid 1, block 64; zero int 1, zero int 1
extern "C" __global__ void once_more_without_a_fence(volatile int *value, int *lock)
{
    int t = threadIdx.x;
    if (t == 0) {
        while (atomicCAS(lock, 0, 1) != 0) {}
        __threadfence();
        *value = 1;  // caught: double write
        atomicExch(lock, 0);
    }
#if BUG
    if (t == 32) *value = 2;  // caught: double write
#else
    if (t == 0) *value = 2;
#endif
}

// launch: grid 1, block 64; zero int 1, zero int 1
extern "C" __global__ void warp_beside_the_lock(volatile int *value, int *lock)
{
    int t = threadIdx.x;
    if (t % 32) return;
#if BUG
    if (t == 32) {
        *value = 2;  // caught: double write
        return;
    }
#endif
    while (atomicCAS(lock, 0, 1) != 0) {}
    __threadfence();
    *value = 3 + t;  // caught: double write
    __threadfence();
    atomicExch(lock, 0);
}

// One warp takes the lock for the device, the other for its block.
// launch: grid 1, block 64; zero int 1, zero int 1
extern "C" __global__ void lock_of_two_scopes(volatile int *value, int *lock)
{
    int t = threadIdx.x;
    if (t % 32) return;
    while ((t ? atomicCAS_block(lock, 0, 1) : atomicCAS(lock, 0, 1)) != 0) {}
    __threadfence_block();
    *value = 1 + t;  // caught: double write
    if (!BUG) __threadfence_block();
    if (t) atomicExch_block(lock, 0);
    else atomicExch(lock, 0);
}

// launch: grid 1, block 64; in int 64, zero int 1, new int 1, zero int 1
extern "C" __global__ void told_to_the_other_warp(const int *x, volatile int *value, int *out,
                                                  int *flag)
{
    int t = threadIdx.x;
    if (t == 0) {
        *value = x[0];  // caught: race
        if (!BUG) __threadfence_block();
        atomicExch(flag, 1);
    } else if (t == 32) {
        while (atomicExch(flag, 0) == 0) {}
        *out = *value;  // caught: race
    }
}

// A fence of the device is one of the block.
// launch: grid 1, block 64; in int 64, zero int 1, new int 1, zero int 1
extern "C" __global__ void told_as_to_the_device(const int *x, volatile int *value, int *out,
                                                 int *flag)
{
    int t = threadIdx.x;
    if (t == 0) {
        *value = x[0];  // caught: race
        if (!BUG) __threadfence();
        atomicExch(flag, 1);
    } else if (t == 32) {
        while (atomicExch(flag, 0) == 0) {}
        *out = *value;  // caught: race
    }
}

// Who has said that it is done may not read on.
// launch: grid 2, block 32; in int 1, new int 2, zero int 1
extern "C" __global__ void read_after_telling(volatile int *value, int *y, int *flag)
{
    if (threadIdx.x) return;
    if (blockIdx.x == 0) {
        y[0] = *value;
        __threadfence();
        atomicExch(flag, 1);
        if (BUG) y[1] = *value;  // caught: race
    } else {
        while (atomicExch(flag, 0) == 0) {}
        *value = 1;  // caught: race
    }
}

// From thread to thread by atomics: a block's scope ends at the block.
// launch: grid 2, block 64; zero int 1, zero int 1
extern "C" __global__ void exchanged_in_turn(int *value, int *flag)
{
    if (threadIdx.x % 32) return;
    int turn = 2 * blockIdx.x + threadIdx.x / 32;
    while (atomicAdd(flag, 0) != turn) {}
    if (turn % 2) atomicExch(value, turn);  // caught: race
    else atomicExch_block(value, turn);     // caught: race
#if !BUG
    if (turn % 2) __threadfence();
    else __threadfence_block();
#endif
    atomicExch(flag, turn + 1);
}

// What follows is not found: only the fence where the lock is taken is missing, or is too narrow.

// launch: grid 2, block 32; zero int 1, zero int 1
extern "C" __global__ void taken_without_a_fence(volatile int *value, int *lock)
{
    if (threadIdx.x) return;
    while (atomicCAS(lock, 0, 1) != 0) {}
    if (!BUG) __threadfence();
    *value = blockIdx.x;  // missed: double write
    __threadfence();
    atomicExch(lock, 0);
}

// launch: grid 2, block 32; zero int 1, zero int 1
extern "C" __global__ void taken_with_a_narrow_fence(volatile int *value, int *lock)
{
    if (threadIdx.x) return;
    while (atomicCAS(lock, 0, 1) != 0) {}
#if BUG
    __threadfence_block();
#else
    __threadfence();
#endif
    *value = blockIdx.x;  // missed: double write
    __threadfence();
    atomicExch(lock, 0);
}

// launch: grid 1, block 64; zero int 1, zero int 1
extern "C" __global__ void taken_by_warps_without_a_fence(volatile int *value, int *lock)
{
    if (threadIdx.x % 32) return;
    while (atomicCAS_block(lock, 0, 1) != 0) {}
    if (!BUG) __threadfence_block();
    *value = threadIdx.x;  // missed: double write
    __threadfence_block();
    atomicExch_block(lock, 0);
}

// launch: grid 1, block 64; zero int 1, zero int 1
extern "C" __global__ void taken_in_two_scopes_without_a_fence(volatile int *value, int *lock)
{
    int t = threadIdx.x;
    if (t % 32) return;
    while ((t ? atomicCAS_block(lock, 0, 1) : atomicCAS(lock, 0, 1)) != 0) {}
    if (!BUG) __threadfence_block();
    *value = t;  // missed: double write
    __threadfence_block();
    if (t) atomicExch_block(lock, 0);
    else atomicExch(lock, 0);
}
