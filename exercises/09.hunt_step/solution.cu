// x[images, channels, pixels] times mask[images, pixels] -> out. Launch at least count threads.
__global__ void masked(const float *x, const float *mask, float *out, long long count,
                       long long channels, long long pixels)
{
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x, image = channels * pixels;
    // BEGIN
    if (i >= count) return;
    out[i] = x[i] * mask[i / image * pixels + i % pixels];
    // STUB if (i > count) return;
    // STUB out[i] = x[i] * mask[i / image * image + i % pixels];
    // END
}
