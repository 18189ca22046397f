// x[n] -> out[n], out[i] = 2 x[i]. Launch at least n threads.
__global__ void twice(const float *x, float *out, long long n)
{
    // BEGIN your lines: which element is this thread's, and is there one?
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i < n) out[i] = 2 * x[i];
    // END
}
