// Every form of the instructions on mbarriers, by one thread: what each says goes to `out`.
#include <cstdint>

#define PTX(...) asm volatile(__VA_ARGS__)
#define IS_OVER "selp.u32 %0, 1, 0, p; }" : "=r"(over)

struct Shared {
    alignas(8) uint64_t word;
    alignas(16) int copied[4];
};

__device__ uint32_t at(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }

__device__ void init(void *bar, uint32_t count)
{ PTX("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at(bar)), "r"(count) : "memory"); }

__device__ uint64_t arrive(void *bar)
{
    uint64_t state;
    PTX("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(at(bar)) : "memory");
    return state;
}

__device__ uint32_t pending(uint64_t state)
{
    uint32_t count;
    PTX("mbarrier.pending_count.b64 %0, %1;" : "=r"(count) : "l"(state));
    return count;
}

__device__ bool over(void *bar, uint64_t state)
{
    uint32_t over;
    PTX("{ .reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2;" IS_OVER : "r"(at(bar)),
        "l"(state) : "memory");
    return over;
}

__device__ bool parity_over(void *bar, uint32_t parity)
{
    uint32_t over;
    PTX("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], %2;" IS_OVER : "r"(at(bar)),
        "r"(parity) : "memory");
    return over;
}

extern "C" {
// Arrivals, and what the states say was pending before each.
__global__ void arrivals(uint32_t *out)
{
    __shared__ Shared s;
    void *bar = &s.word;
    uint64_t a, b, c, d, e;
    init(bar, 9);
    a = arrive(bar);
    PTX("mbarrier.arrive.shared::cta.b64 %0, [%1], 2;" : "=l"(b) : "r"(at(bar)) : "memory");
    PTX("mbarrier.arrive.release.cta.b64 %0, [%1];" : "=l"(c) : "l"(bar) : "memory");
    PTX("mbarrier.arrive.noComplete.shared.b64 %0, [%1], 3;" : "=l"(d) : "r"(at(bar)) : "memory");
    PTX("mbarrier.arrive.noComplete.b64 %0, [%1], 1;" : "=l"(e) : "l"(bar) : "memory");
    for (uint64_t state : {a, b, c, d, e}) *out++ = pending(state);
    *out++ = over(bar, a);
    *out++ = parity_over(bar, 0);
    *out++ = parity_over(bar, 1);  // the phase before the first
    PTX("mbarrier.arrive.release.cta.shared::cta.b64 _, [%0], %1;" ::"r"(at(bar)), "r"(1));
    for (uint64_t state : {a, e}) *out++ = over(bar, state);
    *out++ = parity_over(bar, 0);
    *out++ = parity_over(bar, 1);
    a = arrive(bar);
    *out++ = pending(a);
    *out++ = over(bar, a);
    PTX("mbarrier.arrive.b64 _, [%0], 8;" ::"l"(bar) : "memory");
    *out++ = over(bar, a);
    *out++ = parity_over(bar, 1);
}

// Those that drop out are not waited for in later phases.
__global__ void drops(uint32_t *out)
{
    __shared__ Shared s;
    void *bar = &s.word;
    uint64_t a, b, c, d;
    init(bar, 7);
    PTX("mbarrier.arrive_drop.shared.b64 %0, [%1];" : "=l"(a) : "r"(at(bar)) : "memory");
    PTX("mbarrier.arrive_drop.release.cta.shared::cta.b64 %0, [%1], 2;" : "=l"(b) : "r"(
        at(bar)) : "memory");
    PTX("mbarrier.arrive_drop.noComplete.b64 %0, [%1], 1;" : "=l"(c) : "l"(bar) : "memory");
    for (uint64_t state : {a, b, c}) *out++ = pending(state);
    PTX("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(d) : "r"(at(bar)) : "memory");
    *out++ = over(bar, d);
    PTX("mbarrier.arrive_drop.b64 _, [%0], 2;" ::"l"(bar) : "memory");
    *out++ = over(bar, d);
    a = arrive(bar);  // one is left
    *out++ = pending(a);
    *out++ = over(bar, a);
}

// Bytes that are to come hold a phase open.
__global__ void bytes(uint32_t *out)
{
    __shared__ Shared s;
    void *bar = &s.word;
    uint64_t a, b;
    init(bar, 2);
    PTX("mbarrier.arrive.expect_tx.shared.b64 %0, [%1], 48;" : "=l"(a) : "r"(at(bar)) : "memory");
    *out++ = pending(a);
    PTX("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(at(bar)), "r"(16));
    PTX("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], 32;" ::"r"(at(bar)));
    (void)arrive(bar);
    *out++ = over(bar, a);
    PTX("mbarrier.complete_tx.shared::cta.b64 [%0], 32;" ::"r"(at(bar)) : "memory");
    *out++ = over(bar, a);
    b = arrive(bar);
    PTX("mbarrier.arrive_drop.expect_tx.release.cta.shared::cta.b64 %0, [%1], 4;" : "=l"(a) : "r"(
        at(bar)) : "memory");
    *out++ = pending(a);
    *out++ = over(bar, b);
    PTX("mbarrier.complete_tx.b64 [%0], 4;" ::"l"(bar) : "memory");
    *out++ = over(bar, b);
    a = arrive(bar);
    *out++ = pending(a);
    *out++ = over(bar, a);
}

// The ways to wait; the last of each pair is for the phase that has ended.
__global__ void waits(uint32_t *out)
{
    __shared__ Shared s;
    void *bar = &s.word;
    uint32_t over;
    init(bar, 2);
    uint64_t before = arrive(bar);
    (void)arrive(bar);
    uint64_t now = arrive(bar);
#define WAIT(FORM, SPACE, ADDRESS, WHICH, ...)                                                     \
    PTX("{ .reg .pred p; mbarrier." FORM ".b64 p, [%1], %2" __VA_ARGS__                            \
        ";" IS_OVER : SPACE(ADDRESS),                                                              \
        WHICH : "memory");                                                                         \
    *out++ = over
#define BOTH(FORM, SPACE, ADDRESS, ...)                                                            \
    WAIT(FORM, SPACE, ADDRESS, "l"(now)__VA_OPT__(, ) __VA_ARGS__);                                \
    WAIT(FORM, SPACE, ADDRESS, "l"(before)__VA_OPT__(, ) __VA_ARGS__)
#define PARITIES(FORM, SPACE, ADDRESS, ...)                                                        \
    WAIT(FORM, SPACE, ADDRESS, "r"(1)__VA_OPT__(, ) __VA_ARGS__);                                  \
    WAIT(FORM, SPACE, ADDRESS, "r"(0)__VA_OPT__(, ) __VA_ARGS__)
    BOTH("test_wait.shared::cta", "r", at(bar));
    BOTH("test_wait", "l", bar);
    BOTH("test_wait.acquire.cta.shared", "r", at(bar));
    BOTH("test_wait.relaxed.cluster", "l", bar);
    BOTH("try_wait.shared", "r", at(bar));
    BOTH("try_wait", "l", bar, ", 1000");
    BOTH("try_wait.acquire.cluster.shared::cta", "r", at(bar), ", 1");
    PARITIES("test_wait.parity.acquire.cta.shared::cta", "r", at(bar));
    PARITIES("test_wait.parity", "l", bar);
    PARITIES("try_wait.parity.shared", "r", at(bar));
    PARITIES("try_wait.parity.acquire.cta", "l", bar, ", 1000");
    PTX("mbarrier.inval.shared.b64 [%0];" ::"r"(at(bar)) : "memory");
    init(bar, 1);
    PTX("fence.mbarrier_init.release.cluster;" :: : "memory");
    *out++ = pending(arrive(bar));
    PTX("mbarrier.inval.b64 [%0];" ::"l"(bar) : "memory");
    s.word = 77;
    *out++ = (uint32_t)s.word;
}

// Waits for more bytes than are copied.
__global__ void too_few_bytes(const char *in, int told, int copied)
{
    __shared__ alignas(16) char tile[1024];
    __shared__ uint64_t bar;
    if (threadIdx.x == 0) init(&bar, 1);
    __syncthreads();
    if (threadIdx.x == 0) {
        PTX("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(at(&bar)), "r"(told));
        PTX("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, "
            "[%3];" ::"r"(at(tile)),
            "l"(in), "r"(copied), "r"(at(&bar)) : "memory");
    }
    PTX("{ .reg .pred p; AGAIN: mbarrier.try_wait.parity.shared.b64 p, [%0], 0;\n"
        "@!p bra AGAIN; }" ::"r"(at(&bar)) : "memory");
}

// Copies whose end is an arrival: awaited from then on, or (noinc) awaited from the beginning.
__global__ void copies(uint32_t *out, const int *in)
{
    __shared__ Shared s;
    void *bar = &s.word;
    init(bar, 3);
    uint32_t to = at(s.copied);
    PTX("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(to), "l"(in) : "memory");
    PTX("cp.async.mbarrier.arrive.shared.b64 [%0];" ::"r"(at(bar)) : "memory");
    PTX("cp.async.mbarrier.arrive.b64 [%0];" ::"l"(bar) : "memory");
    PTX("cp.async.wait_all;" :: : "memory");
    uint64_t state;
    do state = arrive(bar);
    while (false);
    *out++ = pending(state);
    PTX("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(in + 4) : "memory");
    PTX("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(at(bar)) : "memory");
    PTX("cp.async.mbarrier.arrive.noinc.b64 [%0];" ::"l"(bar) : "memory");
    while (!over(bar, state)) {}
    *out++ = s.copied[0];
    *out++ = s.copied[3];
    PTX("mbarrier.arrive.expect_tx.shared.b64 %0, [%1], 16;" : "=l"(state) : "r"(
        at(bar)) : "memory");
    PTX("fence.proxy.async.shared::cta;" :: : "memory");
    PTX("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 16, [%2];" ::
            "r"(to),
        "l"(in + 4), "r"(at(bar)) : "memory");
    *out++ = pending(state);
    *out++ = pending(arrive(bar));
    (void)arrive(bar);
    while (!over(bar, state)) {}
    *out++ = s.copied[3];
}
}
