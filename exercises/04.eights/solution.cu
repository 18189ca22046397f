// Sums of each 8 of x[n] -> out[n / 8]; n is a multiple of 8. Launch whole warps for n.
__global__ void eights(const float *x, float *out, long long n)
{
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    float sum = i < n ? x[i] : 0.f;
    // BEGIN your lines
    for (int mask = 4; mask > 0; mask /= 2) sum += __shfl_xor_sync(0xffffffff, sum, mask);
    if (threadIdx.x % 8 == 0 && i < n) out[i / 8] = sum;
    // END
}
