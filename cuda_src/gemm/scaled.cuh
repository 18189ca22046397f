// A product whose elements are multiplied by a factor before they are written.
#pragma once
#include "gemm/product.cuh"

struct Scales {
    const float *a, *b;  // null: 1
    __device__ float factor() const { return (a ? *a : 1) * (b ? *b : 1); }
};

template <typename Out, int PACK>
struct ScaledProduct {
    using Element = Out;
    static constexpr int AT_ONCE = STORED<PACK>;
    Product<Out, float, PACK> product;
    float factor;
    __device__ Out element(int column, float sum) { return Out(sum * factor); }
    template <int COUNT>
    __device__ void store(long long row, long long column, Packed<float, COUNT> sum)
    {
        for (int e = 0; e < COUNT; ++e) sum[e] *= factor;
        product.store(row, column, sum);
    }
};
