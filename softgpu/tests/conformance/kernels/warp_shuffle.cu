// Shuffles, votes, matches and reductions over the lanes of a warp.
#include <cuda_fp16.h>

#define ALL 0xffffffffu

extern "C" __global__ void shuffle_idx(int *out, const int *a)
{
    int i = threadIdx.x;
    out[i] = __shfl_sync(ALL, a[i], a[i + 1]) + 3 * __shfl_sync(ALL, a[i], 5);
}

// launch: out=256
extern "C" __global__ void shuffle_in_range_predicate(int *out, const int *a, const int *b)
{
    int i = threadIdx.x, r, p;
    int clamp[4] = {0, 0x1f, 0x181f, 0x1c03};
#define SHUFFLE(n, mode)                                                                           \
    asm volatile("{ .reg .pred p; shfl.sync." mode                                                 \
                 ".b32 %0|p, %2, %3, %4, -1; selp.s32 %1, 1, 0, p; }"                              \
                 : "=r"(r), "=r"(p)                                                                \
                 : "r"(a[i]), "r"(b[i] & 63), "r"(clamp[i >> 4 & 3]));                             \
    out[64 * n + i] = r * 2 + p;
    SHUFFLE(0, "up")
    SHUFFLE(1, "down")
    SHUFFLE(2, "bfly")
    SHUFFLE(3, "idx")
}

extern "C" __global__ void shuffle_of_some_lanes(int *out, const int *a)
{
    int i = threadIdx.x, x = a[i];
    if (i % 32 < 20) {
        x = __shfl_down_sync(0x000fffffu, x, 1);
        if (i & 1) x += __shfl_xor_sync(0x000aaaaau, x, 2);
    } else {
        x ^= __shfl_sync(0xfff00000u, x, 25);
    }
    // lane 19 and the last odd lanes read lanes that do not take part: leave them out
    out[i] = i % 32 == 19 || i % 32 == 17 ? 0 : x;
}

extern "C" __global__ void vote_instructions(unsigned *out, const int *a)
{
    int i = threadIdx.x;
    unsigned r;
    asm volatile(
        "{ .reg .pred p, q, s, t; .reg .b32 m, n;\n setp.gt.s32 p, %1, 0;\n"
        " vote.sync.ballot.b32 m, p, -1;\n vote.sync.any.pred q, p, -1;\n"
        " vote.sync.all.pred s, !p, -1;\n vote.sync.uni.pred t, p, -1;\n"
        " vote.sync.ballot.b32 n, !p, -1;\n shr.u32 n, n, 1;\n xor.b32 m, m, n;\n"
        " selp.u32 n, 1, 0, q;\n add.u32 m, m, n;\n selp.u32 n, 2, 0, s;\n add.u32 m, m, n;\n"
        " selp.u32 n, 4, 0, t;\n add.u32 %0, m, n; }"
        : "=r"(r)
        : "r"(a[i]));
    out[i] = r;
}

extern "C" __global__ void match_any_values(unsigned *out, const int *a, const long long *b)
{
    int i = threadIdx.x;
    out[i] = __match_any_sync(ALL, a[i] & 7) ^ __match_any_sync(ALL, b[i] & 3ll << 40);
}

extern "C" __global__ void match_all_values(unsigned *out, const int *a, const long long *b)
{
    int i = threadIdx.x, p, q, r;
    unsigned m = __match_all_sync(ALL, a[i / 32], &p);
    m ^= __match_all_sync(ALL, i & 16, &q);
    m ^= __match_all_sync(ALL, b[i / 40], &r) >> 1;
    out[i] = m + p * 2 + q * 4 + r * 8;
}

// launch: out=512
extern "C" __global__ void redux(unsigned *out, const unsigned *a)
{
    int i = threadIdx.x;
    out[i] = __reduce_add_sync(ALL, a[i]);
    out[64 + i] = __reduce_min_sync(ALL, a[i]);
    out[128 + i] = __reduce_max_sync(ALL, (int)a[i]);
    out[192 + i] = __reduce_min_sync(ALL, (int)a[i]);
    out[256 + i] = __reduce_and_sync(ALL, a[i] | 0xff);
    out[320 + i] = __reduce_or_sync(ALL, a[i] & 0xff0f00f0u);
    out[384 + i] = __reduce_xor_sync(ALL, a[i]);
    out[448 + i] = __reduce_add_sync(ALL, (int)a[i]) + __reduce_max_sync(ALL, a[i]);
}

