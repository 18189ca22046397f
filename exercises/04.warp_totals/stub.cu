// Sum of a vector: x[n] -> out[1], which the caller sets to zero. Launch whole warps.
using T = float;
using Acc = float;

__device__ Acc warp_sum(Acc sum)
{
    for (int mask = 16; mask > 0; mask /= 2) sum += __shfl_xor_sync(0xffffffff, sum, mask);
    return sum;
}

__global__ void warp_totals(const T *__restrict__ x, Acc *out, long long n)
{
    __shared__ Acc totals[32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    Acc sum = warp_sum(i < n ? Acc(x[i]) : Acc(0));

    // your lines: from the warps' sums to the block's, and that to *out
}
