// What the 32-bit addresses of shared memory are in a cluster, which instructions take another block's,
// and where the windows of generic addresses begin and end: one question for each number given.
#include <cstdio>
#include <cstdlib>
using Word = unsigned long long;
constexpr unsigned STEP = 1 << 24;
constexpr int MOST = 48;

enum Space { SHARED, CLUSTER, LOCAL, GLOBAL, CONSTANT, SPACES };
static const char *spaces[] = {"shared", "shared::cluster", "local", "global", "const"};

__device__ bool is(Space space, Word at)
{
    unsigned yes = 0;
#define ASK(which, name)                                                                           \
    if (space == which)                                                                            \
        asm volatile("{.reg .pred p; isspacep." name " p, %1; selp.u32 %0, 1, 0, p;}"              \
                     : "=r"(yes)                                                                   \
                     : "l"(at));
    ASK(SHARED, "shared")
    ASK(CLUSTER, "shared::cluster")
    ASK(LOCAL, "local")
    ASK(GLOBAL, "global")
    ASK(CONSTANT, "const")
    return yes;
}

__device__ unsigned rank()
{
    unsigned r;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(r));
    return r;
}

__device__ Word generic_of(unsigned shared)
{
    Word generic;
    asm volatile("cvta.shared.u64 %0, %1;" : "=l"(generic) : "l"((Word)shared));
    return generic;
}

__device__ unsigned mapped(unsigned shared, unsigned to)
{
    unsigned r;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(r) : "r"(shared), "r"(to));
    return r;
}

__device__ void meet()
{ asm volatile("barrier.cluster.arrive;\nbarrier.cluster.wait;" ::: "memory"); }

// Bit k: the first, the last byte of the k-th 16 MiB from where the window of shared, local memory begins.
struct Edges {
    Word first[SPACES], last[SPACES], before[SPACES], far[SPACES];
};
struct Windows {
    Edges shared, local;
};

__device__ Edges edges(Word window)
{
    Edges seen = {};
    for (int space = 0; space < SPACES; space++) {
        for (Word k = 0; k < MOST; k++) {
            seen.first[space] |= (Word)is((Space)space, window + k * STEP) << k;
            seen.last[space] |= (Word)is((Space)space, window + k * STEP + STEP - 1) << k;
        }
        seen.before[space] = is((Space)space, window - 1);
        seen.far[space] = is((Space)space, window + (1ull << 32) - 1);
    }
    return seen;
}

__device__ void windows(Windows *out)
{
    volatile char local[64];
    local[threadIdx.x] = 1;
    const Word inside = (Word)local;
    if (threadIdx.x) return;
    out->shared = edges(generic_of(0));
    out->local = edges(inside - __cvta_generic_to_local((void *)local));
}

__global__ void alone_windows(Windows *out) { windows(out + blockIdx.x); }
__global__ void __cluster_dims__(2) pair_windows(Windows *out)
{ windows(out + blockIdx.x), meet(); }
__global__ void __cluster_dims__(8) eight_windows(Windows *out)
{ windows(out + blockIdx.x), meet(); }

struct Names {
    unsigned fixed, dynamic, moved, reserved, to_shared, to_cluster, map[2][3], rank_of[3];
    Word generic, wide, of_cluster, mapped[2][2];
    unsigned rank_of_generic[2];
};

__device__ void names(Names *out)
{
    __shared__ alignas(1024) char fixed[512];
    extern __shared__ char dynamic[];
    fixed[threadIdx.x] = 1;
    Names n = {};
    n.fixed = (unsigned)__cvta_generic_to_shared(fixed);
    n.dynamic = (unsigned)__cvta_generic_to_shared(dynamic);
    asm volatile("{.shared .align 16 .b8 named[16]; mov.u32 %0, named;}" : "=r"(n.moved));
    asm volatile("mov.u32 %0, %%reserved_smem_offset_begin;" : "=r"(n.reserved));
    n.generic = (Word)fixed;
    asm volatile("cvta.to.shared.u64 %0, %1;" : "=l"(n.wide) : "l"(n.generic));
    const unsigned own = rank() * STEP, low = n.fixed & (STEP - 1);
    unsigned given[3] = {low + own, low, low + (own ? 0 : STEP)};
    for (unsigned to = 0; to < 2; to++)
        for (int i = 0; i < 3; i++) n.map[to][i] = mapped(given[i], to);
    for (int i = 0; i < 3; i++)
        asm volatile("getctarank.shared::cluster.u32 %0, %1;" : "=r"(n.rank_of[i]) : "r"(given[i]));
    for (unsigned to = 0; to < 2; to++)
        for (int i = 0; i < 2; i++) {
            const Word from = generic_of(0) + low + (i ? STEP : 0);
            asm volatile("mapa.u64 %0, %1, %2;" : "=l"(n.mapped[to][i]) : "l"(from), "r"(to));
            n.mapped[to][i] -= generic_of(0);
            asm volatile("getctarank.u64 %0, %1;" : "=r"(n.rank_of_generic[i]) : "l"(from));
        }
    n.wide -= n.fixed;
    n.generic -= generic_of(0);
    if (!threadIdx.x) *out = n;
}

