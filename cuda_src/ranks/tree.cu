// One step of an all-reduce in a tree. On the way up, ranks in pairs: one adds the other's x[n] to its
// own, and goes on for both; then pairs of pairs, and so on. On the way down, the other takes the sum
// (adds = 0). helpers.ranks.tree says who takes from whom. All ranks do a step before any does the next.
// Any launch of one dimension.
// Limit: the links of the first rank, each step over one of them, with the whole array.
using T = float;

extern "C" __global__ void tree(const T *other, T *mine, long long n, int adds)
{
    long long step = gridDim.x * (long long)blockDim.x;
    for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n; i += step)
        mine[i] = adds ? mine[i] + other[i] : other[i];
}
