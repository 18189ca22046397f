// x[n] times a, in place. Any grid.
__global__ void scale(float *x, float a, long long n)
{
    long long first = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    // BEGIN your lines: this thread's elements
    long long threads = gridDim.x * (long long)blockDim.x;
    for (long long i = first; i < n; i += threads) x[i] *= a;
    // END
}
