// Products of warpgroups: registers and shared memory that are under way, and what wgmma need not see.
#include <cuda_fp16.h>

// 8 lines of 16 bytes follow each other; 128 bytes further along k, 256 to the next 8 lines.
__device__ unsigned long long described(const void *tile)
{
    unsigned at = (unsigned)__cvta_generic_to_shared(tile);
    return at >> 4 | 128ull >> 4 << 16 | 256ull >> 4 << 32;
}

#define MULTIPLY(d, a, b)                                                                          \
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 "                              \
                 "{%0, %1, %2, %3}, %4, %5, 1, 1, 1, 0, 0;"                                        \
                 : "+f"((d)[0]), "+f"((d)[1]), "+f"((d)[2]), "+f"((d)[3])                          \
                 : "l"(described(a)), "l"(described(b))                                            \
                 : "memory")
#define MULTIPLY_BY_REGISTERS(d, a, b)                                                             \
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 "                              \
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, %8, 1, 1, 1, 0;"                             \
                 : "+f"((d)[0]), "+f"((d)[1]), "+f"((d)[2]), "+f"((d)[3]), "+r"((a)[0]),           \
                   "+r"((a)[1]), "+r"((a)[2]), "+r"((a)[3])                                        \
                 : "l"(described(b))                                                               \
                 : "memory")

__device__ void start() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ void commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int n>
__device__ void wait()
{ asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(n) : "memory"); }
__device__ void fence() { asm volatile("fence.proxy.async;" ::: "memory"); }

// Both factors, for a product that begins.
__device__ void load(half *tile, half *other, const half *a, const half *b)
{
    for (int i = threadIdx.x; i < 1024; i += 128) tile[i] = a[i];
    other[threadIdx.x] = b[threadIdx.x];
    fence();
    __syncthreads();
    start();
}

__device__ void keep(float *out, const float *d)
{
    for (int n = 0; n < 4; n++) out[n * 128 + threadIdx.x] = d[n];
}

__device__ void finish(float *out, const float *d)
{
    commit();
    wait<0>();
    keep(out, d);
}

// launch: grid 2, block 128; in half 1024, in half 128, new float 512
extern "C" __global__ void waits_for_all_but_the_last(const half *a, const half *b, float *out)
{
    __shared__ alignas(1024) half tile[1024], other[128];
    float d[4] = {}, e[4] = {};
    load(tile, other, a, b);
    MULTIPLY(d, tile, other);
    commit();
    MULTIPLY(e, tile, other);  // caught: unfinished wgmma
    commit();
    wait<1>();
    if (BUG) d[0] += e[0];  // caught: unfinished wgmma
    wait<0>();
    for (int n = 0; n < 4; n++) out[n * 128 + threadIdx.x] = d[n] + e[n];
}

// launch: grid 2, block 128; in half 1024, in half 128, new float 512
extern "C" __global__ void waits_before_it_commits(const half *a, const half *b, float *out)
{
    __shared__ alignas(1024) half tile[1024], other[128];
    float d[4] = {};
    load(tile, other, a, b);
    MULTIPLY(d, tile, other);  // caught: unfinished wgmma
#if BUG
    wait<0>();
    commit();
#else
    commit();
    wait<0>();
#endif
    out[threadIdx.x] = d[0] * 2;  // caught: unfinished wgmma
}

// launch: grid 2, block 128; in half 1024, in half 128, new float 512
extern "C" __global__ void changes_a_in_registers(const half *a, const half *b, float *out)
{
    __shared__ alignas(1024) half other[128];
    float d[4] = {};
    unsigned of_a[4];
    for (int n = 0; n < 4; n++) of_a[n] = ((const unsigned *)a)[n * 128 + threadIdx.x];
    other[threadIdx.x] = b[threadIdx.x];
    fence();
    __syncthreads();
    start();
    MULTIPLY_BY_REGISTERS(d, of_a, other);  // caught: unfinished wgmma
    commit();
    if (!BUG) wait<0>();
    for (int n = 0; n < 4; n++) of_a[n] ^= 0x80008000u;  // caught: unfinished wgmma
    if (BUG) wait<0>();
    start();
    MULTIPLY_BY_REGISTERS(d, of_a, other);
    finish(out, d);
}

// launch: grid 2, block 128; in half 1024, in half 128, new float 512
extern "C" __global__ void fences_before_it_stores(const half *a, const half *b, float *out)
{
    __shared__ alignas(1024) half tile[1024], other[128];
    float d[4] = {};
    for (int i = threadIdx.x; i < 1024; i += 128) tile[i] = a[i];
    if (BUG) fence();
    other[threadIdx.x] = b[threadIdx.x];  // caught: missing proxy fence
    if (!BUG) fence();
    __syncthreads();
    start();
    MULTIPLY(d, tile, other);  // caught: missing proxy fence
    finish(out, d);
}

