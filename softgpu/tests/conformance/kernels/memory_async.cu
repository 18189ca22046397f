// Copies from global to shared memory that do not pass through registers.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda_pipeline.h>
namespace cg = cooperative_groups;

extern "C" __global__ void copies_of_4_bytes(int *out, const int *a)
{
    __shared__ int s[64];
    int i = threadIdx.x;
    __pipeline_memcpy_async(s + i, a + (i * 3) % 200, 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[i] = s[63 - i];
}

extern "C" __global__ void zero_filled_rest(int *out, const int *a)
{
    __shared__ __align__(16) int s[256];
    int i = threadIdx.x;
    for (int k = 0; k < 4; k++) s[4 * i + k] = -1;
    __syncthreads();
    __pipeline_memcpy_async(s + 4 * i, a + 4 * i % 200, 16, i % 17);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[i] = s[4 * i] + 3 * s[4 * i + 1] + 5 * s[4 * i + 2] + 7 * s[4 * i + 3];
}

extern "C" __global__ void instruction_forms(int *out, const int *a)
{
    __shared__ __align__(16) int s[256];
    int i = threadIdx.x;
    for (int k = 0; k < 4; k++) s[4 * i + k] = 7;
    unsigned to = (unsigned)__cvta_generic_to_shared(s + 4 * i);
    const int *from = a + 4 * (i % 60);
    if (i % 5 == 0) asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(from));
    if (i % 5 == 1) asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(to), "l"(from));
    if (i % 5 == 2) asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from));
    if (i % 5 == 3)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from),
                     "r"(i % 13));
    if (i % 5 == 4)
        asm volatile("cp.async.ca.shared.global.L2::128B [%0], [%1], 8, %2;" ::"r"(to), "l"(from),
                     "r"(i % 9));
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads();
    out[i] = s[4 * i] + 3 * s[4 * i + 1] + 5 * s[4 * i + 2] + 7 * s[4 * i + 3];
}
