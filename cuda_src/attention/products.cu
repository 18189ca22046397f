// Products of rows of a[rows, size] and b[rows, size] -> out[rows]. Launch 32 threads a row, in blocks of whole warps.
// Step 7: what all slopes of a row's softmax have in common.
#include "common/operators.cuh"
#include "common/reduce.cuh"
#include <cuda_bf16.h>
#include <cuda_fp16.h>
using T = float;

extern "C" __global__ void products(const T *__restrict__ a, const T *__restrict__ b, float *out,
                                    long long rows, long long size)
{
    long long row = (blockIdx.x * (long long)blockDim.x + threadIdx.x) / 32;
    if (row >= rows) return;
    float sum = 0;
    for (long long i = row * size + threadIdx.x % 32; i < (row + 1) * size; i += 32)
        sum += float(a[i]) * float(b[i]);
    sum = warp_reduce(sum, Sum<float>());
    if (threadIdx.x % 32 == 0) out[row] = sum;
}
