// Grids that meet as a whole.
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

// launch: grid 6, block 64, cooperative 1; in float 384, new float 384
extern "C" __global__ void reads_another_blocks_value(const float *x, float *y)
{
    auto grid = cg::this_grid();
    int i = grid.thread_rank(), n = grid.size();
    y[i] = 2 * x[i];  // caught: race
#if BUG
    cg::this_thread_block().sync();
#else
    grid.sync();
#endif
    float v = y[(i + 64) % n];  // caught: race
    grid.sync();
    y[i] = v;
}

// launch: grid 5, block 32; in float 160, new float 160, zero uint 1
extern "C" __global__ void barrier_without_fence(const float *x, float *y, unsigned *arrived)
{
    int t = threadIdx.x, i = blockIdx.x * 32 + t;
    y[i] = x[i];  // caught: race
    __syncthreads();
    if (t == 0) {
        if (!BUG) __threadfence();
        atomicAdd(arrived, 1);
        while (*(volatile unsigned *)arrived < gridDim.x) {}
        __threadfence();
    }
    __syncthreads();
    float v = y[(i + 32) % 160];  // caught: race
    if (t == 0 && v == 1234567) y[0] = v;
}

// launch: grid 5, block 64; new int 320, zero int 5
extern "C" __global__ void flag_of_a_later_block(int *data, int *flags)
{
    int t = threadIdx.x, next = blockIdx.x + 1;
    int other = 0;
    if (next < gridDim.x) {
        if (t == 0) {
            while (*(volatile int *)(flags + next) == 0) {}
            __threadfence();
        }
        __syncthreads();
        other = data[next * 64 + t];  // caught: race
    }
    data[blockIdx.x * 64 + t] = other + t;  // caught: race
#if BUG
    if (t == 0) {
        __threadfence();
        *(volatile int *)(flags + blockIdx.x) = 1;
    }
#else
    __threadfence();
    __syncthreads();
    if (t == 0) *(volatile int *)(flags + blockIdx.x) = 1;
#endif
}
