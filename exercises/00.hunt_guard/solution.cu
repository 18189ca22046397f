// x[n] -> out[n], no greater than `most`. Launch at least n threads.
__global__ void bounded(const float *x, float *out, float most, long long n)
{
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    // BEGIN
    if (i >= n) return;
    // STUB if (i > n) return;
    // END
    float value = x[i];
    out[i] = value > most ? most : value;
}