__global__ void alone_names(Names *out) { names(out + blockIdx.x); }
__global__ void __cluster_dims__(2) pair_names(Names *out) { names(out + blockIdx.x), meet(); }

// Which word an access reaches: block r has 1000 + 100 r + i at its word i.
enum What {
    LOAD,
    LOAD_CLUSTER,
    LOAD_GENERIC,
    VECTOR,
    STORE,
    STORE_CLUSTER,
    ATOM,
    ATOM_CLUSTER,
    RED,
    MATRIX,
    COPY,
    BULK,
    BULK_CTA,
    BARRIER,
    BARRIER_CLUSTER,
    TRY_WAIT,
    WHATS
};
static const char *whats[] = {"ld.shared",
                              "ld.shared::cluster",
                              "generic ld of cvta.shared",
                              "ld.shared.v4",
                              "st.shared",
                              "st.shared::cluster",
                              "atom.shared.add",
                              "atom.shared::cluster.add",
                              "red.shared.add",
                              "ldmatrix",
                              "cp.async",
                              "cp.async.bulk.shared::cluster.global",
                              "mbarrier of cp.async.bulk",
                              "mbarrier.arrive.shared",
                              "mbarrier.arrive.shared::cluster",
                              "mbarrier.try_wait"};
enum Which { OWN, LOW, OTHER, ABSENT, WHICHES };
static const char *whiches[] = {"own", "without a rank", "the other's", "rank 9's"};

struct Reached {
    unsigned got, changed[2];
};

__device__ unsigned ask(int what, unsigned at, const unsigned *from, unsigned barrier, unsigned bar)
{
    unsigned got = 0, v[4];
    switch (what) {
    case LOAD: asm volatile("ld.shared.u32 %0, [%1];" : "=r"(got) : "r"(at) : "memory"); break;
    case LOAD_CLUSTER:
        asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(got) : "r"(at) : "memory");
        break;
    case LOAD_GENERIC: got = *(volatile unsigned *)generic_of(at); break;
    case VECTOR:
        asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(got), "=r"(v[1]), "=r"(v[2]), "=r"(v[3])
                     : "r"(at)
                     : "memory");
        break;
    case STORE: asm volatile("st.shared.u32 [%0], 7;" ::"r"(at) : "memory"); break;
    case STORE_CLUSTER: asm volatile("st.shared::cluster.u32 [%0], 7;" ::"r"(at) : "memory"); break;
    case ATOM:
        asm volatile("atom.shared.add.u32 %0, [%1], 5;" : "=r"(got) : "r"(at) : "memory");
        break;
    case ATOM_CLUSTER:
        asm volatile("atom.shared::cluster.add.u32 %0, [%1], 5;" : "=r"(got) : "r"(at) : "memory");
        break;
    case RED: asm volatile("red.shared.add.u32 [%0], 5;" ::"r"(at) : "memory"); break;
    case COPY:
        asm volatile("cp.async.ca.shared.global [%0], [%1], 16;\ncp.async.wait_all;" ::"r"(at),
                     "l"(from)
                     : "memory");
        break;
    case BULK:
    case BULK_CTA:
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 16;" ::"r"(barrier) : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                     "[%0], [%1], 16, [%2];" ::"r"(at),
                     "l"(from), "r"(what == BULK ? barrier : bar)
                     : "memory");
        break;
    case BARRIER: asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(bar) : "memory"); break;
    case BARRIER_CLUSTER:
        asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(bar) : "memory");
        break;
    case TRY_WAIT:
        asm volatile("{.reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], 1;\n"
                     "selp.u32 %0, 1, 0, p;}"
                     : "=r"(got)
                     : "r"(bar)
                     : "memory");
        break;
    }
    return got;
}

__device__ unsigned matrix(unsigned at)
{
    unsigned got;
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"
                 : "=r"(got)
                 : "r"(at + threadIdx.x % 8 * 16)
                 : "memory");
    return got;
}

