// A step of four ranks' weights: w[n] - rate * ((a + b + c + d) / 4) -> w, each operation rounded by itself. Launch blocks
// of 256 threads, an element a thread.
__global__ void descend(const float *a, const float *b, const float *c, const float *d, float *w,
                        long long n, float rate)
{
    // BEGIN your lines
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i < n) w[i] -= __fmul_rn(rate, (a[i] + b[i] + c[i] + d[i]) / 4);
    // END
}
