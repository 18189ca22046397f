// How many of x[n] are above `limit` -> *out. Launch one thread.
#include <cuda_fp16.h>

__global__ void above(const float *x, int *out, float limit, long long n)
{
    // BEGIN
    int count = 0;
    for (long long i = 0; i < n; ++i)
        if (x[i] > limit) ++count;
    *out = count;
    // STUB half count = 0;
    // STUB for (long long i = 0; i < n; ++i)
    // STUB     if (x[i] > limit) count = count + half(1);
    // STUB *out = int(count);
    // END
}
