// redux, vote, shfl, match, elect and __syncwarp with masks that leave out lanes which execute them.
#include <cstdio>
#include <cstdlib>
#include <cstring>

enum Masks {
    LOW,
    ODD,
    BELOW,
    HALVES,
    QUARTERS,
    OWN,
    NOT_OWN,
    FULL_BUT_0,
    HALF_FULL,
    CROSSED,
    KINDS
};
static const char *names[] = {
    "0xff",     "odd",         "(1<<lane)-1", "own half",         "own quarter",
    "own lane", "all but own", "all but 0",   "full or low half", "other half"};

__device__ unsigned mask_of(int kind, unsigned lane)
{
    switch (kind) {
    case LOW: return 0xff;
    case ODD: return 0xaaaaaaaa;
    case BELOW: return (1u << lane) - 1;
    case HALVES: return lane < 16 ? 0xffff : 0xffff0000;
    case QUARTERS: return 0xffu << lane / 8 * 8;
    case OWN: return 1u << lane;
    case NOT_OWN: return ~(1u << lane);
    case FULL_BUT_0: return 0xfffffffe;
    case HALF_FULL: return lane < 16 ? 0xffff : 0xffffffff;
    default: return lane < 16 ? 0xffff0000 : 0xffff;
    }
}

template <int WHAT>
__device__ unsigned ask(unsigned mask, unsigned lane)
{
    unsigned r = 0, more = 0;
    const unsigned v = lane * 3 + 5;
    const int s = (int)v - 50;
#define REDUX(which, op, value)                                                                    \
    if (WHAT == which)                                                                             \
        asm volatile("redux.sync." op " %0, %1, %2;" : "=r"(r) : "r"(value), "r"(mask));
    REDUX(0, "add.s32", s)
    REDUX(1, "add.u32", v)
    REDUX(2, "min.s32", s)
    REDUX(3, "max.s32", s)
    REDUX(4, "min.u32", v)
    REDUX(5, "max.u32", v)
    REDUX(6, "and.b32", v | 256)
    REDUX(7, "or.b32", v)
    REDUX(8, "xor.b32", v)
#define VOTE(which, op, condition)                                                                 \
    if (WHAT == which)                                                                             \
        asm volatile("{.reg .pred p, q; setp.ne.u32 p, %1, 0; vote.sync." op ".pred q, p, %2;\n"   \
                     "selp.u32 %0, 1, 0, q;}"                                                      \
                     : "=r"(r)                                                                     \
                     : "r"((unsigned)(condition)), "r"(mask));
    VOTE(9, "any", lane == 9)
    VOTE(10, "all", lane != 9)
    VOTE(11, "uni", lane != 9)
    VOTE(12, "all", lane < 8)
    VOTE(13, "any", lane == 1)
    if (WHAT == 14) r = __ballot_sync(mask, true);
    if (WHAT == 15) r = __ballot_sync(mask, lane % 3);
#define SHFL(which, op, b, c)                                                                      \
    if (WHAT == which) {                                                                           \
        asm volatile("{.reg .pred p; shfl.sync." op                                                \
                     ".b32 %0|p, %2, %3, %4, %5; selp.u32 %1, 1, 0, p;}"                           \
                     : "=r"(r), "=r"(more)                                                         \
                     : "r"(v), "r"(b), "r"(c), "r"(mask));                                         \
        r |= more << 16;                                                                           \
    }
    SHFL(16, "idx", 3, 31)
    SHFL(17, "idx", 20, 31)
    SHFL(18, "up", 1, 0)
    SHFL(19, "down", 1, 31)
    SHFL(20, "bfly", 16, 31)
    SHFL(21, "bfly", 1, 31)
    SHFL(22, "idx", (lane * 7) & 31, 31)
    if (WHAT == 23) r = __match_any_sync(mask, lane % 4);
    if (WHAT == 24) {
        int all = 0;
        r = __match_all_sync(mask, 7, &all), r ^= (unsigned)(all != 0) << 30;
    }
    if (WHAT == 25) {
        int all = 0;
        r = __match_all_sync(mask, lane / 8, &all), r ^= (unsigned)(all != 0) << 30;
    }
    if (WHAT == 26)
        asm volatile("{.reg .pred p; elect.sync %0|p, %2; selp.u32 %1, 1, 0, p;}"
                     : "=r"(r), "=r"(more)
                     : "r"(mask));
    if (WHAT == 26) r |= more << 16;
    if (WHAT == 27) {
        asm volatile("bar.warp.sync %0;" ::"r"(mask));
        r = __activemask();
    }
    return r;
}
static const char *asked[] = {"redux.add.s32",
                              "redux.add.u32",
                              "redux.min.s32",
                              "redux.max.s32",
                              "redux.min.u32",
                              "redux.max.u32",
                              "redux.and.b32",
                              "redux.or.b32",
                              "redux.xor.b32",
                              "vote.any lane 9",
                              "vote.all but lane 9",
                              "vote.uni but lane 9",
                              "vote.all lanes below 8",
                              "vote.any lane 1",
                              "ballot of true",
                              "ballot of lane % 3",
                              "shfl.idx 3",
                              "shfl.idx 20",
                              "shfl.up 1",
                              "shfl.down 1",
                              "shfl.bfly 16",
                              "shfl.bfly 1",
                              "shfl.idx 7 * lane",
                              "match.any lane % 4",
                              "match.all equal",
                              "match.all unequal",
                              "elect",
                              "bar.warp.sync"};

template <int WHAT>
__global__ void at_run_time(unsigned *out, int kind)
{ out[threadIdx.x] = ask<WHAT>(mask_of(kind, threadIdx.x), threadIdx.x); }

template <int WHAT, unsigned MASK>
__global__ void constant(unsigned *out)
{ out[threadIdx.x] = ask<WHAT>(MASK, threadIdx.x); }

static unsigned *out;

static void tell(const char *what, const char *mask)
{
    const cudaError_t error = cudaDeviceSynchronize();
    printf("%s, mask %s:", what, mask);
    if (error) {
        printf(" %s\n", cudaGetErrorString(error));
        exit(0);
    }
    for (int lane = 0; lane < 32;) {
        int end = lane + 1;
        while (end < 32 && out[end] == out[lane]) end++;
        printf(" %d-%d %x", lane, end - 1, out[lane]);
        lane = end;
    }
    printf("\n");
    fflush(stdout);
}

template <int WHAT>
static void each(int chosen, int kind)
{
    if (chosen == WHAT) {
        memset(out, 0, 128);
        if (kind == KINDS) constant<WHAT, 0xff><<<1, 32>>>(out), tell(asked[WHAT], "constant 0xff");
        else if (kind == KINDS + 1)
            constant<WHAT, 0xaaaaaaaa><<<1, 32>>>(out), tell(asked[WHAT], "constant odd");
        else at_run_time<WHAT><<<1, 32>>>(out, kind), tell(asked[WHAT], names[kind]);
    }
    if constexpr (WHAT < 27) each<WHAT + 1>(chosen, kind);
}

int main(int count, char **words)
{  // [mask [operation]]: else all
    cudaMallocManaged(&out, 128);
    for (int kind = 0; kind < KINDS + 2; kind++)
        for (int what = 0; what < 28; what++)
            if ((count < 2 || kind == atoi(words[1])) && (count < 3 || what == atoi(words[2])))
                each<0>(what, kind);
}
