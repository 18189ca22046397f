// Rows of scores in the registers of a warp, whose four neighbouring lanes share one.
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>

__device__ inline unsigned packed(float a, float b, half)
{
    half2 pair = __floats2half2_rn(a, b);
    return *reinterpret_cast<unsigned *>(&pair);
}
__device__ inline unsigned packed(float a, float b, __nv_bfloat16)
{
    __nv_bfloat162 pair = __floats2bfloat162_rn(a, b);
    return *reinterpret_cast<unsigned *>(&pair);
}

// A float that the four lanes of a row share.
template <typename Op>
__device__ float row_reduce(float x, Op op)
{
    x = op(x, __shfl_xor_sync(~0u, x, 1));
    return op(x, __shfl_xor_sync(~0u, x, 2));
}
