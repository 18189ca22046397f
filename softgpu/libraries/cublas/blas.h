/* The operations of BLAS on device memory: what they read and write there is checked, then OpenBLAS
   does them in place; elements of other types are computed with in a copy. */
#ifndef SOFTGPU_BLAS_H
#define SOFTGPU_BLAS_H

#include "openblas.h"
#include "tensor_cores.h"
#include "types.h"

enum { OP_N, OP_T, OP_C };      /* cublasOperation_t */
enum { LOWER, UPPER };          /* cublasFillMode_t */
enum { LEFT, RIGHT };           /* cublasSideMode_t */
enum { ON_HOST, ON_DEVICE };    /* cublasPointerMode_t */
enum Use { READ, WRITE, BOTH }; /* what an operation does to memory */

struct Handle {
    CUstream stream = nullptr;
    int pointers = ON_HOST, atomics = 0, math = 0, multiprocessors = 0;
};

/* A factor: of the host as it is now, of the device as it will be then. */
template <class T>
struct Factor {
    bool right;
    const void *later;
    T now;
    T operator()() const
    {
        need(right);
        T value = now;
        if (later) check(cuMemcpyDtoH_v2(&value, address(later), sizeof value));
        return value;
    }
};

template <class T>
Factor<T> factor(const Handle *handle, const T *pointer)
{
    if (!handle || !pointer) return {false, nullptr, T()};
    bool device = handle->pointers == ON_DEVICE;
    return {true, device ? pointer : nullptr, device ? T() : *pointer};
}

template <class T>
void give(const Handle *handle, T *to, T value)
{
    if (handle->pointers == ON_DEVICE) check(cuMemcpyHtoD_v2(address(to), &value, sizeof value));
    else *to = value;
}

/* Runs a call in the handle's stream. */
__attribute__((noinline)) inline int run(const char *name, Handle *handle, const Body &body)
{
    if (!handle) return NOT_INITIALIZED;
    return in_stream(name, STATUSES, handle->stream, body);
}

inline void need_sizes(std::initializer_list<Size> sizes)
{
    for (Size size : sizes) need(size >= 0);
}
inline void need_leading(Size ld, Size rows) { need(ld >= std::max<Size>(1, rows)); }

/* BLAS's letter for a number of cuBLAS's. */
inline char letter(const char *letters, int number)
{
    need(number >= 0 && number < (int)strlen(letters));
    return letters[number];
}
inline char letter_of_op(int op) { return letter("NTC", op); }
inline char letter_of_uplo(int uplo) { return letter("LU", uplo); }
inline char letter_of_side(int side) { return letter("LR", side); }
inline char letter_of_unit(int unit) { return letter("NU", unit); }

/* ---- what is used of device memory ---- */

inline void use_rows(Use use, const void *at, Size pitch, Size width, Size height)
{
    if (pitch == width) width *= height, height = 1;
    check(sg_use_rows(address(at), pitch, width, height, use != READ));
}

template <class T>
void use_matrix(Use use, const T *a, Size rows, Size columns, Size ld)
{ use_rows(use, a, ld * sizeof(T), rows * sizeof(T), columns); }

template <class T>
void use_vector(Use use, const T *x, Size n, Size step)
{
    if (n <= 0) return;
    need(step != 0);
    use_rows(use, x, std::abs(step) * sizeof(T), sizeof(T), n);
}

inline Size in_triangle(Size n) { return n * (n + 1) / 2; }

/* Calls f with the row where each column of a triangle begins, the column, and its length. */
template <class F>
void each_column(Size n, int uplo, F f)
{
    letter_of_uplo(uplo);
    for (Size j = 0; j < n; j++) f(uplo == UPPER ? 0 : j, j, uplo == UPPER ? j + 1 : n - j);
}

template <class T>
void use_triangle(Use use, const T *a, Size n, Size ld, int uplo)
{
    each_column(n, uplo, [&](Size i, Size j, Size length) {
        use_matrix(use, a + i + j * ld, length, 1, ld);
    });
}

/* Where element i of a vector is; a step below 0 counts from the end. */
inline Size place(Size i, Size n, Size step) { return (step < 0 ? i + 1 - n : i) * step; }

/* What lies where: a matrix, or a vector, whose ld is its step; of a cudaDataType. */
struct Operand {
    const void *data;
    int type;
    Size ld;
    int op = OP_N;
    Operand shifted(Size elements) const
    { return {(const char *)data + elements * bytes_of_type(type), type, ld, op}; }
};

