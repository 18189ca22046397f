// Least of x[n], to *out, which holds the greatest int before. Launch a thread for each 8 elements.
__global__ void least(const int *x, int *out, long long n)
{
    long long first = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    long long threads = gridDim.x * (long long)blockDim.x;
    // BEGIN your lines
    int found = 0x7fffffff;
    for (long long i = first; i < n; i += threads) found = min(found, x[i]);
    if (first < n) atomicMin(out, found);
    // END
}
