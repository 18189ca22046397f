// Sum of x[n] -> out[blocks], a total for each block of 256 threads; n is a multiple of 256. Destroys x.
__global__ void folded(float *x, float *out)
{
    float *own = x + blockIdx.x * (long long)blockDim.x;
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) own[threadIdx.x] += own[threadIdx.x + half];
        // BEGIN
        __syncthreads();
        // STUB if (half > 32) __syncthreads();
        // END
    }
    if (threadIdx.x == 0) out[blockIdx.x] = own[0];
}
