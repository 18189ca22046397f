// Products of rows: a[16 blocks, k] times b[8, k], both by rows -> c[16 blocks, 8]. Launch a warp for each 16 rows; k is
// a multiple of 16.
#include "gemm/tensor.cuh"

// sum += p * q by the whole warp, the sums halves, two in a register. tensor.cuh has one whose sums are floats.
__device__ void multiply_add(unsigned (&sum)[2], const unsigned (&p)[4], const unsigned *q, half)
{
    asm("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16"
        " {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%0, %1};"
        : "+r"(sum[0]), "+r"(sum[1])
        : "r"(p[0]), "r"(p[1]), "r"(p[2]), "r"(p[3]), "r"(q[0]), "r"(q[1]));
}

__global__ void row_products(const half *a, const half *b, float *c, int k)
{
    a += blockIdx.x * 16LL * k, c += blockIdx.x * 128LL;
    int group = threadIdx.x / 4, pair = threadIdx.x % 4 * 2;
    auto words = [&](const half *x, int line, int i) {
        return *reinterpret_cast<const unsigned *>(x + line * (long long)k + i + pair);
    };
    // BEGIN
    float sum[4] = {};
    // STUB unsigned sum[2] = {};
    // END
    for (int i = 0; i < k; i += 16) {
        unsigned p[4] = {words(a, group, i), words(a, group + 8, i), words(a, group, i + 8),
                         words(a, group + 8, i + 8)};
        unsigned q[2] = {words(b, group, i), words(b, group, i + 8)};
        multiply_add(sum, p, q, half());
    }
    // BEGIN
    for (int e = 0; e < 4; ++e) c[(group + e / 2 * 8) * 8 + pair + e % 2] = sum[e];
    // STUB for (int r = 0; r < 2; ++r) {
    // STUB     half2 both = *reinterpret_cast<half2 *>(&sum[r]);
    // STUB     c[(group + r * 8) * 8 + pair] = __low2float(both);
    // STUB     c[(group + r * 8) * 8 + pair + 1] = __high2float(both);
    // STUB }
    // END
}
