// Sum of a vector: x[n] is added to *out. Launch at least n threads.
using T = float;
using Acc = float;

__global__ void atomic(const T *__restrict__ x, Acc *out, long long n)
{
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    // your line
}
