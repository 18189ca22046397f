// Sum of a vector: x[n] -> out[blocks], a total for each block of 256 threads.
__global__ void hunted(const float *x, float *out, long long n)
{
    __shared__ float s[256];
    int tid = threadIdx.x;
    long long i = blockIdx.x * (long long)blockDim.x + tid;
    s[tid] = i < n ? x[i] : 0.f;
    __syncthreads();

    // BEGIN
    for (int half = 128; half > 32; half /= 2) {
        if (tid < half) s[tid] += s[tid + half];
        __syncthreads();
    }
    if (tid < 32)
        for (int half = 32; half > 0; half /= 2) {
            if (tid < half) s[tid] += s[tid + half];
            __syncwarp();
        }
    if (tid == 0) out[blockIdx.x] = s[0];
    // STUB for (int half = 128; half > 32; half /= 2) {
    // STUB     if (tid < half) s[tid] += s[tid + half];
    // STUB     __syncthreads();
    // STUB }
    // STUB if (tid < 32)
    // STUB     for (int half = 32; half > 0; half /= 2) s[tid] += s[tid + half];
    // STUB if (tid == 0) out[blockIdx.x] = s[0];
    // END
}
