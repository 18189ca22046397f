// Product of matrices: a[m, k] times b[k, n] -> c[m, n], a batch of them over blockIdx.z. Launch a grid of
// (n / blockDim.x, m / blockDim.y, batch) blocks, rounded up.
// Step 1: a thread per element of c walks a row of a and a column of b.
// Limit: two loads for each multiply-add; every element of a is fetched n times, of b m times.
#include <cuda_fp16.h>
using T = float;
using Acc = float;

extern "C" __global__ void naive(const T *__restrict__ a, const T *__restrict__ b, T *c,
                                 long long m, long long n, long long k)
{
    long long row = blockIdx.y * (long long)blockDim.y + threadIdx.y;
    long long column = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (row >= m || column >= n) return;
    a += blockIdx.z * m * k, b += blockIdx.z * k * n, c += blockIdx.z * m * n;
    Acc sum = 0;
    for (long long i = 0; i < k; ++i) sum += Acc(a[row * k + i]) * Acc(b[i * n + column]);
    c[row * n + column] = T(sum);
}
