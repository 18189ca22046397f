// Copies in bulk, of bytes and of boxes: who may touch shared memory while they are under way.
struct Barrier {
    unsigned long long word;
    __device__ unsigned at() { return (unsigned)__cvta_generic_to_shared(&word); }
    __device__ void init(int count)
    {
        asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(at()), "r"(count) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __device__ void arrive()
    { asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(at()) : "memory"); }
    __device__ void expect(int bytes)
    {
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(at()), "r"(bytes)
                     : "memory");
    }
    __device__ void wait(int parity)
    {
        asm volatile("{\n.reg .pred over;\n"
                     "WAIT: mbarrier.try_wait.parity.shared.b64 over, [%0], %1;\n"
                     "@!over bra WAIT;\n}" ::"r"(at()),
                     "r"(parity)
                     : "memory");
    }
    __device__ bool is_over(int parity)
    {
        int over;
        asm volatile("{\n.reg .pred over;\n"
                     "mbarrier.try_wait.parity.shared.b64 over, [%1], %2;\n"
                     "selp.b32 %0, 1, 0, over;\n}"
                     : "=r"(over)
                     : "r"(at()), "r"(parity)
                     : "memory");
        return over;
    }
};

__device__ unsigned shared_at(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }

#define LOAD(to, from, bytes, barrier)                                                             \
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"               \
                 " [%0], [%1], %2, [%3];" ::"r"(shared_at(to)),                                    \
                 "l"(from), "r"(bytes), "r"((barrier).at())                                        \
                 : "memory")
// Thread t, 0, begins a copy, which arrives at a barrier that it makes.
#define BEGIN(to, from, bytes, barrier)                                                            \
    if (t == 0) (barrier).init(1);                                                                 \
    __syncthreads();                                                                               \
    if (t == 0) {                                                                                  \
        (barrier).expect(bytes);                                                                   \
        LOAD(to, from, bytes, barrier);                                                            \
    }
#define STORE(to, from, bytes)                                                                     \
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to),          \
                 "r"(shared_at(from)), "r"(bytes)                                                  \
                 : "memory")

__device__ void commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
template <int groups>
__device__ void wait_until_read()
{ asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(groups) : "memory"); }
__device__ void fence() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

// Thread t, 0, stores all, and waits until it has been read.
#define SEND(to, from, bytes)                                                                      \
    if (t == 0) {                                                                                  \
        STORE(to, from, bytes);                                                                    \
        commit();                                                                                  \
        wait_until_read<0>();                                                                      \
    }

// launch: grid 2, block 128; in float 256, new float 256
extern "C" __global__ void waits_for_the_phase_before(const float *x, float *y)
{
    __shared__ alignas(128) float tile[128];
    __shared__ Barrier full;
    const int t = threadIdx.x, first = blockIdx.x * 128;
    BEGIN(tile, x + first, 512, full);  // caught: race
    full.wait(BUG);
    y[first + t] = tile[127 - t];  // caught: race
}

// launch: grid 2, block 128; in float 256, new float 256
extern "C" __global__ void gives_up_waiting(const float *x, float *y)
{
    __shared__ alignas(128) float tile[128];
    __shared__ Barrier full;
    const int t = threadIdx.x, first = blockIdx.x * 128;
    BEGIN(tile, x + first, 512, full);  // caught: race
    int turns = 0;
    while (!full.is_over(0)) {
        ++turns;
#if BUG
        if (turns > 1000) break;
#endif
    }
    y[first + t] = turns < 0 ? 0 : tile[127 - t];  // caught: race
}

// The warp that waits does so for itself.
// launch: grid 2, block 128; in float 256, new float 256
extern "C" __global__ void one_warp_waits_for_all(const float *x, float *y)
{
    __shared__ alignas(128) float tile[128];
    __shared__ Barrier full;
    const int t = threadIdx.x, first = blockIdx.x * 128;
    BEGIN(tile, x + first, 512, full);  // caught: race
    if (t < 32) full.wait(0);
    if (!BUG) __syncthreads();
    y[first + t] = tile[127 - t];  // caught: race
}

