// Product of matrices: a[m, k] times b[k, n] -> c[m, n]. Launch (n / blockDim.x, m / blockDim.y) blocks, rounded up.
using T = float;
using Acc = float;

__global__ void naive(const T *__restrict__ a, const T *__restrict__ b, T *c, long long m,
                      long long n, long long k)
{
    // your lines
}
