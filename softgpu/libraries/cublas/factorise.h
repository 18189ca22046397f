/* Small systems: L U with pivots, and inverses. */
#ifndef SOFTGPU_BLAS_FACTORISE_H
#define SOFTGPU_BLAS_FACTORISE_H

#include <numeric>

#include "gemm.h"

/* Pivots that exchange no rows. */
inline std::vector<blasint> unmoved(Size n)
{
    std::vector<blasint> order(n);
    std::iota(order.begin(), order.end(), 1);
    return order;
}

/* The exchanges of the i-th of a batch; pivots NULL: no rows were exchanged. */
inline std::vector<blasint> order_of(Size n, const int *pivots, Size i)
{
    if (!pivots) return unmoved(n);
    auto order = load(pivots + i * n, n);
    for (int pivot : order) need(pivot >= 1 && pivot <= n);
    return {order.begin(), order.end()};
}

/* Becomes L and U in place; 0, or the number of the first pivot that is zero, from 1 on. */
template <class T>
int factorise(Size n, T *a, Size ld, std::vector<blasint> &order)
{
    blasint status = 0;
    call(Of<T>::getrf, n, n, a, ld, order.data(), &status);
    return (int)status;
}

/* The same without an exchange of rows, which LAPACK does not have. */
template <class T>
int factorise(Size n, T *a, Size ld)
{
    Size status = 0;
    for (Size k = 0; k < n; k++) {
        T *column = a + k * ld;
        if (column[k] == T(0)) {
            status = status ?: k + 1;
            continue;
        }
        for (Size i = k + 1; i < n; i++) column[i] /= column[k];
        for (Size j = k + 1; j < n; j++)
            call(Of<T>::axpy, n - k - 1, -a[k + j * ld], column + k + 1, 1, a + k + 1 + j * ld, 1);
    }
    return (int)status;
}

template <class T>
std::vector<T> loaded(Size n, const T *from, Size ld)
{
    std::vector<T> out(n * n);
    use_matrix(READ, from, n, n, ld);
    copy_matrix(out.data(), n, from, ld, n, n);
    return out;
}

/* The inverse of what is factorised; nothing where a pivot is zero: its number, from 1 on. */
template <class T>
int invert(Size n, std::vector<T> &a, std::vector<blasint> &order, T *to, Size ld)
{
    std::vector<T> work(64 * n);
    blasint status = 0;
    call(Of<T>::getri, n, a.data(), std::max<Size>(1, n), order.data(), work.data(),
         std::max<Size>(1, work.size()), &status);
    if (status) return (int)status;
    use_matrix(WRITE, to, n, n, ld);
    copy_matrix(to, ld, a.data(), n, n, n);
    return 0;
}

#endif