// launch: grid 2, block 128; in half 1024, in half 128, new float 512
extern "C" __global__ void one_thread_fences_for_all(const half *a, const half *b, float *out)
{
    __shared__ alignas(1024) half tile[1024], other[128];
    float d[4] = {};
    for (int i = threadIdx.x; i < 1024; i += 128) tile[i] = a[i];  // caught: missing proxy fence
    other[threadIdx.x] = b[threadIdx.x];
    if (!BUG) __syncthreads();
    if (threadIdx.x == 0) fence();
    __syncthreads();
    start();
    MULTIPLY(d, tile, other);  // caught: missing proxy fence
    finish(out, d);
}

// launch: grid 2, block 256; in half 4096, in half 512, new float 512
extern "C" __global__ void another_warpgroup_still_reads(const half *a, const half *b, float *out)
{
    __shared__ alignas(1024) half tile[1024], other[128];
    float d[4] = {};
    for (int t = 0; t < 4; t++) {
        for (int i = threadIdx.x; i < 1024; i += 256) tile[i] = a[t * 1024 + i];
        if (threadIdx.x < 128) other[threadIdx.x] = b[t * 128 + threadIdx.x];  // caught: race
        fence();
        __syncthreads();
        start();
        MULTIPLY(d, tile, other);  // caught: race
        commit();
        wait<0>();
        if (!BUG) __syncthreads();
    }
    if (threadIdx.x < 128) keep(out, d);
}

// The first product starts the sums from 0, if asked to; else somebody must clear them.
#define MULTIPLY_OR_BEGIN(d, a, b, adds)                                                           \
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %6, 0;"                                           \
                 "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 "                              \
                 "{%0, %1, %2, %3}, %4, %5, p, 1, 1, 0, 0; }"                                      \
                 : "+f"((d)[0]), "+f"((d)[1]), "+f"((d)[2]), "+f"((d)[3])                          \
                 : "l"(described(a)), "l"(described(b)), "r"((int)(adds))                          \
                 : "memory")

// launch: grid 1, block 128; in half 1024, in half 128, new float 512, int 3
extern "C" __global__ void sums_not_begun(const half *a, const half *b, float *out, int n)
{
    __shared__ alignas(1024) half tile[1024], other[128];
    float d[4];
    load(tile, other, a, b);
    for (int k = 0; k < n; k++)
        MULTIPLY_OR_BEGIN(d, tile, other, BUG || k > 0);  // caught: uninitialised read
    finish(out, d);
}

// launch: grid 1, block 128; in half 1024, in half 128, new float 512
extern "C" __global__ void begins_without_a_fence(const half *a, const half *b, float *out)
{
    __shared__ alignas(1024) half tile[1024], other[128];
    float d[4] = {};
    for (int i = threadIdx.x; i < 1024; i += 128) tile[i] = a[i];
    other[threadIdx.x] = b[threadIdx.x];
    fence();
    __syncthreads();
    if (!BUG) start();
    MULTIPLY(d, tile, other);  // caught: missing wgmma fence
    finish(out, d);
}

// The sums are changed between two products.
// launch: grid 1, block 128; in half 1024, in half 128, new float 512
extern "C" __global__ void halves_its_sums(const half *a, const half *b, float *out)
{
    __shared__ alignas(1024) half tile[1024], other[128];
    float d[4] = {};
    load(tile, other, a, b);
    MULTIPLY(d, tile, other);
    commit();
    wait<0>();
    for (int n = 0; n < 4; n++) d[n] *= 0.5f;  // caught: missing wgmma fence
    if (!BUG) start();
    MULTIPLY(d, tile, other);  // caught: missing wgmma fence
    finish(out, d);
}

// A product ends for all four warps, so what each stored before its share of it is there.
// launch: grid 1, block 128; in half 1024, in half 128, new float 512
extern "C" __global__ void a_product_joins_its_warps(const half *a, const half *b, float *out)
{
    __shared__ alignas(1024) half tile[1024], other[128];
    __shared__ float met[128];
    float d[4] = {};
    load(tile, other, a, b);
    met[threadIdx.x] = threadIdx.x;  // caught: race
    MULTIPLY(d, tile, other);
    commit();
    if (!BUG) wait<0>();
    float seen = met[threadIdx.x ^ 32];  // caught: race
    wait<0>();
    out[threadIdx.x] = d[0] + seen;
}