/* Its elements as OpenBLAS sees them: in place, or in a copy if they are of another type. */
template <class T>
struct Values {
    T *data;
    Size rows, columns, ld;
    std::vector<T> copy{};

    Values(Use use, const Operand &from, Size rows, Size columns)
        : data((T *)from.data), rows(rows), columns(columns), ld(from.ld)
    {
        Size pitch = std::abs(ld);
        if (rows <= 0 || columns <= 0) return;
        use_rows(use, data, pitch * bytes_of_type(from.type), rows * bytes_of_type(from.type),
                 columns);
        if (from.type == TYPE<T>) return;
        copy.resize(rows * columns);
        if (use != WRITE)
            of_type(from.type, [&](auto element) {
                auto *elements = (const decltype(element) *)from.data;
                for (Size j = 0; j < columns; j++)
                    for (Size i = 0; i < rows; i++)
                        copy[i + j * rows] = as<T>(elements[i + j * pitch]);
            });
        data = copy.data(), ld = ld < 0 ? -rows : rows;
    }
    T &at(Size i, Size j) { return data[i + j * ld]; }
    /* Puts back what was computed in a copy. */
    void store(const Operand &to) const
    {
        if (data != copy.data() || copy.empty()) return;
        of_type(to.type, [&](auto element) {
            using S = decltype(element);
            auto *elements = (S *)to.data;
            for (Size j = 0; j < columns; j++)
                for (Size i = 0; i < rows; i++)
                    elements[i + j * std::abs(to.ld)] = as<S>(copy[i + j * rows]);
        });
    }
};

template <class T>
Values<T> vector_of(Use use, const Operand &from, Size n)
{
    need(n <= 0 || from.ld != 0);
    return {use, from, 1, n};
}

/* ---- vectors ---- */

/* The place of the first largest, or smallest, counted from 1; 0: there are none. */
template <class T>
Size extreme(Size n, const Operand &x, bool largest)
{
    auto values = vector_of<T>(READ, x, x.ld > 0 ? n : 0);
    return call(largest ? Of<T>::amax : Of<T>::amin, values.columns, values.data, values.ld);
}

template <class T>
Real<T> sum_of_sizes(Size n, const Operand &x)
{
    auto values = vector_of<T>(READ, x, x.ld > 0 ? n : 0);
    return call(Of<T>::asum, values.columns, values.data, values.ld);
}

template <class T>
Real<T> norm(Size n, const Operand &x)
{
    auto values = vector_of<T>(READ, x, x.ld > 0 ? n : 0);
    return call(Of<T>::nrm2, values.columns, values.data, values.ld);
}

template <class T>
T dot(Size n, const Operand &x, const Operand &y, bool conjugate)
{
    auto left = vector_of<T>(READ, x, n), right = vector_of<T>(READ, y, n);
    if (n <= 0) return T(0);
    auto sum =
        call(conjugate ? Of<T>::dotc : Of<T>::dot, n, left.data, left.ld, right.data, right.ld);
    T out;
    static_assert(sizeof out == sizeof sum);
    memcpy((void *)&out, &sum, sizeof out);
    return out;
}

template <class T>
void add_scaled(Size n, T alpha, const Operand &x, const Operand &y)
{
    auto add = vector_of<T>(READ, x, n), out = vector_of<T>(BOTH, y, n);
    call(Of<T>::axpy, n, alpha, add.data, add.ld, out.data, out.ld);
    out.store(y);
}

/* Each element by the factor, even by 0: OpenBLAS makes zeros of some infinite complex numbers. */
template <class T, class S>
void scale(Size n, S alpha, const Operand &x)
{
    auto out = vector_of<T>(BOTH, x, x.ld > 0 ? n : 0);
    for (Size i = 0; i < out.columns; i++) out.at(0, i) *= alpha;
    out.store(x);
}

template <class T>
void rotate(Size n, const Operand &x, const Operand &y, Real<T> c, T s)
{
    auto left = vector_of<T>(BOTH, x, n), right = vector_of<T>(BOTH, y, n);
    call(Of<T>::rot, n, left.data, left.ld, right.data, right.ld, c, s);
    left.store(x), right.store(y);
}

/* ---- products ---- */

