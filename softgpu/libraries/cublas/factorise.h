/* Small systems in batches: L U with pivots, what is solved by it, and inverses. */
#ifndef SOFTGPU_BLAS_FACTORISE_H
#define SOFTGPU_BLAS_FACTORISE_H

#include "gemm.h"
#include "level1.h"

/* Becomes L and U in place; 0, or the number of the first pivot that is zero, from 1 on. */
template <class T>
int factorise(Matrix<T> &a, int *pivots)
{
    int status = 0;
    for (Size k = 0; k < a.rows; k++) {
        Size best = k;
        for (Size i = k + 1; pivots && i < a.rows; i++)
            if (size_of(a.at(i, k)) > size_of(a.at(best, k))) best = i;
        if (pivots) pivots[k] = (int)best + 1;
        for (Size j = 0; j < a.rows; j++) std::swap(a.at(k, j), a.at(best, j));
        if (a.at(k, k) == T(0)) {
            status = status ?: (int)k + 1;
            continue;
        }
        for (Size i = k + 1; i < a.rows; i++) a.at(i, k) /= a.at(k, k);
        for (Size j = k + 1; j < a.rows; j++)
            for (Size i = k + 1; i < a.rows; i++) a.at(i, j) -= a.at(i, k) * a.at(k, j);
    }
    return status;
}

/* Rows of b change places as the pivots say, or back. */
template <class T>
void exchange(Matrix<T> &b, const int *pivots, Size n, bool back)
{
    for (Size turn = 0; pivots && turn < n; turn++) {
        Size k = back ? n - 1 - turn : turn;
        for (Size j = 0; j < b.columns; j++) std::swap(b.at(k, j), b.at(pivots[k] - 1, j));
    }
}

/* op(A) X = B in place, where A is factorised */
template <class T>
void solve_factorised(Matrix<T> a, const int *pivots, int op, Matrix<T> &b)
{
    if (op == OP_N) {
        exchange(b, pivots, a.rows, false);
        solve_columns(a, false, true, b);
        solve_columns(a, true, false, b);
        return;
    }
    if (op == OP_C)
        for (T &value : a.data) value = conjugated(value);
    auto turned = mirrored(a);
    solve_columns(turned, false, false, b);
    solve_columns(turned, true, true, b);
    exchange(b, pivots, a.rows, true);
}

template <class T>
Matrix<T> identity(Size n)
{
    Matrix<T> out(n, n);
    for (Size i = 0; i < n; i++) out.at(i, i) = T(1);
    return out;
}

/* The number of the first pivot that is zero, from 1 on; 0: none is. */
template <class T>
int zero_pivot(const Matrix<T> &factorised)
{
    for (Size i = 0; i < factorised.rows; i++)
        if (factorised.at(i, i) == T(0)) return (int)i + 1;
    return 0;
}

#endif
