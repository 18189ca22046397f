// Tiles of several warps, which meet in the shared memory that libraries have for themselves.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;
extern __shared__ int s[];

// Four numbers a thread: a neighbour's value, the tile's 34th value, votes, and the tile's sum.
template <int SIZE>
__device__ void meet(int4 *out, const int *in)
{
    auto tile = cg::tiled_partition<SIZE>(cg::this_thread_block());
    int i = threadIdx.x, value = in[i];
    s[i] = value;
    tile.sync();
    out[i].x = s[i ^ SIZE / 2];
    out[i].y = tile.shfl(value, 33);
    out[i].z = tile.any(value == 5) + 2 * tile.all(value < 100) + 4 * tile.meta_group_rank();
    out[i].w = cg::reduce(tile, value, cg::plus<int>());
}

extern "C" {
__global__ void tiles_of_64(int4 *out, const int *in) { meet<64>(out, in); }
__global__ void tiles_of_128(int4 *out, const int *in) { meet<128>(out, in); }
__global__ void tiles_of_256(int4 *out, const int *in) { meet<256>(out, in); }
__global__ void tiles_of_512(int4 *out, const int *in) { meet<512>(out, in); }

#define OFFSET(NAME, INTO) asm("mov.u32 %0, %%reserved_smem_offset_" #NAME ";" : "=r"(INTO))
// Where the reserved memory begins and ends, and what its words hold after each thread wrote one.
__global__ void reserved(unsigned *out)
{
    unsigned at[5], i = threadIdx.x;
    OFFSET(begin, at[0]);
    OFFSET(0, at[1]);
    OFFSET(1, at[2]);
    OFFSET(end, at[3]);
    OFFSET(cap, at[4]);
    for (int k = 0; i == 0 && k < 5; k++) out[k] = at[k];
    unsigned word = at[2] + 4 * i;
    asm volatile("st.shared.u32 [%0], %1;" ::"r"(word), "r"(3 * i) : "memory");
    __syncthreads();
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(out[8 + i]) : "r"(word ^ 4) : "memory");
}

__global__ void past_the_block(int offset) { s[offset / 4] = 1; }

// A launch that may begin before the one in front of it has ended.
__global__ void after_another(int *out, const int *in)
{
    asm volatile("griddepcontrol.launch_dependents;");
    asm volatile("griddepcontrol.wait;" ::: "memory");
    out[threadIdx.x] = 2 * in[threadIdx.x];
}
}

// Lanes with the same value, by one vote per bit, in the order of words that CUB writes.
extern "C" __global__ void peers(int *out, int values)
{
    int value = threadIdx.x * 7 % values, found = ~0;
    for (int bit = 1; bit < values; bit *= 2) {
        int mask;
        asm("{ .reg .pred p, q; .reg .b32 r; and.b32 r, %1, %2; setp.ne.b32 p, r, 0;"
            "vote.ballot.sync.b32 %0, p, 0xffffffff; vote.any.sync.pred q, p, 0xffffffff;"
            "@!p not.b32 %0, %0; @!q mov.b32 %0, 0xffffffff; }"
            : "=r"(mask)
            : "r"(value), "r"(bit));
        found &= mask;
    }
    out[threadIdx.x] = found;
}
