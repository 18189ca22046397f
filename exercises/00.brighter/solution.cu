// pixels[n] -> out[n], each brighter by `more`. Launch at least n threads.
__global__ void brighter(const unsigned char *pixels, unsigned char *out, int more, long long n)
{
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i >= n) return;
    // BEGIN your line
    out[i] = min(max(pixels[i] + more, 0), 255);
    // END
}
