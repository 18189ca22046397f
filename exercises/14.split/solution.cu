// a[16, k] times b[k, 8] -> c[16, 8], a product for each block of 32 threads; k is a multiple of 8.
#include "gemm/tensor.cuh"

// sum += p * q by the whole warp. It reads the upper 19 bits of each float: sign, exponent, 10 of the fraction.
__device__ void multiply(float (&sum)[4], const float (&p)[4], const float (&q)[2])
{
    auto &bits = reinterpret_cast<const unsigned (&)[4]>(p);
    multiply_add(sum, bits, reinterpret_cast<const unsigned *>(q), 0.f);
}

// What multiply reads of a float.
__device__ float upper(float x) { return __uint_as_float(__float_as_uint(x) & 0xffffe000); }

__global__ void exact_product(const float *a, const float *b, float *c, int k)
{
    a += blockIdx.x * 16LL * k, b += blockIdx.x * 8LL * k, c += blockIdx.x * 128LL;
    int group = threadIdx.x / 4, lane = threadIdx.x % 4;
    float sum[4] = {};
    for (int i = 0; i < k; i += 8) {
        float p[4], q[2];
        for (int r = 0; r < 4; ++r) p[r] = a[(group + r % 2 * 8) * k + i + r / 2 * 4 + lane];
        for (int r = 0; r < 2; ++r) q[r] = b[(i + r * 4 + lane) * 8 + group];
        // BEGIN your lines: multiply also what this cuts off
        float rest_p[4], rest_q[2];
        for (int r = 0; r < 4; ++r) rest_p[r] = p[r] - upper(p[r]);
        for (int r = 0; r < 2; ++r) rest_q[r] = q[r] - upper(q[r]);
        multiply(sum, rest_p, q);
        multiply(sum, p, rest_q);
        multiply(sum, p, q);
        // STUB multiply(sum, p, q);
        // END
    }
    for (int e = 0; e < 4; ++e) c[(group + e / 2 * 8) * 8 + lane * 2 + e % 2] = sum[e];
}
