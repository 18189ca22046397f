// WRONG on purpose: atomic.cu with a plain addition. Threads read the same old total, add their own
// element and write: all but one of them are lost.
using T = float;
using Acc = float;

extern "C" __global__ void wrong_add(const T *__restrict__ x, Acc *out, long long n)
{
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i < n) *out += Acc(x[i]);
}
