// The four steps that the kernels of this folder are written in. A thread owns one column and takes NY
// rows at a time. `columns_left` counts from the block's first column; CHECKED blocks are the last ones
// of a row of blocks, whose threads may lie past the end.
#pragma once

template <typename A>
struct Identity {
    template <typename T>
    __device__ A operator()(T x) const
    { return A(x); }
};
template <typename A>
struct Square {
    template <typename T>
    __device__ A operator()(T x) const
    { return A(x) * A(x); }
};
template <typename A>
struct Abs {
    template <typename T>
    __device__ A operator()(T x) const
    { return A(x) < A(0) ? -A(x) : A(x); }
};

// NY values of this thread's column, `stride` elements apart, into registers.
template <int NY, bool CHECKED, typename T>
__device__ void read_data(T (&values)[NY], const T *block, long long columns_left, long long stride)
{
    if (CHECKED && threadIdx.x >= columns_left) return;
#pragma unroll
    for (int y = 0; y < NY; ++y) values[y] = block[y * stride + threadIdx.x];
}

template <int NY, typename T, typename A, typename Transform>
__device__ void elementwise_unary(A (&out)[NY], const T (&in)[NY], Transform transform)
{
#pragma unroll
    for (int y = 0; y < NY; ++y) out[y] = transform(in[y]);
}

// Folds a thread's own values onto its result.
template <int NY, typename A, typename Op>
__device__ void reduce_local(A &result, const A (&values)[NY], Op op)
{
#pragma unroll
    for (int y = 0; y < NY; ++y) result = op(result, values[y]);
}

template <bool CHECKED, typename Out, typename A>
__device__ void write_data(Out *block, A result, long long columns_left)
{
    if (CHECKED && threadIdx.x >= columns_left) return;
    block[threadIdx.x] = Out(result);
}
