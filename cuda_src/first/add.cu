// Sum of two vectors: a[n], b[n] -> out[n]. Launch at least n threads.
// One thread per element; the guard keeps the threads past the end from touching memory.
// Limit: 8 bytes read and 4 written for each addition, so the speed of memory.
extern "C" __global__ void add(const float *__restrict__ a, const float *__restrict__ b,
                               float *__restrict__ out, long long n)
{
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i < n) out[i] = a[i] + b[i];
}
