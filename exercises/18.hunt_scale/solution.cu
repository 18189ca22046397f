// A product of a matrix and one vector, of 4-bit weights: codes[n, k / 2], two in a byte, the
// lower half first; 16 neighbours share a scale: scales[n, k / 16]. w[n, k] x[k] -> y[n]. k is a
// multiple of 32, and codes begin at a multiple of 16 bytes. Launch (n / 8) blocks, rounded up, of
// 256 threads: a warp for each row.
#include "common/operators.cuh"
#include "common/reduce.cuh"
#include "decode/formats.cuh"

__global__ void scaled(const unsigned char *codes, const float *scales, const float *x, float *y,
                       long long n, long long k)
{
    long long row = blockIdx.x * 8LL + threadIdx.x / 32;
    if (row >= n) return;
    float sum = 0, number[32];
    for (long long i = threadIdx.x % 32 * 32; i < k; i += 32 * 32) {
        auto group = *reinterpret_cast<const NVFP4::Group<16> *>(codes + (row * k + i) / 2);
        group.widen(number);
        const float *scale = scales + (row * k + i) / 16;
        // BEGIN
        for (int j = 0; j < 32; ++j) sum += number[j] * scale[j / 16] * x[i + j];
        // STUB for (int j = 0; j < 32; ++j) sum += number[j] * scale[0] * x[i + j];
        // END
    }
    sum = warp_reduce(sum, Sum<float>());
    if (threadIdx.x % 32 == 0) y[row] = sum;
}