// launch: grid 2, block 128; in float 256, new float 256
extern "C" __global__ void writes_where_bytes_are_to_come(const float *x, float *y)
{
    __shared__ alignas(128) float tile[128];
    __shared__ Barrier full;
    const int t = threadIdx.x, first = blockIdx.x * 128;
    BEGIN(tile, x + first, 512, full);  // caught: race
    if (!BUG) full.wait(0);
    if (t == 64) tile[64] = 0;  // caught: race
    if (BUG) full.wait(0);
    __syncthreads();
    y[first + t] = tile[127 - t];
}

// The same with one lane that says for its warp that a stage has been read.
// launch: grid 2, block 64; in float 1024, new float 1024
extern "C" __global__ void one_lane_releases_for_its_warp(const float *x, float *y)
{
    __shared__ alignas(128) float tile[2][32];
    __shared__ Barrier full[2], empty[2];
    const int t = threadIdx.x, first = blockIdx.x * 512;
    if (t == 0)
        for (int s = 0; s < 2; s++) full[s].init(1), empty[s].init(1);
    __syncthreads();
    if (t < 32) {
        for (int n = 0; n < 16 && t == 0; n++) {
            empty[n & 1].wait(1 ^ (n >> 1 & 1));
            full[n & 1].expect(128);
            LOAD(tile[n & 1], x + first + 32 * n, 128, full[n & 1]);  // caught: race
        }
        return;
    }
    for (int n = 0; n < 16; n++) {
        full[n & 1].wait(n >> 1 & 1);
        y[first + 32 * n + t - 32] = tile[n & 1][63 - t];  // caught: race
        if (!BUG) __syncwarp();
        if (t == 32) empty[n & 1].arrive();
    }
}

// launch: grid 2, block 128; in float 256, new float 256
extern "C" __global__ void fences_before_it_stores(const float *x, float *y)
{
    __shared__ alignas(128) float tile[128];
    const int t = threadIdx.x, first = blockIdx.x * 128;
    if (BUG) fence();
    tile[127 - t] = x[first + t];  // caught: missing proxy fence
    if (!BUG) fence();
    __syncthreads();
    SEND(y + first, tile, 512);  // caught: missing proxy fence
}

// launch: grid 2, block 128; in float 512, new float 512
extern "C" __global__ void the_one_that_stores_waits_alone(const float *x, float *y)
{
    __shared__ alignas(128) float tile[128];
    const int t = threadIdx.x, first = blockIdx.x * 256;
    for (int n = 0; n < 2; n++) {
        tile[127 - t] = x[first + 128 * n + t];  // caught: race
        fence();
        __syncthreads();
        SEND(y + first + 128 * n, tile, 512);  // caught: race
        if (!BUG) __syncthreads();
    }
}

// Of two buffers, the one is written while the other is stored.
// launch: grid 2, block 128; in float 1024, new float 1024
extern "C" __global__ void waits_for_too_few_groups(const float *x, float *y)
{
    __shared__ alignas(128) float tile[2][128];
    const int t = threadIdx.x, first = blockIdx.x * 512;
    for (int n = 0; n < 4; n++) {
        if (t == 0) wait_until_read<BUG ? 2 : 1>();
        __syncthreads();
        tile[n & 1][127 - t] = x[first + 128 * n + t];  // caught: race
        fence();
        __syncthreads();
        if (t == 0) {
            STORE(y + first + 128 * n, tile[n & 1], 512);  // caught: race
            commit();
        }
    }
    if (t == 0) wait_until_read<0>();
}

