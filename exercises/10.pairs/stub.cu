// a[n] + b[n] -> out[n]. Launch a thread for each 8 elements; all begin at multiples of 16 bytes.
#include <cuda_fp16.h>
constexpr int PAIRS = 4;

__global__ void half2_add(const half *__restrict__ a, const half *__restrict__ b,
                          half *__restrict__ out, long long n)
{
    long long i = (blockIdx.x * (long long)blockDim.x + threadIdx.x) * 2 * PAIRS;
    if (i + 2 * PAIRS <= n) {
        uint4 p = *reinterpret_cast<const uint4 *>(a + i);
        uint4 q = *reinterpret_cast<const uint4 *>(b + i);
        auto sum = reinterpret_cast<half2 *>(&p), other = reinterpret_cast<half2 *>(&q);
        // your lines
    }  // and the last ones
}
