// Sum of a vector: x[n] -> out[1], which the caller sets to zero.
// Step 2: one thread an element, all adding to one address.
// Limit: the additions to that address happen one after another.
using T = float;
using Acc = float;

extern "C" __global__ void atomic(const T *__restrict__ x, Acc *out, long long n)
{
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(out, Acc(x[i]));
}
