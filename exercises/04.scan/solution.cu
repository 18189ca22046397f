// Running sums within each 32 of x[n] -> out[n]; n is a multiple of 32. Launch n threads.
__global__ void scan(const float *x, float *out)
{
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    int lane = threadIdx.x % 32;
    float sum = x[i];
    // BEGIN your lines: five steps
    for (int by = 1; by < 32; by *= 2) {
        float before = __shfl_up_sync(0xffffffff, sum, by);
        if (lane >= by) sum += before;
    }
    // END
    out[i] = sum;
}
