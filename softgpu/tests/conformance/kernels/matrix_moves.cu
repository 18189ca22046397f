// What ldmatrix, stmatrix and movmatrix move, and what nvcuda::wmma makes of fragments.
#include <mma.h>

__device__ unsigned shared_address(const void *p)
{ return static_cast<unsigned>(__cvta_generic_to_shared(p)); }

#define LDMATRIX(form, n, a)                                                                       \
    if (n == 1)                                                                                    \
        asm volatile("ldmatrix.sync.aligned.m8n8.x1" form ".shared.b16 {%0}, [%1];"                \
                     : "=r"(r[0])                                                                  \
                     : "r"(a));                                                                    \
    if (n == 2)                                                                                    \
        asm volatile("ldmatrix.sync.aligned.m8n8.x2" form ".shared.b16 {%0, %1}, [%2];"            \
                     : "=r"(r[0]), "=r"(r[1])                                                      \
                     : "r"(a));                                                                    \
    if (n == 4)                                                                                    \
    asm volatile("ldmatrix.sync.aligned.m8n8.x4" form ".shared.b16 {%0, %1, %2, %3}, [%4];"        \
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])                                  \
                 : "r"(a))

// launch: block=32 out=896
extern "C" __global__ void matrix_loads(unsigned *out, const unsigned *words)
{
    __shared__ __align__(16) unsigned tile[32 * 8];
    int lane = threadIdx.x;
    for (int n = lane; n < 256; n += 32) tile[n] = words[n];
    __syncwarp();
    unsigned a = shared_address(tile + (lane * 11 % 32) * 8 + lane % 2 * 4);
    unsigned few = lane < 8 ? a : 3u, some = lane < 16 ? a : 0xfffffff1u;
    unsigned r[4];
    int at = 0;
    auto keep = [&](int n) {
        for (int i = 0; i < n; i++) out[at++ * 32 + lane] = r[i];
    };
    LDMATRIX("", 1, few);
    keep(1);
    LDMATRIX("", 2, some);
    keep(2);
    LDMATRIX("", 4, a);
    keep(4);
    LDMATRIX(".trans", 1, few);
    keep(1);
    LDMATRIX(".trans", 2, some);
    keep(2);
    LDMATRIX(".trans", 4, a);
    keep(4);
    a = shared_address(tile);
    LDMATRIX(".trans", 4, a);
    keep(4);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "l"(tile + lane * 8));
    keep(4);
    asm volatile(
        "{.reg .pred p; setp.lt.u32 p, %5, 40;\n"
        "@p ldmatrix.sync.aligned.m8n8.x4.trans.shared::cta.b16 {%0, %1, %2, %3}, [%4+16];}"
        : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
        : "r"(shared_address(tile + lane * 4)), "r"(lane));
    keep(4);
    asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(r[0]) : "r"(words[lane]));
    keep(1);
    asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(r[0]) : "r"(r[1]));
    keep(1);
}

#define STMATRIX(form, n, a)                                                                       \
    if (n == 1)                                                                                    \
        asm volatile("stmatrix.sync.aligned.m8n8.x1" form ".shared.b16 [%0], {%1};" ::"r"(a),      \
                     "r"(r[0])                                                                     \
                     : "memory");                                                                  \
    if (n == 2)                                                                                    \
        asm volatile("stmatrix.sync.aligned.m8n8.x2" form ".shared.b16 [%0], {%1, %2};" ::"r"(a),  \
                     "r"(r[0]), "r"(r[1])                                                          \
                     : "memory");                                                                  \
    if (n == 4)                                                                                    \
    asm volatile("stmatrix.sync.aligned.m8n8.x4" form                                              \
                 ".shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(a),                                   \
                 "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3])                                        \
                 : "memory")

// launch: block=32 out=1536
extern "C" __global__ void matrix_stores(unsigned *out, const unsigned *words)
{
    __shared__ __align__(16) unsigned tile[32 * 8];
    int lane = threadIdx.x;
    unsigned a = shared_address(tile + (lane * 11 % 32) * 8 + lane % 2 * 4);
    unsigned few = lane < 8 ? a : 3u, some = lane < 16 ? a : 0xfffffff1u;
    unsigned r[4] = {words[lane], words[lane + 32], words[lane + 64], words[lane + 96]};
    int at = 0;
    auto clear = [&] {
        __syncwarp();
        for (int n = lane; n < 256; n += 32) tile[n] = n;
        __syncwarp();
    };
    auto keep = [&] {
        __syncwarp();
        for (int n = lane; n < 256; n += 32) out[at++ * 32 + lane] = tile[n];
    };
    clear();
    STMATRIX("", 1, few);
    keep(), clear();
    STMATRIX("", 2, some);
    keep(), clear();
    STMATRIX("", 4, a);
    keep(), clear();
    STMATRIX(".trans", 1, few);
    keep(), clear();
    STMATRIX(".trans", 2, some);
    keep(), clear();
    asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.b16 [%0], {%1, %2, %3, %4};" ::"l"(
                     tile + lane * 8 + 4),
                 "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3])
                 : "memory");
    keep();
}

// launch: block=32 out=256 rule=f32
extern "C" __global__ void elements_of_a_fragment(float *out, const __half *a, const __half *b)
{
    using namespace nvcuda::wmma;
    fragment<matrix_a, 16, 16, 16, __half, row_major> x;
    fragment<matrix_b, 16, 16, 16, __half, col_major> y;
    fragment<accumulator, 16, 16, 16, float> sum;
    load_matrix_sync(x, a, 16);
    load_matrix_sync(y, b, 16);
    fill_fragment(sum, 0.25f);
    for (int i = 0; i < x.num_elements; i++) x.x[i] = x.x[i] * __float2half(0.5f);
    mma_sync(sum, x, y, sum);
    for (int i = 0; i < sum.num_elements; i++) sum.x[i] = sum.x[i] * 2 + threadIdx.x + 100 * i;
    store_matrix_sync(out, sum, 16, mem_col_major);
}

// launch: block=32 out=256 rule=f32
extern "C" __global__ void fragments_of_tf32(float *out, const float *a, const float *b)
{
    using namespace nvcuda::wmma;
    fragment<matrix_a, 16, 16, 8, precision::tf32, col_major> x;
    fragment<matrix_b, 16, 16, 8, precision::tf32, row_major> y;
    fragment<accumulator, 16, 16, 8, float> sum;
    load_matrix_sync(x, a, 16);
    load_matrix_sync(y, b, 16);
    for (int i = 0; i < x.num_elements; i++) x.x[i] = __float_to_tf32(x.x[i]);
    fill_fragment(sum, 0.0f);
    mma_sync(sum, x, y, sum);
    store_matrix_sync(out, sum, 16, mem_row_major);
}

// launch: block=32 out=64
extern "C" __global__ void fragments_of_bits(int *out, const unsigned *a, const unsigned *b)
{
    using namespace nvcuda::wmma;
    using experimental::precision::b1;
    fragment<matrix_a, 8, 8, 128, b1, row_major> x;
    fragment<matrix_b, 8, 8, 128, b1, col_major> y;
    fragment<accumulator, 8, 8, 128, int> sum;
    load_matrix_sync(x, a, 256);
    load_matrix_sync(y, b, 128);
    fill_fragment(sum, 5);
    bmma_sync(sum, x, y, sum, experimental::bmmaBitOpAND, experimental::bmmaAccumulateOpPOPC);
    bmma_sync(sum, x, y, sum);
    store_matrix_sync(out, sum, 8, mem_row_major);
}
