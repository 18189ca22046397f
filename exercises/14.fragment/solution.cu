// a[16, 16] times b[16, 8] -> c[16, 8], a product for each block of 32 threads.
#include <cuda_fp16.h>

// sum += p * q by the whole warp. A register of p or q holds two halves, the first in its lower bits.
__device__ void multiply_add(float (&sum)[4], const unsigned (&p)[4], const unsigned (&q)[2])
{
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
        " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(p[0]), "r"(p[1]), "r"(p[2]), "r"(p[3]), "r"(q[0]), "r"(q[1]));
}

__device__ unsigned two(half first, half second)
{
    half2 both = __halves2half2(first, second);
    return *reinterpret_cast<unsigned *>(&both);
}

__global__ void one_product(const half *a, const half *b, float *c)
{
    a += blockIdx.x * 256LL, b += blockIdx.x * 128LL, c += blockIdx.x * 128LL;
    int group = threadIdx.x / 4, pair = threadIdx.x % 4 * 2;
    unsigned p[4], q[2];
    float sum[4] = {};
    // BEGIN your lines: fill p and q, multiply, and store the four sums
    for (int r = 0; r < 4; ++r) {
        const half *from = a + (group + r % 2 * 8) * 16 + r / 2 * 8 + pair;
        p[r] = two(from[0], from[1]);
    }
    for (int r = 0; r < 2; ++r) {
        const half *from = b + (r * 8 + pair) * 8 + group;
        q[r] = two(from[0], from[8]);
    }
    multiply_add(sum, p, q);
    for (int e = 0; e < 4; ++e) c[(group + e / 2 * 8) * 8 + pair + e % 2] = sum[e];
    // END
}
