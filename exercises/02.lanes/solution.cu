// Sums of the 32 columns of x[n / 32, 32], added to out[32]. Launch at least n threads.
__global__ void lanes(const float *x, float *out, long long n)
{
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    // BEGIN your line
    if (i < n) atomicAdd(out + i % 32, x[i]);
    // END
}
