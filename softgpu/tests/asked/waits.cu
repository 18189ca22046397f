// Whether a warp that has waited for a product (wgmma.wait_group 0) may write to what the other warps'
// parts of it read: one warp clears b at once, and the others' sums tell what they read.
#include <cuda_fp16.h>

#include <cstdio>
#include <cstring>
enum Place { NOWHERE, BEFORE_FENCE, BEFORE_PRODUCT, BEFORE_COMMIT, BEFORE_WAIT, PLACES };
static const char *places[] = {"nowhere", "before the fence", "before the products",
                               "before commit", "before wait"};

__device__ void spin(long long ticks)
{
    const long long end = clock64() + ticks;
    while (clock64() < end) {}
}

// Products of 64 x 8 x 16; CLEARS: the warp that clears; AT, LATE: where others wait, which of them.
template <int PRODUCTS, bool REGISTERS>
__global__ void k(unsigned *wrong, int clears, int at, int late, int ticks)
{
    __shared__ alignas(128) half A[64 * 16], B[8 * 16];
    const int t = threadIdx.x, warp = t / 32;
    for (int i = t; i < 64 * 16; i += 128) A[i] = 1;
    B[t] = 1;
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    auto desc = [](void *p) {
        return (__cvta_generic_to_shared(p) >> 4) | (8ull << 16) | (16ull << 32);
    };
    float d[4] = {};
    const bool waits = late == 4 ? warp != clears : warp == late;
    const unsigned one = 0x3c003c00;
    if (waits && at == BEFORE_FENCE) spin(ticks);
    __syncwarp();
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    if (waits && at == BEFORE_PRODUCT) spin(ticks);
    __syncwarp();
#pragma unroll
    for (int i = 0; i < PRODUCTS; i++)
        if (REGISTERS)
            asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0,%1,%2,%3}, "
                         "{%4,%4,%4,%4}, %5, 1, 1, 1, 0;"
                         : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                         : "r"(one), "l"(desc(B))
                         : "memory");
        else
            asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0,%1,%2,%3}, %4, %5, "
                         "1, 1, 1, 0, 0;"
                         : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                         : "l"(desc(A)), "l"(desc(B))
                         : "memory");
    if (waits && at == BEFORE_COMMIT) spin(ticks);
    __syncwarp();
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    if (waits && at == BEFORE_WAIT) spin(ticks);
    __syncwarp();
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    if (warp == clears) {
        for (int i = t % 32; i < 128; i += 32) B[i] = __float2half(0);
        asm volatile("fence.proxy.async;" ::: "memory");
    }
    if (d[0] != 16 * PRODUCTS || d[3] != 16 * PRODUCTS) atomicAdd(&wrong[warp], 1);
}

template <int PRODUCTS, bool REGISTERS>
static void ask(unsigned *wrong, int blocks, int runs)
{
    for (int at = 0; at < PLACES; at++) {
        const int first = at ? 0 : 4, ticks = 3000;
        for (int late = first; late < 5; late++) {
            unsigned seen[4][4];
            for (int clears = 0; clears < 4; clears++) {
                memset(wrong, 0, 16);
                for (int run = 0; run < runs; run++)
                    k<PRODUCTS, REGISTERS><<<blocks, 128>>>(wrong, clears, at, late, ticks);
                cudaError_t error = cudaDeviceSynchronize();
                if (error) printf("%s\n", cudaGetErrorString(error));
                memcpy(seen[clears], wrong, 16);
            }
            printf("%d products, a in %s, warp %d (4: all others) late %s:", PRODUCTS,
                   REGISTERS ? "registers" : "shared memory", late, places[at]);
            for (int clears = 0; clears < 4; clears++)
                printf(" %d: %u %u %u %u", clears, seen[clears][0], seen[clears][1],
                       seen[clears][2], seen[clears][3]);
            printf("\n");
        }
    }
}

int main(int count, char **words)
{
    unsigned *wrong;
    cudaMallocManaged(&wrong, 16);
    const int blocks = count > 1 ? 1056 : 2, runs = count > 1 ? 50 : 1;
    ask<1, false>(wrong, blocks, runs);
    ask<4, false>(wrong, blocks, runs);
    ask<64, false>(wrong, blocks, runs);
    ask<1, true>(wrong, blocks, runs);
    ask<16, true>(wrong, blocks, runs);
    ask<64, true>(wrong, blocks, runs);
}
