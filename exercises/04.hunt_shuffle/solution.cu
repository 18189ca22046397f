// Sums of each 32 of x[n] -> out[ceil(n / 32)]. Launch whole warps for n.
__global__ void warp_sums(const float *x, float *out, long long n)
{
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    // BEGIN
    float sum = i < n ? x[i] : 0.f;
    for (int by = 16; by > 0; by /= 2) sum += __shfl_down_sync(0xffffffff, sum, by);
    if (threadIdx.x % 32 == 0 && i < n) out[i / 32] = sum;
    // STUB if (i < n) {
    // STUB     float sum = x[i];
    // STUB     for (int by = 16; by > 0; by /= 2) sum += __shfl_down_sync(0xffffffff, sum, by);
    // STUB     if (threadIdx.x % 32 == 0) out[i / 32] = sum;
    // STUB }
    // END
}
