// Copies of boxes to shared memory, which is shown, and from there; for test_tensormap.py.
#include "common/boxes.cuh"
__device__ void show(char *out, const char *tile)
{
    __syncthreads();
    for (int i = threadIdx.x; i < 1 << 14; i += blockDim.x) out[i] = tile[i];
}
extern "C" __global__ void box(const __grid_constant__ Maps<1> maps, char *out, int x, int y, int z,
                               int bytes)
{
    __shared__ __align__(1024) char tile[1 << 14];
    __shared__ unsigned long long told;
    unsigned to = __cvta_generic_to_shared(tile), barrier = __cvta_generic_to_shared(&told);
    for (int i = threadIdx.x; i < 1 << 14; i += blockDim.x) tile[i] = 77;
    asm volatile("fence.proxy.async;" ::: "memory");
    if (threadIdx.x == 0) begin_barrier(barrier, 1), show_barriers();
    __syncthreads();
    if (threadIdx.x == 0) expect_bytes(barrier, bytes), copy_box(to, maps.of[0], x, y, z, barrier);
    wait_for(barrier, 0);
    show(out, tile);
}
extern "C" __global__ void pixels(const __grid_constant__ Maps<1> maps, char *out, int x, int y,
                                  int image, int tap_x, int tap_y, int bytes)
{
    __shared__ __align__(1024) char tile[1 << 14];
    __shared__ unsigned long long told;
    unsigned to = __cvta_generic_to_shared(tile), barrier = __cvta_generic_to_shared(&told);
    if (threadIdx.x == 0) begin_barrier(barrier, 1), show_barriers();
    __syncthreads();
    if (threadIdx.x == 0)
        expect_bytes(barrier, bytes),
            copy_pixels(to, maps.of[0], 0, x, y, image, tap_x, tap_y, barrier);
    wait_for(barrier, 0);
    show(out, tile);
}
extern "C" __global__ void stored(const __grid_constant__ Maps<1> maps, const char *in, int x,
                                  int y, int z)
{
    __shared__ __align__(1024) char tile[1 << 14];
    for (int i = threadIdx.x; i < 1 << 14; i += blockDim.x) tile[i] = in[i];
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile(
            "cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%0, {%1, %2, %3}], [%4];" ::"l"(
                &maps.of[0]),
            "r"(x), "r"(y), "r"(z), "r"((int)__cvta_generic_to_shared(tile))
            : "memory");
        asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
    }
}
