// Barriers: loops around them, uniform branches, named and partial ones, reductions.

// launch: block=96
extern "C" __global__ void loop_around_a_barrier(int *out, const int *a)
{
    __shared__ int s[96];
    int i = threadIdx.x;
    s[i] = a[i];
    for (int k = 1; k < 96; k *= 2) {
        __syncthreads();
        int x = i >= k ? s[i - k] : 0;
        __syncthreads();
        s[i] += x;
    }
    out[i] = s[i];
}

// launch: block=100
extern "C" __global__ void barrier_that_counts(int *out, const int *a)
{
    int i = threadIdx.x;
    int n = __syncthreads_count(a[i] > 0);
    int all = __syncthreads_and(a[i] != 12345);
    int any = __syncthreads_or(a[i] == a[99] && i == 99);
    int none = __syncthreads_or(0);
    out[i] = n * 8 + (all != 0) * 4 + (any != 0) * 2 + (none != 0);
}

// launch: block=128
extern "C" __global__ void named_barriers(int *out, const int *a)
{
    __shared__ int s[128];
    int i = threadIdx.x;
    s[i] = a[i];
    // each half of the block waits at a barrier of its own
    if (i < 64) asm volatile("bar.sync 1, 64;" ::: "memory");
    else asm volatile("bar.sync 2, 64;" ::: "memory");
    out[i] = s[i ^ 63];
    asm volatile("barrier.sync 3;" ::: "memory");
    out[i] += s[127 - i];
}

// launch: block=64
extern "C" __global__ void producer_and_consumer(int *out, const int *a)
{
    __shared__ int s[32];
    int i = threadIdx.x;
    out[i] = i;
    for (int k = 0; k < 4; k++) {
        if (i < 32) {
            s[i] = a[i + 32 * k];
            asm volatile("bar.arrive 1, 64; bar.sync 2, 64;" ::: "memory");
        } else {
            asm volatile("bar.sync 1, 64;" ::: "memory");
            out[i] = out[i] * 3 + s[63 - i];
            asm volatile("bar.arrive 2, 64;" ::: "memory");
        }
    }
}

// launch: block=64
extern "C" __global__ void warp_barrier_under_divergence(int *out, const int *a)
{
    __shared__ int s[64];
    int i = threadIdx.x;
    s[i] = a[i];
    __syncwarp();
    int x = 0;
    if (i & 1) {
        x = s[i ^ 2];
        __syncwarp(0xaaaaaaaau);
        s[i] = x;
        __syncwarp(0xaaaaaaaau);
        x += s[i ^ 2];
    } else {
        x = s[i ^ 4] * 3;
    }
    __syncwarp();
    out[i] = x + s[i];
}

// launch: block=128
extern "C" __global__ void barriers_that_reduce(int *out, const int *a)
{
    int i = threadIdx.x, n, r, s;
    asm volatile("{ .reg .pred p; setp.gt.s32 p, %1, 0; barrier.cta.red.popc.u32 %0, 1, p; }"
                 : "=r"(n)
                 : "r"(a[i]));
    asm volatile("{ .reg .pred p, q; setp.lt.s32 p, %1, 99; bar.red.and.pred q, 2, 128, p;"
                 " selp.s32 %0, 1, 0, q; }"
                 : "=r"(r)
                 : "r"(i));
    asm volatile("{ .reg .pred p, q; setp.lt.s32 p, %1, 99; bar.red.or.pred q, 3, 128, !p;"
                 " selp.s32 %0, 1, 0, q; }"
                 : "=r"(s)
                 : "r"(i));
    asm volatile("bar.warp.sync -1; barrier.cta.sync.aligned 4;" ::: "memory");
    out[i] = n * 4 + r * 2 + s;
}
