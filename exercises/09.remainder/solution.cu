// a[n] % b[n] -> out[n], with the sign of b. Launch at least n threads.
__global__ void remainders(const int *a, const int *b, int *out, long long n)
{
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i >= n) return;
    // BEGIN your lines
    int r = a[i] % b[i];
    out[i] = r != 0 && (r < 0) != (b[i] < 0) ? r + b[i] : r;
    // STUB out[i] = a[i] % b[i];
    // END
}
