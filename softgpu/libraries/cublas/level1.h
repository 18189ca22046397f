/* Vectors, rotations among them. */
#ifndef SOFTGPU_BLAS_LEVEL1_H
#define SOFTGPU_BLAS_LEVEL1_H

#include "blas.h"

template <class T>
Real<T> size_of(T value)
{
    if constexpr (is_complex<T>) return std::abs(value.real()) + std::abs(value.imag());
    else return std::abs(value);
}

/* The first of the largest, or smallest, counted from 1; 0: there are none. */
template <class T>
Size extreme(const std::vector<T> &x, bool largest)
{
    size_t found = 0;
    for (size_t i = 1; i < x.size(); i++)
        if (largest ? size_of(x[i]) > size_of(x[found]) : size_of(x[i]) < size_of(x[found]))
            found = i;
    return x.empty() ? 0 : found + 1;
}

/* Sums are of doubles, as the vectors may be long. */
template <class T>
Real<T> sum_of_sizes(const std::vector<T> &x)
{
    double sum = 0;
    for (T value : x) sum += size_of(value);
    return (Real<T>)sum;
}

template <class T>
Real<T> norm(const std::vector<T> &x)
{
    double largest = 0, sum = 0;
    for (T value : x) largest = std::max(largest, (double)std::abs(value));
    if (!(largest > 0) || std::isinf(largest)) largest = 1;
    for (T value : x)
        sum += std::norm(
            as<std::conditional_t<is_complex<T>, std::complex<double>, double>>(value) / largest);
    return (Real<T>)(largest * std::sqrt(sum));
}

template <class T>
T dot(const std::vector<T> &x, const std::vector<T> &y, bool conjugate)
{
    std::conditional_t<is_complex<T>, std::complex<double>, double> sum = 0;
    using Sum = decltype(sum);
    for (size_t i = 0; i < x.size(); i++)
        sum += as<Sum>(conjugate ? conjugated(x[i]) : x[i]) * as<Sum>(y[i]);
    return as<T>(sum);
}

template <class T>
void add_scaled(Size n, T alpha, const void *x, int x_type, Size step, void *y, int y_type,
                Size y_step)
{
    if (n <= 0) return;
    auto add = load_vector<T>(x, x_type, n, step), out = load_vector<T>(y, y_type, n, y_step);
    if (y_step == 0) { /* all of them meet in one element */
        for (T value : add) out[0] += alpha * value;
        return;
    }
    for (Size i = 0; i < n; i++) out[i] += alpha * add[i];
    store_vector(y, y_type, y_step, out);
}

template <class T>
void scale(Size n, T alpha, void *x, int type, Size step)
{
    if (n <= 0 || step <= 0) return;
    auto out = load_vector<T>(x, type, n, step);
    for (T &value : out) value *= alpha;
    store_vector(x, type, step, out);
}

template <class T>
void rotate(Size n, void *x, int x_type, Size step, void *y, int y_type, Size y_step, T c, T s)
{
    if (n <= 0) return;
    auto left = load_vector<T>(x, x_type, n, step), right = load_vector<T>(y, y_type, n, y_step);
    for (Size i = 0; i < n; i++) {
        T before = left[i];
        left[i] = c * before + s * right[i];
        right[i] = c * right[i] - conjugated(s) * before;
    }
    store_vector(x, x_type, step, left);
    store_vector(y, y_type, y_step, right);
}

template <class T>
void rotate_modified(Size n, T *x, Size step, T *y, Size y_step, const T *parameters)
{
    T flag = parameters[0];
    if (n <= 0 || flag == -2) return;
    T h11 = flag == 0 ? 1 : parameters[1], h21 = flag == 1 ? -1 : parameters[2];
    T h12 = flag == 1 ? 1 : parameters[3], h22 = flag == 0 ? 1 : parameters[4];
    auto left = load_vector<T>(x, n, step), right = load_vector<T>(y, n, y_step);
    for (Size i = 0; i < n; i++) {
        T before = left[i];
        left[i] = h11 * before + h12 * right[i];
        right[i] = h21 * before + h22 * right[i];
    }
    store_vector(x, step, left);
    store_vector(y, y_step, right);
}

/* a, b to r, z and the rotation c, s that makes (r, 0) of them, as the reference BLAS does. */
template <class T>
void make_rotation(T (&v)[4])
{
    T a = v[0], b = v[1];
    Real<T> sizes = std::abs(a) + std::abs(b);
    if (sizes == 0) v[0] = v[1] = v[3] = T(0), v[2] = T(1);
    else if constexpr (is_complex<T>) {
        if (std::abs(a) == 0) v[0] = b, v[2] = T(0), v[3] = T(1);
        else {
            Real<T> r = sizes * std::sqrt(std::norm(a / sizes) + std::norm(b / sizes));
            T direction = a / std::abs(a);
            v[0] = direction * r, v[2] = T(std::abs(a) / r), v[3] = direction * std::conj(b) / r;
        }
    } else {
        T sign = std::abs(a) > std::abs(b) ? a : b;
        T r = std::copysign(
            sizes * std::sqrt((a / sizes) * (a / sizes) + (b / sizes) * (b / sizes)), sign);
        T c = a / r, s = b / r;
        v[0] = r, v[2] = c, v[3] = s;
        v[1] = std::abs(a) > std::abs(b) ? s : c != 0 ? 1 / c : 1;
    }
}

/* What a pointer by the handle's mode points to. */
template <class T>
T fetch(const Handle *handle, const T *pointer)
{ return factor(handle, pointer)(); }

#endif
