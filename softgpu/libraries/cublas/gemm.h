/* Products in batches: what all calls of the kind of gemm come to. */
#ifndef SOFTGPU_BLAS_GEMM_H
#define SOFTGPU_BLAS_GEMM_H

#include "blas.h"

/* One operand of each product: so far apart, or where a list in device memory points to. */
struct Batch {
    Operand first;
    Size stride = 0;
    const void *const *list = nullptr;
    std::vector<const void *> pointers{};
    void find(Size count)
    {
        if (list) pointers = load(list, count);
    }
    Operand at(Size i) const
    {
        return list ? Operand{pointers[i], first.type, first.ld, first.op}
                    : first.shifted(i * stride);
    }
};

/* T: what is computed with. S: the factors' type */
template <class T, class S>
int gemm(const char *name, Handle *handle, Size m, Size n, Size k, const S *alpha, Batch a, Batch b,
         const S *beta, Batch c, Size count = 1)
{
    return run(name, handle,
               [=, alpha = factor(handle, alpha), beta = factor(handle, beta)]() mutable {
                   need_product(m, n, k, a.first, b.first, c.first.ld);
                   need_sizes({count});
                   for (Batch *batch : {&a, &b, &c}) batch->find(count);
                   for (Size i = 0; i < count; i++)
                       multiply(m, n, k, as<T>(alpha()), a.at(i), b.at(i), as<T>(beta()), c.at(i));
               });
}

/* with(number, scale): what is computed with, and the factors' type, as a cublasComputeType_t says. */
template <class F>
int by_compute(int compute, bool complex, int otherwise, F with)
{
    switch (compute) {
    case 64:
    case 65: return with(float{}, Half{});
    case 68:
    case 69:
    case 74:
    case 75:
    case 77:
    case 78:
        return complex ? with(std::complex<float>{}, std::complex<float>{})
                       : with(float{}, float{});
    case 70:
    case 71:
    case 79:
        return complex ? with(std::complex<double>{}, std::complex<double>{})
                       : with(double{}, double{});
    case 72:
    case 73: return with(uint32_t{}, int32_t{});
    }
    return otherwise;
}

/* The same in the types that a cublasComputeType_t, or a call's own, stands for. */
inline int gemm_by(const char *name, Handle *handle, int compute, bool complex, Size m, Size n,
                   Size k, const void *alpha, Batch a, Batch b, const void *beta, Batch c,
                   Size count = 1)
{
    return by_compute(compute, complex, INVALID_VALUE, [&](auto number, auto scale) {
        using S = decltype(scale);
        return gemm<decltype(number)>(name, handle, m, n, k, (const S *)alpha, a, b,
                                      (const S *)beta, c, count);
    });
}

/* y = alpha op(A) x + beta y, for each of a batch; T: what is computed with */
template <class T, class S>
int gemv(const char *name, Handle *handle, int op, Size m, Size n, const S *alpha, Batch a, Batch x,
         const S *beta, Batch y, Size count = 1)
{
    return run(
        name, handle, [=, alpha = factor(handle, alpha), beta = factor(handle, beta)]() mutable {
            need_operation(op), need_sizes({m, n, count}), need_leading(a.first.ld, m);
            need(x.first.ld && y.first.ld);
            for (Batch *batch : {&a, &x, &y}) batch->find(count);
            T by = as<T>(alpha()), and_by = as<T>(beta());
            Size rows = op == OP_N ? m : n, columns = op == OP_N ? n : m;
            for (Size i = 0; i < count && m && n; i++) {
                Operand matrix = a.at(i), from = x.at(i), to = y.at(i);
                auto whole = load_matrix<T>(matrix.data, matrix.type, m, n, matrix.ld);
                auto values = load_vector<T>(from.data, from.type, columns, from.ld);
                auto sums =
                    product(rows, Size(1), columns, seen(whole, op), View<T>{values.data(), 1, 1});
                if (and_by == T(0)) blend<T>(sums, by, and_by, nullptr);
                else {
                    Matrix<T> before(0, 0);
                    before.data = load_vector<T>(to.data, to.type, rows, to.ld);
                    blend(sums, by, and_by, &before);
                }
                store_vector((void *)to.data, to.type, to.ld, sums.data);
            }
        });
}

template <class T>
int trsm(const char *name, Handle *handle, int side, int uplo, int op, int unit, Size m, Size n,
         const T *alpha, Batch a, Batch b, Size count = 1)
{
    return run(name, handle, [=, alpha = factor(handle, alpha)]() mutable {
        Size order = side == LEFT ? m : n;
        need_operation(op), need_sizes({m, n, count});
        need_leading(a.first.ld, order), need_leading(b.first.ld, m);
        a.find(count), b.find(count);
        for (Size i = 0; i < count; i++) {
            auto triangle = load_shaped((const T *)a.at(i).data, order, order, a.first.ld,
                                        TRIANGULAR, uplo, unit);
            solve(side, op, std::move(triangle), m, n, alpha(), (T *)b.at(i).data, b.first.ld);
        }
    });
}

/* alpha op(A), m by n; A is not read where alpha is 0 */
template <class T>
Matrix<T> scaled(T alpha, const T *a, int op, Size m, Size n, Size ld)
{
    if (alpha == T(0)) return Matrix<T>(m, n);
    auto out = load_shaped(a, op == OP_N ? m : n, op == OP_N ? n : m, ld).dense(op);
    for (T &value : out.data) value *= alpha;
    return out;
}

#endif
