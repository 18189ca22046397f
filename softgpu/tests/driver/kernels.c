/* Kernels for test_driver.py, written the way compiled kernels are: one call runs a warp. */
#include "runtime.h"

#define EXPORT __attribute__((visibility("default")))
#define FOR_ACTIVE(lane)                                                                           \
    for (uint32_t lane = 0; lane < LANES; lane++)                                                  \
        if (w->live >> lane & 1)
#define ARRAY(type, name) type name[LANES] __attribute__((aligned(64)))

static uint32_t thread_of(const Warp *w, uint32_t lane)
{ return w->tid[0][lane] + w->ntid[0] * (w->tid[1][lane] + w->ntid[1] * w->tid[2][lane]); }

static uint64_t block_of(const Warp *w)
{
    return w->ctaid[0] +
           (uint64_t)w->nctaid[0] * (w->ctaid[1] + (uint64_t)w->nctaid[1] * w->ctaid[2]);
}

/* Global thread number. */
static uint64_t index_of(const Warp *w, uint32_t lane)
{ return block_of(w) * w->ntid[0] * w->ntid[1] * w->ntid[2] + thread_of(w, lane); }

EXPORT void empty(Warp *w) { w->live = 0; }

/* What no compiled kernel should do: it ends the process. */
EXPORT void crash(Warp *w)
{
    *(volatile int *)24 = 1;
    w->live = 0;
}

/* (uint32 *out): out[i] = i; site 0 stores 4 bytes */
EXPORT void number(Warp *w)
{
    uint32_t *out = *(uint32_t **)w->params;
    ARRAY(uint64_t, addr);
    ARRAY(uint32_t, value);
    FOR_ACTIVE(lane)
    {
        value[lane] = index_of(w, lane);
        addr[lane] = (uint64_t)(out + value[lane]);
    }
    sg_store(w, 0, addr, w->live, value);
}

/* (char *out, uint64 stride): each thread loads 4 bytes at out + thread * stride; site 0 */
EXPORT void read_at(Warp *w)
{
    uint64_t base = ((uint64_t *)w->params)[0], stride = ((uint64_t *)w->params)[1];
    ARRAY(uint64_t, addr);
    ARRAY(uint32_t, value);
    FOR_ACTIVE(lane) addr[lane] = base + index_of(w, lane) * stride;
    sg_load(w, 0, addr, w->live, value);
}

/* (uint32 *out, uint32 n): sums of the block's thread numbers through shared memory, in a tree */
EXPORT void block_sum(Warp *w)
{
    uint32_t *out = *(uint32_t **)w->params, *shared = (uint32_t *)w->shared;
    uint32_t threads = w->ntid[0] * w->ntid[1] * w->ntid[2];
    FOR_ACTIVE(lane) shared[thread_of(w, lane)] = index_of(w, lane);
    sg_barrier(w, 1, 0, 0, w->live, 0, 0);
    for (uint32_t step = 1024; step > 0; step /= 2) {
        FOR_ACTIVE(lane)
        {
            uint32_t t = thread_of(w, lane);
            if (t < step && t + step < threads) shared[t] += shared[t + step];
        }
        sg_barrier(w, 1, 0, 0, w->live, 0, 0);
    }
    if (w->warp_id == 0) out[block_of(w)] = shared[0];
}

/* (uint32 *out): threads below 40 leave, the others meet; out: popc, and, or of odd threads */
EXPORT void some_leave(Warp *w)
{
    uint32_t *out = *(uint32_t **)w->params, odd = 0;
    FOR_ACTIVE(lane) if (thread_of(w, lane) < 40) w->live &= ~(1u << lane);
    if (!w->live) return;
    FOR_ACTIVE(lane) odd |= (thread_of(w, lane) & 1) << lane;
    uint32_t count = sg_barrier(w, 1, 0, 0, w->live, 1, odd);
    uint32_t all = sg_barrier(w, 1, 3, 0, w->live, 2, odd);
    uint32_t any = sg_barrier(w, 1, 3, 0, w->live, 3, odd);
    if (w->warp_id == 1) {
        out[0] = count;
        out[1] = all;
        out[2] = any;
    }
}

/* (uint32 *out): warp 0 arrives at barrier 1 after its work; warp 1 waits for it */
EXPORT void producer(Warp *w)
{
    uint32_t *out = *(uint32_t **)w->params;
    volatile uint32_t *shared = (uint32_t *)w->shared;
    if (w->warp_id == 1) {
        shared[0] = 42;
        sg_barrier_arrive(w, 1, 1, 64, w->live);
    } else {
        sg_barrier(w, 1, 1, 64, w->live, 0, 0);
        out[0] = shared[0];
    }
}