__global__ void __cluster_dims__(2)
    reach(Reached *out, int what, int which, unsigned asking, const unsigned *from)
{
    __shared__ alignas(1024) unsigned words[64];
    __shared__ alignas(16) Word bars[2];
    for (int i = threadIdx.x; i < 64; i += 32) words[i] = 1000 + 100 * rank() + i;
    const unsigned barrier = (unsigned)__cvta_generic_to_shared(bars) & (STEP - 1);
    const unsigned mine = rank() * STEP, place[] = {mine, 0, STEP - mine, 9 * STEP};
    const unsigned low = (unsigned)__cvta_generic_to_shared(words) & (STEP - 1);
    if (!threadIdx.x)
        asm volatile("mbarrier.init.shared.b64 [%0], 2;" ::"r"(mine + barrier) : "memory");
    asm volatile("fence.proxy.async;" ::: "memory");
    meet();
    unsigned got = 0;
    if (rank() == asking) {
        if (what == MATRIX) got = matrix(low + place[which]);
        else if (!threadIdx.x)
            got = ask(what, low + (what == BULK_CTA ? mine : place[which]), from, mine + barrier,
                      barrier + place[which]);
        const long long end = clock64() + 20000;
        while (clock64() < end) {}
    }
    meet();
    if (what >= BARRIER &&
        what < TRY_WAIT) {  // one more arrival at each ends a phase that was told
        if (!threadIdx.x)
            asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(mine + barrier) : "memory");
        unsigned over;
        asm volatile("{.reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], 0;\n"
                     "selp.u32 %0, 1, 0, p;}"
                     : "=r"(over)
                     : "r"(mine + barrier)
                     : "memory");
        words[0] = over ? 1 : 1000 + 100 * rank();
    }
    __syncthreads();
    if (!threadIdx.x) {
        if (rank() == asking) out->got = got;
        out->changed[rank()] = words[0];
    }
    meet();
}

static char *memory;

// Whether a question was answered; else what came instead, after which the software GPU can go on.
static bool ended(const char *what)
{
    const cudaError_t error = cudaDeviceSynchronize();
    if (error)
        printf("%s%s\n", what, cudaGetErrorString(error)), cudaDeviceReset(), memory = nullptr;
    return !error;
}

static void tell(const char *who, const Windows &w, int block)
{
    for (int space = 0; space < SPACES; space++)
        printf(
            "%s, block %d, %s: from shared's window first %llx last %llx before %llx 4 GiB %llx; "
            "from local's first %llx last %llx before %llx\n",
            who, block, spaces[space], w.shared.first[space], w.shared.last[space],
            w.shared.before[space], w.shared.far[space], w.local.first[space] & 3,
            w.local.last[space] & 3, w.local.before[space]);
}

static void tell(const char *who, const Names &n, int block)
{
    printf("%s, block %d: fixed %x dynamic %x moved %x reserved %x generic %llx wide %llx\n", who,
           block, n.fixed, n.dynamic, n.moved, n.reserved, n.generic, n.wide);
    for (int to = 0; to < 2; to++)
        printf("%s, block %d: mapa to %d: of its own %x, without a rank %x, of the other's %x, "
               "generic %llx %llx\n",
               who, block, to, n.map[to][0], n.map[to][1], n.map[to][2], n.mapped[to][0],
               n.mapped[to][1]);
    printf("%s, block %d: ranks of these %x %x %x, generic %x %x\n", who, block, n.rank_of[0],
           n.rank_of[1], n.rank_of[2], n.rank_of_generic[0], n.rank_of_generic[1]);
}

static void question(int number)
{
    if (!memory) cudaMallocManaged(&memory, 1 << 16);
    if (number < 3) {
        Windows *seen = (Windows *)memory;
        const char *who[] = {"alone", "of 2", "of 8"};
        if (number == 0) alone_windows<<<2, 32>>>(seen);
        if (number == 1) pair_windows<<<2, 32>>>(seen);
        if (number == 2) eight_windows<<<8, 32>>>(seen);
        for (int block = 0; block < 2 && ended(who[number]); block++)
            tell(who[number], seen[number == 2 ? 7 * block : block], block);
    } else if (number < 5) {
        Names *seen = (Names *)memory;
        if (number == 3) alone_names<<<2, 32, 64>>>(seen);
        else pair_names<<<2, 32, 64>>>(seen);
        const char *who = number == 3 ? "alone" : "of 2";
        for (int block = 0; block < 2 && ended(who); block++) tell(who, seen[block], block);
    } else {
        const int what = (number - 5) / WHICHES / 2, which = (number - 5) / 2 % WHICHES;
        const int asking = (number - 5) % 2;
        Reached *seen = (Reached *)memory;
        unsigned *from = (unsigned *)(memory + 1024);
        for (int i = 0; i < 4; i++) from[i] = 3;
        char who[200];
        snprintf(who, sizeof who, "rank %d, %s at %s address: ", asking, whats[what],
                 whiches[which]);
        reach<<<2, 32>>>(seen, what, which, asking, from);
        if (ended(who))
            printf("%sgot %x, then %u, %u\n", who, seen->got, seen->changed[0], seen->changed[1]);
    }
}

int main(int count, char **words)
{
    const int all = 5 + WHATS * WHICHES * 2;
    if (count < 2) printf("%d\n", all);
    for (int i = 1; i < count; i++) question(atoi(words[i])), fflush(stdout);
}
