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
    return run(name, handle,
               [=, alpha = factor(handle, alpha), beta = factor(handle, beta)]() mutable {
                   letter_of_op(op), need_sizes({m, n, count}), need_leading(a.first.ld, m);
                   need(x.first.ld && y.first.ld);
                   for (Batch *batch : {&a, &x, &y}) batch->find(count);
                   T by = as<T>(alpha()), and_by = as<T>(beta());
                   Size rows = op == OP_N ? m : n, columns = op == OP_N ? n : m;
                   for (Size i = 0; i < count && m && n; i++) {
                       Operand to = y.at(i);
                       Values<T> matrix(READ, a.at(i), m, n);
                       auto from = vector_of<T>(READ, x.at(i), columns);
                       auto out = vector_of<T>(and_by == T(0) ? WRITE : BOTH, to, rows);
                       call(Of<T>::gemv, letter_of_op(op), m, n, by, matrix.data, matrix.ld,
                            from.data, from.ld, and_by, out.data, out.ld);
                       out.store(to);
                   }
               });
}

template <class T>
int trsm(const char *name, Handle *handle, int side, int uplo, int op, int unit, Size m, Size n,
         const T *alpha, Batch a, Batch b, Size count = 1)
{
    return run(name, handle, [=, alpha = factor(handle, alpha)]() mutable {
        Size order = side == LEFT ? m : n;
        need_sizes({m, n, count});
        need_leading(a.first.ld, order), need_leading(b.first.ld, m);
        a.find(count), b.find(count);
        for (Size i = 0; i < count; i++) {
            Values<T> triangle(READ, a.at(i), order, order), values(BOTH, b.at(i), m, n);
            call(Of<T>::trsm, letter_of_side(side), letter_of_uplo(uplo), letter_of_op(op),
                 letter_of_unit(unit), m, n, alpha(), triangle.data, triangle.ld, values.data,
                 values.ld);
        }
    });
}

/* ---- what one or two calls of each type share: uses of memory, and elements ---- */

/* Of C = alpha op(A) op(B)' + beta C, of which a triangle is stored. */
template <class T, class S, class R>
void use_rank_k(int uplo, int op, bool conjugate, Size n, Size k, S alpha, const T *a, Size lda,
                const T *b, Size ldb, R beta, T *c, Size ldc)
{
    bool as_is = op == OP_N;
    need_product(n, n, k, {a, 0, lda, op}, {b, 0, ldb, as_is ? OP_T : OP_N}, ldc);
    need(!is_complex<T> || as_is || (op == OP_C) == conjugate);
    for (const T *matrix : {a, b})
        if (alpha != S(0))
            use_matrix(READ, matrix, as_is ? n : k, as_is ? k : n, matrix == a ? lda : ldb);
    use_triangle(beta == R(0) ? WRITE : BOTH, c, n, ldc, uplo);
}

/* Of A B, or B A. */
template <class T>
void use_sides(int side, Size m, Size n, const T *a, Size lda, const T *b, Size ldb)
{
    Size order = side == LEFT ? m : n;
    need_sizes({m, n}), need_leading(lda, order), need_leading(ldb, m);
    use_matrix(READ, a, order, order, lda), use_matrix(READ, b, m, n, ldb);
}

template <class T>
void copy_matrix(T *to, Size to_ld, const T *from, Size from_ld, Size rows, Size columns)
{
    for (Size j = 0; j < columns; j++)
        memmove(to + j * to_ld, from + j * from_ld, rows * sizeof(T));
}

/* Elements of by op(A), m by n; A is not read where the factor is 0. */
template <class T>
struct Scaled {
    T by;
    const T *a;
    int op;
    Size ld;
    Scaled(Size m, Size n, T by, const T *a, int op, Size ld) : by(by), a(a), op(op), ld(ld)
    {
        Size rows = op == OP_N ? m : n;
        letter_of_op(op), need_leading(ld, rows);
        if (by != T(0)) use_matrix(READ, a, rows, m + n - rows, ld);
    }
    T at(Size i, Size j) const
    {
        if (by == T(0)) return by;
        return by * (op == OP_N   ? a[i + j * ld]
                     : op == OP_T ? a[j + i * ld]
                                  : conjugated(a[j + i * ld]));
    }
};

#endif
