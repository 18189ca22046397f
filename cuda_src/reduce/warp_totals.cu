// Sum of a vector: x[n] -> out[1], which the caller sets to zero.
// Step 11: shuffle first: each warp folds its own 32 values, only the warps' totals (32 at most) go
// through shared memory. One barrier per block, whatever its width.
// Limit: one element per thread: most of a thread's life is starting, waiting for one load, ending.
using T = float;
using Acc = float;

__device__ Acc warp_sum(Acc sum)
{
    for (int mask = 16; mask > 0; mask /= 2) sum += __shfl_xor_sync(0xffffffff, sum, mask);
    return sum;
}

extern "C" __global__ void warp_totals(const T *__restrict__ x, Acc *out, long long n)
{
    __shared__ Acc totals[32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    Acc sum = warp_sum(i < n ? Acc(x[i]) : Acc(0));
    if (lane == 0) totals[warp] = sum;
    __syncthreads();  // every warp's total is there
    if (warp > 0) return;

    sum = warp_sum(lane < blockDim.x / 32 ? totals[lane] : Acc(0));
    if (lane == 0) atomicAdd(out, sum);
}