extern "C" __global__ void active_lanes(unsigned *out, const int *a)
{
    int i = threadIdx.x;
    unsigned m = __activemask();
    if (i & 4) m ^= __activemask() << 1;
    out[i] = m;
}

// launch: block=16x6 out=768
extern "C" __global__ void lane_registers(unsigned *out)
{
    unsigned i = threadIdx.x + 16 * threadIdx.y, r;
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(r));
    out[8 * i] = r;
    asm volatile("mov.u32 %0, %%lanemask_eq;" : "=r"(r));
    out[8 * i + 1] = r;
    asm volatile("mov.u32 %0, %%lanemask_lt;" : "=r"(r));
    out[8 * i + 2] = r;
    asm volatile("mov.u32 %0, %%lanemask_le;" : "=r"(r));
    out[8 * i + 3] = r;
    asm volatile("mov.u32 %0, %%lanemask_gt;" : "=r"(r));
    out[8 * i + 4] = r;
    asm volatile("mov.u32 %0, %%lanemask_ge;" : "=r"(r));
    out[8 * i + 5] = r;
    asm volatile("mov.u32 %0, WARP_SZ;" : "=r"(r));
    out[8 * i + 6] = r;
    out[8 * i + 7] = warpSize;
}

// launch: grid=3x2x4 block=5x2x3 shared=100 out=3600
extern "C" __global__ void special_registers(unsigned *out)
{
    unsigned i = threadIdx.x + 5 * (threadIdx.y + 2 * threadIdx.z), s;
    unsigned b = blockIdx.x + 3 * (blockIdx.y + 2 * blockIdx.z);
    unsigned *o = out + 5 * (30 * b + i);
    o[0] = threadIdx.x + 10 * threadIdx.y + 100 * threadIdx.z;
    o[1] = blockIdx.x + 10 * blockIdx.y + 100 * blockIdx.z;
    o[2] = blockDim.x + 10 * blockDim.y + 100 * blockDim.z;
    o[3] = gridDim.x + 10 * gridDim.y + 100 * gridDim.z;
    asm volatile("mov.u32 %0, %%dynamic_smem_size;" : "=r"(s));
    o[4] = s;
}

extern "C" __global__ void clocks_go_forward(unsigned *out)
{
    long long c = clock64(), t, u;
    unsigned d = clock();
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
    __nanosleep(100);
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(u));
    out[threadIdx.x] = (clock64() > c) + 2 * (u >= t) + 4 * (clock() - d < 1u << 30);
}

extern "C" __global__ void one_lane_is_elected(unsigned *out)
{
    unsigned leader, chosen;
    asm volatile("{ .reg .pred p; elect.sync %0|p, -1; selp.u32 %1, 1, 0, p; }"
                 : "=r"(leader), "=r"(chosen));
    out[threadIdx.x] = (leader < 32) + 2 * __popc(__ballot_sync(ALL, chosen)) +
                       100 * (__ffs(__ballot_sync(ALL, chosen)) == (int)leader + 1);
}

// launch: grid=2 block=96
extern "C" __global__ void where_a_thread_runs(unsigned *out)
{
    unsigned w, n, sm, count;
    asm volatile("mov.u32 %0, %%warpid;" : "=r"(w));
    asm volatile("mov.u32 %0, %%nwarpid;" : "=r"(n));
    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
    asm volatile("mov.u32 %0, %%nsmid;" : "=r"(count));
    bool one_place = __match_any_sync(ALL, w) == ALL && __match_any_sync(ALL, sm) == ALL;
    out[blockIdx.x * 96 + threadIdx.x] = (w < n) + 2 * (sm < count) + 4 * one_place;
}