/* warp 0 waits at barrier 0, the others at barrier 1 for one warp too many */
EXPORT void deadlock(Warp *w)
{
    if (w->warp_id == 0) sg_barrier(w, 1, 0, 0, w->live, 0, 0);
    else sg_barrier(w, 2, 1, 32 * (w->ntid[0] / 32), w->live, 0, 0);
}

/* half of a warp is at the barrier, the other half has not left */
EXPORT void half_barrier(Warp *w) { sg_barrier(w, 1, 0, 0, w->live & 0xffff, 0, 0); }

/* warp 0 spins until warp 1 has written; without yielding it would spin for ever */
EXPORT void spin_for_warp(Warp *w)
{
    volatile uint32_t *shared = (uint32_t *)w->shared;
    uint32_t *out = *(uint32_t **)w->params;
    if (w->warp_id == 0) {
        shared[0] = 0;
        sg_barrier(w, 1, 0, 0, w->live, 0, 0);
        while (!shared[0]) {
            if (*w->stop) sg_stop(w, 0);
            sg_yield(w, 0);
        }
        out[0] = shared[0];
    } else {
        sg_barrier(w, 1, 0, 0, w->live, 0, 0);
        shared[0] = 7;
    }
}

static void wait_for(Warp *w, const volatile uint32_t *flag, uint32_t value)
{
    while (*flag < value) {
        if (*w->stop) sg_stop(w, 95);
        sg_yield(w, 96);
    }
}

/* (uint32 *own, const uint32 *other, uint32 rounds, uint32 leads): each sets its flag to 1, 2, ... in
   turn with the other */
EXPORT void take_turns(Warp *w)
{
    uint64_t *params = (uint64_t *)w->params;
    const volatile uint32_t *other = (uint32_t *)params[1];
    ARRAY(uint64_t, addr);
    ARRAY(uint32_t, value);
    for (uint32_t i = 1; i <= params[2]; i++) {
        if (!params[3]) wait_for(w, other, i);
        addr[0] = params[0];
        value[0] = i;
        sg_store(w, 0, addr, 1, value);
        if (params[3]) wait_for(w, other, i);
    }
}

/* (uint32 *out, const uint32 *flag): stores 1, waits for the flag and stores 2; the block meets in
   each round of waiting */
EXPORT void store_twice(Warp *w)
{
    uint64_t *params = (uint64_t *)w->params;
    const volatile uint32_t *flag = (uint32_t *)params[1];
    ARRAY(uint64_t, addr);
    ARRAY(uint32_t, value);
    addr[0] = params[0];
    value[0] = 1;
    sg_store(w, 0, addr, 1, value);
    while (!sg_barrier(w, 1, 0, 0, w->live, 3, *flag ? w->live : 0)) {
        if (*w->stop) sg_stop(w, 97);
        sg_yield(w, 97);
    }
    value[0] = 2;
    sg_store(w, 0, addr, 1, value);
}

EXPORT void endless(Warp *w)
{
    for (;;)
        if (*w->stop) sg_stop(w, 0);
}

/* (uint32 *counter, float *sum, uint32 *old): every thread adds 1 to both */
EXPORT void count(Warp *w)
{
    uint64_t *params = (uint64_t *)w->params;
    ARRAY(uint64_t, addr);
    ARRAY(uint32_t, one);
    ARRAY(float, real);
    ARRAY(uint32_t, old);
    FOR_ACTIVE(lane)
    {
        one[lane] = 1;
        real[lane] = 1;
        addr[lane] = params[0];
    }
    sg_atomic(w, 3, OP_ADD, TY_U32, addr, w->live, one, 0, old);
    if (params[2]) FOR_ACTIVE(lane)((uint32_t *)params[2])[old[lane]] += 1;
    FOR_ACTIVE(lane) addr[lane] = params[1];
    sg_atomic(w, 3, OP_ADD, TY_F32, addr, w->live, real, 0, 0);
}