/* Of C = alpha op(A) op(B) + beta C, where C is m by n. */
inline void need_product(Size m, Size n, Size k, const Operand &a, const Operand &b, Size ldc)
{
    need_sizes({m, n, k});
    letter_of_op(a.op), letter_of_op(b.op);
    need_leading(a.ld, a.op == OP_N ? m : k);
    need_leading(b.ld, b.op == OP_N ? k : n);
    need_leading(ldc, m);
}

/* The same into elements of T; alpha 0: A and B are not read; beta 0: what was there is not. */
template <class T>
void multiply_into(T *out, Size ld, Size m, Size n, Size k, T alpha, const Operand &a,
                   const Operand &b, T beta)
{
    Size depth = alpha == T(0) ? 0 : k;
    Values<T> left(READ, a, a.op == OP_N ? m : depth, a.op == OP_N ? depth : m);
    Values<T> right(READ, b, b.op == OP_N ? depth : n, b.op == OP_N ? n : depth);
    call(Of<T>::gemm, letter_of_op(a.op), letter_of_op(b.op), m, n, depth, alpha, left.data,
         left.ld, right.data, right.ld, beta, out, ld);
}

template <class T>
bool on_tensor_cores(const Operand &a, const Operand &b)
{
    bool halves = a.type == TYPE<Half> || a.type == TYPE<Bfloat>;
    return std::is_same_v<T, float> && halves && a.type == b.type;
}

inline std::vector<float> tensor_core_product(Size m, Size n, Size k, const Operand &a,
                                              const Operand &b)
{
    auto *left = (const uint16_t *)a.data, *right = (const uint16_t *)b.data;
    bool tall = a.op == OP_N, wide = b.op != OP_N;
    use_matrix(READ, left, tall ? m : k, tall ? k : m, a.ld);
    use_matrix(READ, right, wide ? n : k, wide ? k : n, b.ld);
    return tensor_core_sums(a.type, m, n, k, lines_of(left, a.ld, !tall, m, k, TENSOR_ROWS),
                            lines_of(right, b.ld, !wide, n, k, TENSOR_COLUMNS));
}

/* op(A) op(B), column by column. For bytes, floats hold sums of 1024 products exactly, and the rest is
   added as integers, which wrap. */
template <class T>
std::vector<T> multiplied(Size m, Size n, Size k, const Operand &a, const Operand &b)
{
    if constexpr (std::is_same_v<T, float>)
        if (on_tensor_cores<T>(a, b)) return tensor_core_product(m, n, k, a, b);
    std::vector<T> out(m * n);
    Size ld = std::max<Size>(1, m);
    if constexpr (std::is_integral_v<T>) {
        need(a.type == TYPE<int8_t> && b.type == TYPE<int8_t>, NOT_SUPPORTED);
        std::vector<float> sums(m * n);
        for (Size from = 0; from < k; from += 1024) {
            multiply_into<float>(sums.data(), ld, m, n, std::min<Size>(1024, k - from), 1,
                                 a.shifted(a.op == OP_N ? from * a.ld : from),
                                 b.shifted(b.op == OP_N ? from : from * b.ld), 0);
            for (size_t i = 0; i < out.size(); i++) out[i] += (T)(int32_t)sums[i];
        }
    } else multiply_into<T>(out.data(), ld, m, n, k, 1, a, b, 0);
    return out;
}

/* C = alpha op(A) op(B) + beta C */
template <class T>
void multiply(Size m, Size n, Size k, T alpha, const Operand &a, const Operand &b, T beta,
              const Operand &c)
{
    if (!m || !n) return;
    Values<T> out(beta == T(0) ? WRITE : BOTH, c, m, n);
    if constexpr (!std::is_integral_v<T>)
        if (!on_tensor_cores<T>(a, b)) {
            multiply_into(out.data, out.ld, m, n, k, alpha, a, b, beta);
            return out.store(c);
        }
    auto sums = multiplied<T>(m, n, alpha == T(0) ? 0 : k, a, b);
    for (Size i = 0; i < m * n; i++) {
        T &to = out.at(i % m, i / m);
        if (beta == T(0)) to = alpha * sums[i];
        else if constexpr (std::is_same_v<T, float>) to = std::fma(alpha, sums[i], beta * to);
        else to = alpha * sums[i] + beta * to;
    }
    out.store(c);
}

#endif
