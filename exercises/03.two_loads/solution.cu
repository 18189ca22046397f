// Sum of x[n] -> out[blocks], a total for each 512 elements. Launch blocks of 256 threads.
__global__ void two_loads(const float *x, float *out, long long n)
{
    __shared__ float s[256];
    int tid = threadIdx.x;
    // BEGIN your lines: two elements of this block's 512 into slot tid
    long long i = blockIdx.x * 512LL + tid;
    float first = i < n ? x[i] : 0.f, second = i + 256 < n ? x[i + 256] : 0.f;
    s[tid] = first + second;
    // STUB long long i = blockIdx.x * 256LL + tid;
    // STUB s[tid] = i < n ? x[i] : 0.f;
    // END
    __syncthreads();

    for (int half = 128; half > 0; half /= 2) {
        if (tid < half) s[tid] += s[tid + half];
        __syncthreads();
    }
    if (tid == 0) out[blockIdx.x] = s[0];
}
