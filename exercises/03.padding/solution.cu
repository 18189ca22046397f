// Sum of a vector: x[n] -> out[blocks], a total for each block of 256 threads. Launch with 264 floats of
// shared memory.
__device__ int place(int i)
{
    // BEGIN your line: the word in which slot i lies
    return i + i / 32;
    // STUB return i;
    // END
}

__global__ void padded(const float *x, float *out, long long n)
{
    extern __shared__ float s[];
    int tid = threadIdx.x;
    long long i = blockIdx.x * (long long)blockDim.x + tid;
    s[place(tid)] = i < n ? x[i] : 0.f;
    __syncthreads();

    for (int stride = 1; stride < blockDim.x; stride *= 2) {
        int left = 2 * stride * tid;
        if (left + stride < blockDim.x) s[place(left)] += s[place(left + stride)];
        __syncthreads();
    }
    if (tid == 0) out[blockIdx.x] = s[place(0)];
}
