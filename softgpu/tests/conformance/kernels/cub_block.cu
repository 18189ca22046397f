// cub's block-wide algorithms.
#include <cub/block/block_adjacent_difference.cuh>
#include <cub/block/block_exchange.cuh>
#include <cub/block/block_histogram.cuh>
#include <cub/block/block_load.cuh>
#include <cub/block/block_merge_sort.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_store.cuh>

template <cub::BlockReduceAlgorithm A, class T>
__device__ T reduced(T x, int valid)
{
    typedef cub::BlockReduce<T, 128, A> Reduce;
    __shared__ typename Reduce::TempStorage temp;
    T sum = Reduce(temp).Sum(x);
    __syncthreads();
    T part = Reduce(temp).Sum(x, valid);
    return threadIdx.x == 0 ? sum * 3 + part : T(0);
}

// launch: block=128
extern "C" __global__ void block_reduce_raking(int *out, const int *a)
{ out[threadIdx.x] = reduced<cub::BLOCK_REDUCE_RAKING>(a[threadIdx.x], 77); }

// launch: block=128
extern "C" __global__ void block_reduce_raking_commutative(int *out, const int *a)
{ out[threadIdx.x] = reduced<cub::BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY>(a[threadIdx.x], 33); }

// launch: block=128 rule=f32
extern "C" __global__ void block_reduce_warps(float *out, const float *a)
{ out[threadIdx.x] = reduced<cub::BLOCK_REDUCE_WARP_REDUCTIONS>(a[threadIdx.x], 100); }

struct Pair {
    int key;
    float value;
};

// launch: block=100
extern "C" __global__ void block_reduce_of_pairs(int *out, const int *a)
{
    typedef cub::BlockReduce<Pair, 100> Reduce;
    __shared__ typename Reduce::TempStorage temp;
    int i = threadIdx.x;
    Pair best = Reduce(temp).Reduce({i, (float)(a[i] >> 8)}, [](Pair p, Pair q) {
        return q.value > p.value || (q.value == p.value && q.key < p.key) ? q : p;
    });
    out[i] = i == 0 ? best.key : 0;
}

template <cub::BlockScanAlgorithm A>
__device__ int scanned(const int *a)
{
    typedef cub::BlockScan<int, 64, A> Scan;
    __shared__ typename Scan::TempStorage temp;
    int items[2] = {a[2 * threadIdx.x], a[2 * threadIdx.x + 1]}, total, one;
    Scan(temp).ExclusiveSum(items, items, total);
    __syncthreads();
    Scan(temp).InclusiveScan(a[threadIdx.x], one, [](int x, int y) { return x > y ? x : y; });
    return items[0] + items[1] * 3 + total * 5 + one * 7;
}

extern "C" __global__ void block_scan_raking(int *out, const int *a)
{ out[threadIdx.x] = scanned<cub::BLOCK_SCAN_RAKING>(a); }

extern "C" __global__ void block_scan_warps(int *out, const int *a)
{ out[threadIdx.x] = scanned<cub::BLOCK_SCAN_WARP_SCANS>(a); }

template <cub::BlockLoadAlgorithm L, cub::BlockStoreAlgorithm S>
__device__ void moved(int *out, const int *a)
{
    typedef cub::BlockLoad<int, 64, 4, L> Load;
    typedef cub::BlockStore<int, 64, 4, S> Store;
    __shared__ union {
        typename Load::TempStorage load;
        typename Store::TempStorage store;
    } temp;
    int items[4];
    Load(temp.load).Load(a, items);
    __syncthreads();
    for (int k = 0; k < 4; k++) items[k] = items[k] * 5 + k + threadIdx.x;
    Store(temp.store).Store(out, items);
}

// launch: out=256
extern "C" __global__ void load_direct_store_direct(int *out, const int *a)
{ moved<cub::BLOCK_LOAD_DIRECT, cub::BLOCK_STORE_DIRECT>(out, a); }

// launch: out=256
extern "C" __global__ void load_vectors_store_vectors(int *out, const int *a)
{ moved<cub::BLOCK_LOAD_VECTORIZE, cub::BLOCK_STORE_VECTORIZE>(out, a); }

// launch: out=256
extern "C" __global__ void load_transposed_store_transposed(int *out, const int *a)
{ moved<cub::BLOCK_LOAD_TRANSPOSE, cub::BLOCK_STORE_TRANSPOSE>(out, a); }

// launch: out=256
extern "C" __global__ void load_warp_transposed_store_striped(int *out, const int *a)
{ moved<cub::BLOCK_LOAD_WARP_TRANSPOSE, cub::BLOCK_STORE_STRIPED>(out, a); }

// launch: out=256
extern "C" __global__ void load_with_a_tail(int *out, const int *a)
{
    typedef cub::BlockLoad<int, 64, 4, cub::BLOCK_LOAD_TRANSPOSE> Load;
    typedef cub::BlockStore<int, 64, 4, cub::BLOCK_STORE_DIRECT> Store;
    __shared__ union {
        typename Load::TempStorage load;
        typename Store::TempStorage store;
    } temp;
    int items[4];
    Load(temp.load).Load(a, items, 201, -7);
    __syncthreads();
    Store(temp.store).Store(out, items);
}

extern "C" __global__ void block_radix_sort(unsigned *out, const unsigned *a)
{
    typedef cub::BlockRadixSort<unsigned, 64, 1, int> Sort;
    __shared__ typename Sort::TempStorage temp;
    unsigned keys[1] = {a[threadIdx.x]};
    int values[1] = {(int)threadIdx.x};
    Sort(temp).Sort(keys, values);
    out[threadIdx.x] = keys[0] ^ values[0];
}

extern "C" __global__ void block_merge_sort(int *out, const int *a)
{
    typedef cub::BlockMergeSort<int, 64, 1> Sort;
    __shared__ typename Sort::TempStorage temp;
    int keys[1] = {a[threadIdx.x]};
    Sort(temp).Sort(keys, [](int x, int y) { return x < y; });
    out[threadIdx.x] = keys[0];
}

// launch: out=256
extern "C" __global__ void block_exchange(int *out, const int *a)
{
    typedef cub::BlockExchange<int, 64, 4> Exchange;
    __shared__ typename Exchange::TempStorage temp;
    int items[4];
    for (int k = 0; k < 4; k++) items[k] = a[threadIdx.x * 4 + k];
    Exchange(temp).BlockedToStriped(items, items);
    for (int k = 0; k < 4; k++) out[threadIdx.x * 4 + k] = items[k];
}

extern "C" __global__ void block_shuffle_and_differences(int *out, const int *a)
{
    typedef cub::BlockAdjacentDifference<int, 64> Difference;
    __shared__ typename Difference::TempStorage temp;
    int items[1] = {a[threadIdx.x]}, result[1];
    Difference(temp).SubtractLeft(items, result, [](int x, int y) { return x - 3 * y; });
    out[threadIdx.x] = result[0];
}

// launch: out=32
extern "C" __global__ void block_histogram(unsigned *out, const unsigned char *a)
{
    typedef cub::BlockHistogram<unsigned char, 64, 2, 32, cub::BLOCK_HISTO_ATOMIC> Histogram;
    __shared__ typename Histogram::TempStorage temp;
    __shared__ unsigned bins[32];
    unsigned char items[2] = {(unsigned char)(a[2 * threadIdx.x] % 32),
                              (unsigned char)(a[2 * threadIdx.x + 1] % 32)};
    Histogram(temp).Histogram(items, bins);
    __syncthreads();
    if (threadIdx.x < 32) out[threadIdx.x] = bins[threadIdx.x];
}
