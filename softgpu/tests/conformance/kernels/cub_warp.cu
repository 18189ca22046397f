// cub's warp-wide algorithms.
#include <cub/warp/warp_load.cuh>
#include <cub/warp/warp_merge_sort.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cub/warp/warp_scan.cuh>
#include <cub/warp/warp_store.cuh>

extern "C" __global__ void warp_reduce(int *out, const int *a)
{
    typedef cub::WarpReduce<int> Reduce;
    __shared__ typename Reduce::TempStorage temp[2];
    int i = threadIdx.x, w = i / 32;
    int sum = Reduce(temp[w]).Sum(a[i]);
    __syncwarp();
    int largest = Reduce(temp[w]).Reduce(a[i], [](int x, int y) { return x > y ? x : y; });
    __syncwarp();
    int some = Reduce(temp[w]).Sum(a[i], 20);
    out[i] = i % 32 == 0 ? sum * 3 + largest + some * 5 : 0;
}

// launch: rule=f32
extern "C" __global__ void warp_reduce_float_of_8(float *out, const float *a)
{
    typedef cub::WarpReduce<float, 8> Reduce;
    __shared__ typename Reduce::TempStorage temp[8];
    int i = threadIdx.x;
    float sum = Reduce(temp[i / 8]).Sum(a[i]);
    out[i] = i % 8 == 0 ? sum : 0;
}

extern "C" __global__ void warp_scan(int *out, const int *a)
{
    typedef cub::WarpScan<int> Scan;
    __shared__ typename Scan::TempStorage temp[2];
    int i = threadIdx.x, inclusive, exclusive, total;
    Scan(temp[i / 32]).InclusiveSum(a[i], inclusive);
    __syncwarp();
    Scan(temp[i / 32]).ExclusiveSum(a[i], exclusive, total);
    out[i] = inclusive * 3 + exclusive * 5 + total;
}

// launch: out=256
extern "C" __global__ void warp_load_and_store(int *out, const int *a)
{
    typedef cub::WarpLoad<int, 4, cub::WARP_LOAD_TRANSPOSE> Load;
    typedef cub::WarpStore<int, 4, cub::WARP_STORE_STRIPED> Store;
    __shared__ union {
        typename Load::TempStorage load[2];
        typename Store::TempStorage store[2];
    } temp;
    int w = threadIdx.x / 32, items[4];
    Load(temp.load[w]).Load(a + 128 * w, items);
    __syncwarp();
    for (int k = 0; k < 4; k++) items[k] = items[k] * 4 + k;
    Store(temp.store[w]).Store(out + 128 * w, items);
}

extern "C" __global__ void warp_merge_sort(int *out, const int *a)
{
    typedef cub::WarpMergeSort<int, 2, 32> Sort;
    __shared__ typename Sort::TempStorage temp;
    if (threadIdx.x >= 32) return;
    int keys[2] = {a[2 * threadIdx.x], a[2 * threadIdx.x + 1]};
    Sort(temp).Sort(keys, [](int x, int y) { return x < y; });
    out[2 * threadIdx.x] = keys[0];
    out[2 * threadIdx.x + 1] = keys[1];
}
