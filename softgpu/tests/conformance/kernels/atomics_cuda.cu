// The atomics of the C++ library.
#include <cuda/atomic>

// launch: block=64 out=6
extern "C" __global__ void atomic_references(int *out, const int *a)
{
    int i = threadIdx.x;
    if (i < 6) out[i] = 0;
    __syncthreads();
    cuda::atomic_ref<int, cuda::thread_scope_device> sum(out[0]);
    sum.fetch_add(a[i], cuda::memory_order_relaxed);
    cuda::atomic_ref<int, cuda::thread_scope_block> largest(out[1]);
    largest.fetch_max(a[i]);
    cuda::atomic_ref<int, cuda::thread_scope_system> seen(out[2]);
    seen.fetch_or(a[i] & 0xff, cuda::memory_order_acq_rel);
    cuda::atomic_ref<int, cuda::thread_scope_device> product(out[3]);
    int old = product.load(cuda::memory_order_acquire);
    while (!product.compare_exchange_weak(old, old * 3 + 1)) {}
    __syncthreads();
    if (i == 0) product.store(product.load() * 2, cuda::memory_order_release);
    cuda::atomic_thread_fence(cuda::memory_order_seq_cst);
}

extern "C" __global__ void atomic_flag_hands_over(int *out, const int *a)
{
    __shared__ cuda::atomic<int, cuda::thread_scope_block> ready;
    __shared__ int value;
    int i = threadIdx.x;
    if (i == 0) ready.store(0, cuda::memory_order_relaxed);
    __syncthreads();
    if (i == 32) {
        value = a[5];
        ready.store(1, cuda::memory_order_release);
    }
    while (ready.load(cuda::memory_order_acquire) == 0) {}
    out[i] = value + i;
}