// launch: grid 2, block 128; in float 512, new float 512
extern "C" __global__ void waits_for_what_is_in_no_group(const float *x, float *y)
{
    __shared__ alignas(128) float tile[128];
    const int t = threadIdx.x, first = blockIdx.x * 256;
    for (int n = 0; n < 2; n++) {
        tile[127 - t] = x[first + 128 * n + t];  // caught: race
        fence();
        __syncthreads();
        if (t == 0) {
            STORE(y + first + 128 * n, tile, 512);  // caught: race
            if (!BUG || n) commit();
            wait_until_read<0>();
        }
        __syncthreads();
    }
}

// What comes in bulk may leave so: no ordinary store lies between. But it must have come.
// launch: grid 2, block 32; in float 64, new float 64
extern "C" __global__ void passes_on_what_has_not_come(const float *x, float *y)
{
    __shared__ alignas(128) float tile[32];
    __shared__ Barrier full;
    const int t = threadIdx.x, first = blockIdx.x * 32;
    if (t == 0) {
        full.init(1);
        full.expect(128);
        LOAD(tile, x + first, 128, full);  // caught: race
        if (!BUG) full.wait(0);
        STORE(y + first, tile, 128);  // caught: race
        commit();
        wait_until_read<0>();
    }
}

// Copies need not see an mbarrier that was begun, without a fence.
// launch: grid 2, block 128; in float 256, new float 256
extern "C" __global__ void mbarrier_not_shown(const float *x, float *y)
{
    __shared__ alignas(128) float tile[128];
    __shared__ Barrier full;
    const int t = threadIdx.x, first = blockIdx.x * 128;
    if (t == 0) {
        const unsigned at = full.at();
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(at));  // caught: missing proxy fence
#if !BUG
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#endif
    }
    __syncthreads();
    if (t == 0) {
        full.expect(512);
        LOAD(tile, x + first, 512, full);  // caught: missing proxy fence
    }
    full.wait(0);
    y[first + t] = tile[t];
}

// The last copy is one too many: it may be under way when the block ends.
// launch: grid 2, block 128; in float 768, new float 256, int 2
extern "C" __global__ void fetches_one_more(const float *x, float *y, int tiles)
{
    __shared__ alignas(128) float tile[128];
    __shared__ Barrier full;
    const int t = threadIdx.x;
    float sum = 0;
    if (t == 0) full.init(1);
    __syncthreads();
    for (int k = 0; k <= tiles; k++) {
        if (t == 0 && k < tiles + BUG) {
            full.expect(512);
            LOAD(tile, x + (blockIdx.x * tiles + k) * 128, 512, full);  // caught: unfinished copy
        }
        if (k == tiles) break;
        full.wait(k % 2);
        sum += tile[t];
        __syncthreads();
    }
    y[blockIdx.x * 128 + t] = sum;
}

// launch: grid 2, block 128; in float 256, new float 256
extern "C" __global__ void ends_before_it_is_read(const float *x, float *y)
{
    __shared__ alignas(128) float tile[128];
    const int t = threadIdx.x, first = blockIdx.x * 128;
    tile[t] = x[first + t];
    fence();
    __syncthreads();
    if (t == 0) {
        STORE(y + first, tile, 512);  // caught: unfinished copy
        commit();
        if (!BUG) wait_until_read<0>();
    }
}

// What one warp learns of another's lanes, it hands on by a barrier of the two.
// launch: grid 1, block 96; in float 32, new float 32
extern "C" __global__ void hands_on_what_lanes_did(const float *x, float *y)
{
    __shared__ float s[32];
    __shared__ Barrier made;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (threadIdx.x == 0) made.init(32);
    __syncthreads();
    if (warp == 0) {
        s[lane] = x[lane];  // caught: race
        made.arrive();
    }
    if (warp == 1) made.wait(0);
#if !BUG
    if (warp > 0) asm volatile("bar.sync 1, 64;" ::: "memory");
#endif
    if (warp == 2) y[lane] = s[31 - lane];  // caught: race
}
