// Where shared and local memory lie among generic addresses. What follows '#' differs from run to run.
#include <cooperative_groups.h>

#include <cstdio>
namespace cg = cooperative_groups;
using Word = unsigned long long;

struct Seen {
    Word shared_window, dynamic_generic, local_window, local_next, rank0, rank1, mapped[2], mapa[2];
    unsigned static_shared, dynamic_shared, mapa_shared[2], local_offset, inside;
};

__device__ unsigned is_shared(Word at)
{
    unsigned yes;
    asm volatile("{.reg .pred p; isspacep.shared p, %1; selp.u32 %0, 1, 0, p;}"
                 : "=r"(yes)
                 : "l"(at));
    return yes;
}

__device__ unsigned is_local(Word at)
{
    unsigned yes;
    asm volatile("{.reg .pred p; isspacep.local p, %1; selp.u32 %0, 1, 0, p;}"
                 : "=r"(yes)
                 : "l"(at));
    return yes;
}

__device__ unsigned is_cluster(Word at)
{
    unsigned yes;
    asm volatile("{.reg .pred p; isspacep.shared::cluster p, %1; selp.u32 %0, 1, 0, p;}"
                 : "=r"(yes)
                 : "l"(at));
    return yes;
}

__device__ Word generic_of(unsigned shared)
{
    Word generic;
    asm volatile("cvta.shared.u64 %0, %1;" : "=l"(generic) : "l"((Word)shared));
    return generic;
}

__device__ void see(Seen *out, char *fixed)
{
    extern __shared__ char dynamic[];
    volatile char local[256];
    local[threadIdx.x] = 1;
    Seen seen = {};
    seen.shared_window = generic_of(0);
    seen.static_shared = (unsigned)__cvta_generic_to_shared(fixed);
    seen.dynamic_shared = (unsigned)__cvta_generic_to_shared(dynamic);
    seen.dynamic_generic = (Word)dynamic;
    seen.local_offset = (unsigned)__cvta_generic_to_local((void *)local);
    seen.local_window = (Word)local - seen.local_offset;
    const Word window = seen.shared_window, size = 1 << 24;
    seen.inside = is_shared(window) | is_shared(window + size - 1) << 1 |
                  is_shared(window + size) << 2 | is_shared(window - 1) << 3 |
                  is_local(seen.local_window) << 4 | is_local(seen.local_window + size - 1) << 5 |
                  is_local(seen.local_window + size) << 6 | is_local(seen.local_window - 1) << 7 |
                  is_cluster(window) << 8 | is_cluster(window + size - 1) << 9 |
                  is_cluster(window + size) << 10 | is_cluster(window - 1) << 11 |
                  is_cluster(seen.local_window) << 12;
    for (unsigned rank = 0; rank < 2 && cg::this_cluster().num_blocks() == 2; rank++) {
        seen.mapped[rank] = (Word)cg::this_cluster().map_shared_rank(fixed, rank);
        asm("mapa.u64 %0, %1, %2;" : "=l"(seen.mapa[rank]) : "l"(fixed), "r"(rank));
        asm("mapa.shared::cluster.u32 %0, %1, %2;"
            : "=r"(seen.mapa_shared[rank])
            : "r"(seen.static_shared), "r"(rank));
        if (is_cluster(seen.mapped[rank])) seen.inside |= 1u << (16 + rank);
        if (is_shared(seen.mapped[rank])) seen.inside |= 1u << (18 + rank);
    }
    if (threadIdx.x == 0) *out = seen;
}

__global__ void first(Seen *out)
{
    __shared__ alignas(1024) char fixed[4096];
    fixed[threadIdx.x] = 1;
    see(out + blockIdx.x, fixed);
}

__global__ void second(Seen *out)
{
    __shared__ alignas(256) char fixed[20480];
    fixed[threadIdx.x] = 1;
    see(out + blockIdx.x, fixed);
}

__global__ void __cluster_dims__(2) paired(Seen *out)
{
    __shared__ alignas(256) char fixed[512];
    fixed[threadIdx.x] = 1;
    see(out + blockIdx.x, fixed);
    cg::this_cluster().sync();
}

static unsigned low_zeros(Word at)
{
    unsigned bits = 0;
    while (bits < 40 && !(at >> bits & 1)) bits++;
    return bits;
}

static void tell(const char *name, const Seen *seen, int blocks)
{
    bool same_window = true, same_local = true, dynamic = true, static_place = true;
    for (int i = 0; i < blocks; i++) {
        const Seen &s = seen[i];
        same_window &= s.shared_window == seen[0].shared_window;
        same_local &= s.local_window == seen[0].local_window;
        dynamic &= (s.dynamic_generic & 0xffffff) == s.dynamic_shared;
        static_place &= s.static_shared == seen[0].static_shared;
    }
    const Seen &s = seen[0];
    printf("%s: shared window aligned to 16 MiB %d, local window aligned to 16 MiB %d\n", name,
           low_zeros(s.shared_window) >= 24, low_zeros(s.local_window) >= 24);
    printf("%s: low 24 bits of generic are the shared address %d, same place in all blocks %d\n",
           name, dynamic, static_place);
    printf("%s: isspacep %05x\n", name, s.inside);
    printf("# %s: shared window %llx, same %d, local window %llx, same %d, static %x dynamic %x "
           "local %x\n",
           name, s.shared_window, same_window, s.local_window, same_local, s.static_shared,
           s.dynamic_shared, s.local_offset);
}

int main()
{
    Seen *seen;
    cudaMallocManaged(&seen, 512 * sizeof *seen);
    first<<<512, 32, 1000>>>(seen);
    cudaDeviceSynchronize();
    tell("first", seen, 512);
    second<<<512, 32, 4096>>>(seen);
    cudaDeviceSynchronize();
    tell("second", seen, 512);
    paired<<<8, 32, 256>>>(seen);
    cudaDeviceSynchronize();
    tell("paired", seen, 8);
    for (int block = 0; block < 4; block++) {
        const Seen &s = seen[block];
        for (int rank = 0; rank < 2; rank++) {
            const unsigned place = s.mapa_shared[rank] - s.static_shared;
            printf(
                "block %d of its cluster, rank %d: mapped is mapa %d, mapa.shared is rank << 24 + "
                "address %d, "
                "generic is the window's + mapa.shared %d, low 24 bits are the address %d\n",
                block % 2, rank, s.mapped[rank] == s.mapa[rank], place == (unsigned)rank << 24,
                s.mapa[rank] == s.shared_window + s.mapa_shared[rank],
                (s.mapa[rank] & 0xffffff) == s.static_shared);
            printf("# window %llx mapa %llx mapa.shared %x address %x\n", s.shared_window,
                   s.mapa[rank], s.mapa_shared[rank], s.static_shared);
        }
    }
    printf("%s\n", cudaGetErrorString(cudaGetLastError()));
}
