// cooperative_groups: blocks, tiles, coalesced groups.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;

// launch: block=16x4
extern "C" __global__ void thread_block(int *out, const int *a)
{
    __shared__ int s[64];
    cg::thread_block block = cg::this_thread_block();
    unsigned i = block.thread_rank();
    s[i] = a[i];
    block.sync();
    out[i] = s[block.size() - 1 - i] + block.group_index().x + block.thread_index().y;
}

extern "C" __global__ void tile_reduce(int *out, const int *a)
{
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    auto tile = cg::tiled_partition<4>(warp);
    int i = threadIdx.x;
    out[i] = cg::reduce(warp, a[i], cg::plus<int>()) +
             cg::reduce(tile, a[i], cg::greater<int>()) * 3 +
             cg::reduce(tile, a[i], cg::bit_xor<int>());
}

extern "C" __global__ void coalesced_threads(int *out, const int *a)
{
    int i = threadIdx.x;
    out[i] = -1;
    if (a[i] & 1) {
        auto active = cg::coalesced_threads();
        int first = active.shfl(a[i], 0), last = active.shfl(i, active.size() - 1);
        out[i] = first * 3 + last + active.thread_rank() * 100 + active.size() * 10000;
    }
}
