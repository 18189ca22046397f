// Products of 8-bit floats as products of halves.
#pragma once
#include "common/float8.cuh"
#include "gemm/tensor.cuh"

// sum += a * b, of 32 bytes of k, whose order does not matter while it is the same for both: first of two of every
// four, then of the others.
template <typename Float8>
__device__ void multiply_add(float (&sum)[4], const unsigned (&a)[4], const unsigned *b, Float8)
{
#pragma unroll
    for (int two = 0; two < 2; ++two) {
        auto widened = [&](unsigned four) {
            return halves_of(__byte_perm(four, 0, two ? 0x4342 : 0x4140), Float8());
        };
        unsigned of_a[4] = {widened(a[0]), widened(a[1]), widened(a[2]), widened(a[3])};
        unsigned of_b[2] = {widened(b[0]), widened(b[1])};
        multiply_add(sum, of_a, of_b, half());
    }
}
