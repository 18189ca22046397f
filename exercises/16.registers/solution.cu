// (q kᵀ) v -> out[units, 16, 8], halves q[units, 16, 16], k[units, 16, 16] and v[units, 16, 8]; floats out. Launch a
// warp for each unit.
#include "gemm/tensor.cuh"

__device__ unsigned two(float first, float second)
{
    half2 both = __floats2half2_rn(first, second);
    return *reinterpret_cast<unsigned *>(&both);
}

__global__ void chained(const half *q, const half *k, const half *v, float *out)
{
    q += blockIdx.x * 256LL, k += blockIdx.x * 256LL, v += blockIdx.x * 128LL;
    out += blockIdx.x * 128LL;
    int group = threadIdx.x / 4, pair = threadIdx.x % 4 * 2;
    auto words = [&](const half *x, int line, int i) {
        return *reinterpret_cast<const unsigned *>(x + line * 16 + i + pair);
    };
    unsigned of_q[4] = {words(q, group, 0), words(q, group + 8, 0), words(q, group, 8),
                        words(q, group + 8, 8)};
    float score[2][4] = {}, sum[4] = {};
    for (int t = 0; t < 2; ++t) {
        unsigned of_k[2] = {words(k, t * 8 + group, 0), words(k, t * 8 + group, 8)};
        multiply_add(score[t], of_q, of_k, half());
    }
    unsigned of_v[2], p[4];
    for (int r = 0; r < 2; ++r) {
        const half *from = v + (r * 8 + pair) * 8 + group;
        of_v[r] = two(from[0], from[8]);
    }
    // BEGIN your lines: fill p
    for (int r = 0; r < 4; ++r) p[r] = two(score[r / 2][r % 2 * 2], score[r / 2][r % 2 * 2 + 1]);
    // END
    multiply_add(sum, p, of_v, half());
    for (int e = 0; e < 4; ++e) out[(group + e / 2 * 8) * 8 + pair + e % 2] = sum[e];
}
