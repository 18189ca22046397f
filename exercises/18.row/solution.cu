// A product of a matrix and one vector, in halves: w[n, k], x[k] -> y[n] in floats. k is a
// multiple of 8, and all arrays begin at multiples of 16 bytes. Launch (n / 8) blocks, rounded up,
// of 256 threads: a warp for each row of w.
#include "common/operators.cuh"
#include "common/reduce.cuh"
#include <cuda_fp16.h>

__global__ void halves(const half *w, const half *x, float *y, long long n, long long k)
{
    long long row = blockIdx.x * 8LL + threadIdx.x / 32;
    int lane = threadIdx.x % 32;
    // BEGIN your lines
    if (row >= n) return;
    float sum = 0;
    for (long long i = lane * 8; i < k; i += 32 * 8) {
        uint4 p = *reinterpret_cast<const uint4 *>(w + row * k + i);
        uint4 q = *reinterpret_cast<const uint4 *>(x + i);
        auto weights = reinterpret_cast<half2 *>(&p), of_x = reinterpret_cast<half2 *>(&q);
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            float2 a = __half22float2(weights[j]), b = __half22float2(of_x[j]);
            sum += a.x * b.x + a.y * b.y;
        }
    }
    sum = warp_reduce(sum, Sum<float>());
    if (lane == 0) y[row] = sum;
    // END
}
