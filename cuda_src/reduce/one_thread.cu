// Sum of a vector: x[n] -> out[1].
// Step 1: the CPU's loop, moved to the GPU unchanged. Launch one thread.
// Limit: one thread waits for every load in turn; the rest of the GPU is idle.
using T = float;
using Acc = float;

extern "C" __global__ void one_thread(const T *__restrict__ x, Acc *out, long long n)
{
    Acc sum = 0;
    for (long long i = 0; i < n; ++i) sum += Acc(x[i]);
    *out = sum;
}
