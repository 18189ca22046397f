// x[n] -> out[n], each stretch of 256 turned around. Launch blocks of 256 threads for n.
__global__ void turned(const float *x, float *out, long long n)
{
    __shared__ float s[256];
    int t = threadIdx.x;
    long long first = blockIdx.x * 256LL;
    int count = min(256LL, n - first);
    // BEGIN your lines: in, wait, out
    if (t < count) s[t] = x[first + t];
    __syncthreads();
    if (t < count) out[first + t] = s[count - 1 - t];
    // END
}
