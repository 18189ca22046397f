// A product of a matrix and one vector, of 8-bit weights: y[n] = scales[n] * (w[n, k] x[k]). k is
// a multiple of 4, and all arrays begin at multiples of 16 bytes. Launch (n / 8) blocks, rounded
// up, of 256 threads: a warp for each row of w.
#include "common/operators.cuh"
#include "common/reduce.cuh"

__global__ void eight(const signed char *w, const float *x, const float *scales, float *y,
                      long long n, long long k)
{
    long long row = blockIdx.x * 8LL + threadIdx.x / 32;
    int lane = threadIdx.x % 32;
    // BEGIN your lines
    if (row >= n) return;
    float sum = 0;
    for (long long i = lane * 4; i < k; i += 32 * 4) {
        char4 weight = *reinterpret_cast<const char4 *>(w + row * k + i);
        float4 of_x = *reinterpret_cast<const float4 *>(x + i);
        sum += weight.x * of_x.x + weight.y * of_x.y + weight.z * of_x.z + weight.w * of_x.w;
    }
    sum = warp_reduce(sum, Sum<float>());
    if (lane == 0) y[row] = sum * scales[row];
    // END
}
