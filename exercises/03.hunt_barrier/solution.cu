// Greatest of x[n] -> out[blocks], one for each block of 256 threads.
__global__ void greatest_each(const float *x, float *out, long long n)
{
    __shared__ float s[256];
    int tid = threadIdx.x;
    long long i = blockIdx.x * (long long)blockDim.x + tid;
    // BEGIN
    s[tid] = i < n ? x[i] : -INFINITY;
    // STUB if (i >= n) return;
    // STUB s[tid] = x[i];
    // END
    __syncthreads();

    for (int half = 128; half > 0; half /= 2) {
        if (tid < half) s[tid] = fmaxf(s[tid], s[tid + half]);
        __syncthreads();
    }
    if (tid == 0) out[blockIdx.x] = s[0];
}