/* (const char *format, void *arguments of thread 0, uint64 bytes a thread, int32 *out) */
EXPORT void print(Warp *w)
{
    uint64_t *params = (uint64_t *)w->params;
    ARRAY(uint64_t, format);
    ARRAY(uint64_t, arguments);
    ARRAY(int32_t, out);
    FOR_ACTIVE(lane)
    {
        format[lane] = params[0];
        arguments[lane] = params[1] + params[2] * index_of(w, lane);
    }
    sg_printf(w, w->live, format, arguments, out);
    FOR_ACTIVE(lane)((int32_t *)params[3])[index_of(w, lane)] = out[lane];
}

/* (const char *text): asserts in threads 3 and 4 */
EXPORT void fail_assert(Warp *w)
{
    ARRAY(uint64_t, text);
    ARRAY(uint32_t, line);
    FOR_ACTIVE(lane)
    {
        text[lane] = *(uint64_t *)w->params;
        line[lane] = 12;
    }
    sg_assert(w, 6, w->live & 0x18, text, text, line, text);
}

EXPORT void trap(Warp *w) { sg_trap(w, 6, w->live & 2); }

EXPORT void deep(Warp *w) { sg_stack_overflow(w, 6, w->live); }

/* (uint64 offset): byte of shared memory; site 7 */
EXPORT void read_shared(Warp *w)
{
    ARRAY(uint64_t, addr);
    ARRAY(uint32_t, value);
    FOR_ACTIVE(lane) addr[lane] = (uint64_t)w->shared + *(uint64_t *)w->params;
    sg_load(w, 7, addr, w->live, value);
}

/* (uint64 offset): byte of local memory; site 8 */
EXPORT void write_local(Warp *w)
{
    ARRAY(uint64_t, addr);
    ARRAY(uint32_t, value);
    FOR_ACTIVE(lane)
    {
        addr[lane] = (uint64_t)w->local + lane * w->local_stride + *(uint64_t *)w->params;
        value[lane] = 1;
    }
    sg_store(w, 8, addr, w->live, value);
}

/* (uint64 *out, uint64 bytes): blocks of the heap, written, then every second one is freed */
EXPORT void allocate(Warp *w)
{
    uint64_t *params = (uint64_t *)w->params, *out = (uint64_t *)params[0];
    ARRAY(uint64_t, size);
    ARRAY(uint64_t, block);
    ARRAY(uint32_t, value);
    FOR_ACTIVE(lane)
    {
        size[lane] = params[1];
        value[lane] = index_of(w, lane);
    }
    sg_malloc(w, w->live, size, block);
    sg_store(w, 0, block, w->live, value);
    sg_free(w, w->live & 0xaaaaaaaa, block);
    FOR_ACTIVE(lane) out[index_of(w, lane)] = block[lane];
}

/* (uint32 *out): 4 words a thread through a vector store, read back through a vector load */
EXPORT void vectors(Warp *w)
{
    uint64_t base = *(uint64_t *)w->params;
    uint32_t data[4][LANES] __attribute__((aligned(64))),
        again[4][LANES] __attribute__((aligned(64)));
    ARRAY(uint64_t, addr);
    FOR_ACTIVE(lane)
    {
        addr[lane] = base + 16 * index_of(w, lane);
        for (int i = 0; i < 4; i++) data[i][lane] = 4 * index_of(w, lane) + i;
    }
    sg_store(w, 9, addr, w->live, data);
    sg_load(w, 10, addr, w->live, again);
    FOR_ACTIVE(lane) again[0][lane] += again[3][lane];
    FOR_ACTIVE(lane) addr[lane] += 4;
    sg_store(w, 0, addr, w->live, again[0]);
}

/* (uint32 *out): out[i] += 1 */
EXPORT void increment(Warp *w)
{ FOR_ACTIVE(lane)(*(uint32_t **)w->params)[index_of(w, lane)] += 1; }

/* (uint64 condition, uint32 *left): sets the condition to --*left */
EXPORT void count_down(Warp *w)
{
    ARRAY(uint64_t, handle);
    ARRAY(uint32_t, value);
    handle[0] = ((uint64_t *)w->params)[0];
    value[0] = --*((uint32_t **)w->params)[1];
    sg_set_condition(w, 6, 1, handle, value);
}

/* (uint32 *out): out[i] is the number of the block that ran as the i-th */
EXPORT void ticket(Warp *w)
{
    static uint32_t next;
    (*(uint32_t **)w->params)[next++] = block_of(w);
    if (next == w->nctaid[0]) next = 0;
}

/* counters[0] += 1 a warp */
EXPORT void counted(Warp *w)
{
    w->counters[0] += 1;
    w->counters[1] += 2;
}
