// x[n] -> out[n], out[i] = x[n - 1 - i]. Launch at least n threads.
__global__ void backwards(const float *x, float *out, long long n)
{
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    // BEGIN your line
    if (i < n) out[i] = x[n - 1 - i];
    // END
}
