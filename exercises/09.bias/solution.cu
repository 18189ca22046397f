// x[n, channels, inner] plus bias[channels] -> out. Launch at least n * channels * inner threads.
__global__ void add_bias(const float *x, const float *bias, float *out, long long count,
                         long long channels, long long inner)
{
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    // BEGIN your line
    if (i < count) out[i] = x[i] + bias[i / inner % channels];
    // END
}
