// The lane of the greatest in each 32 of x[n] -> out[n / 32]; n is a multiple of 32. Launch n threads.
__global__ void best_lane(const float *x, int *out)
{
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    float best = x[i];
    int where = threadIdx.x % 32;
    // BEGIN your lines
    for (int mask = 16; mask > 0; mask /= 2) {
        float other = __shfl_xor_sync(0xffffffff, best, mask);
        int place = __shfl_xor_sync(0xffffffff, where, mask);
        if (other > best || (other == best && place < where)) best = other, where = place;
    }
    // END
    if (threadIdx.x % 32 == 0) out[i / 32] = where;
}
