// A product of a matrix and one vector, of NVFP4: w[n, k] x[k] -> y[n]. codes[n, k / 2] has two
// weights in a byte, the lower half first; 16 neighbours share a scale, scales[n, k / 16]; `whole`
// multiplies everything. k is a multiple of 32, and all arrays begin at multiples of 16 bytes.
// Launch a block of BLOCK threads for each BLOCK / 32 * ROWS rows, rounded up. A Group is 16 bytes
// of codes; its widen(numbers) makes 32 floats of them.
#include "common/operators.cuh"
#include "common/reduce.cuh"
#include "decode/formats.cuh"
// BEGIN your design
constexpr int BLOCK = 128;
constexpr int ROWS = 4;
// STUB constexpr int BLOCK = 256;
// STUB constexpr int ROWS = 1;
// END
using Group = NVFP4::Group<16>;

__global__ void four(const unsigned char *codes, const unsigned char *scales, const half *x,
                     float *y, float whole, long long n, long long k)
{
    // BEGIN and your lines
    long long row = (blockIdx.x * (BLOCK / 32LL) + threadIdx.x / 32) * ROWS;
    float sum[ROWS] = {}, number[32];
    for (long long i = threadIdx.x % 32 * 32; i < k; i += 32 * 32) {
        alignas(16) half of_x[32];
        for (int j = 0; j < 32; j += 8)
            *reinterpret_cast<uint4 *>(of_x + j) = *reinterpret_cast<const uint4 *>(x + i + j);
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
            long long at = min(row + r, n - 1) * k + i;
            Group group = *reinterpret_cast<const Group *>(codes + at / 2);
            group.widen(number);
            uchar2 both = *reinterpret_cast<const uchar2 *>(scales + at / 16);
            float part[2] = {};
            for (int j = 0; j < 32; ++j) part[j / 16] += number[j] * __half2float(of_x[j]);
            sum[r] += part[0] * NVFP4::scale(both.x) + part[1] * NVFP4::scale(both.y);
        }
    }
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
        sum[r] = warp_reduce(sum[r], Sum<float>());
        if (threadIdx.x % 32 == 0 && row + r < n) y[row + r] = sum[r] * whole;
    }
    // END
}
