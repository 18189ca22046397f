// How many of x[n] are above `limit`, added to *out. Launch whole warps for n.
__global__ void votes(const float *x, int *out, float limit, long long n)
{
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    // BEGIN your lines
    unsigned bits = __ballot_sync(0xffffffff, i < n && x[i] > limit);
    if (threadIdx.x % 32 == 0 && bits) atomicAdd(out, __popc(bits));
    // END
}
