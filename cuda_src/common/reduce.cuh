// Folding the values of a warp, of a block, of a stretch of memory.
#pragma once
#include "common/packed.cuh"

constexpr unsigned FULL_WARP = 0xffffffff;

// Folds groups of LANES neighbouring lanes (a power of two); every lane has its group's result.
template <int LANES = 32, typename A, typename Op>
__device__ A warp_reduce(A a, Op op)
{
    for (int mask = LANES / 2; mask > 0; mask /= 2) a = op(a, __shfl_xor_sync(FULL_WARP, a, mask));
    return a;
}

// Folds a block of whole warps; every thread has the result.
template <typename A, typename Op>
__device__ A block_reduce(A a, Op op)
{
    __shared__ A totals[32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
    a = warp_reduce(a, op);
    __syncthreads();  // an earlier call's totals have been read
    if (lane == 0) totals[warp] = a;
    __syncthreads();  // all totals are written
    return warp_reduce(lane < warps ? totals[lane] : op.initial(), op);
}

// Counts this block among `blocks`. True for the last to arrive, which sees what the others stored
// before they called this. *arrived starts at zero, and the last one wraps it to zero again.
__device__ inline bool last_to_arrive(unsigned *arrived, unsigned blocks)
{
    __shared__ bool last;
    __syncthreads();  // all threads of this block have stored
    if (threadIdx.x + threadIdx.y == 0) {
        __threadfence();  // those who see the count see their stores, too
        last = atomicInc(arrived, blocks - 1) == blocks - 1;
        __threadfence();  // what is loaded from here on is not older than the count
    }
    __syncthreads();  // last is written
    return last;
}

// Thread `thread` of `threads` folds its share of x[begin .. end): 16 bytes per load, and UNROLL
// loads in flight before the first is used. Any alignment: scalars up to the first 16-byte
// boundary, packs, scalars again.
template <int UNROLL, typename T, typename Op, typename Index>
__device__ auto fold(const T *x, Index begin, Index end, Index thread, Index threads, Op op)
{
    constexpr int N = 16 / sizeof(T);
    auto acc = op.initial();
    Index gap = -(unsigned long long)(x + begin) % 16 / sizeof(T);
    Index body = begin + (gap < end - begin ? gap : end - begin);
    Index packs = (end - body) / N;
    auto pack = reinterpret_cast<const Packed<T, N> *>(x + body);

    for (Index i = thread; i < packs; i += UNROLL * threads) {
        Packed<T, N> p[UNROLL];
#pragma unroll
        for (int u = 0; u < UNROLL; ++u)
            if (i + u * threads < packs) p[u] = pack[i + u * threads];
#pragma unroll
        for (int u = 0; u < UNROLL; ++u)
            for (int k = 0; k < N && i + u * threads < packs; ++k)
                acc = op(acc, op.from(p[u][k], body + (i + u * threads) * N + k));
    }
    for (Index j = begin + thread; j < body; j += threads) acc = op(acc, op.from(x[j], j));
    for (Index j = body + packs * N + thread; j < end; j += threads)
        acc = op(acc, op.from(x[j], j));
    return acc;
}
