/* The operations of BLAS on device memory, for all types alike. */
#ifndef SOFTGPU_BLAS_H
#define SOFTGPU_BLAS_H

#include "types.h"

enum { OP_N, OP_T, OP_C };        /* cublasOperation_t */
enum { LOWER, UPPER };            /* cublasFillMode_t */
enum { LEFT, RIGHT };             /* cublasSideMode_t */
enum { ON_HOST, ON_DEVICE };      /* cublasPointerMode_t */
enum { COLUMNS, BANDED, PACKED }; /* how a matrix is stored */
enum { GENERAL, SYMMETRIC, HERMITIAN, TRIANGULAR };

struct Handle {
    CUstream stream = nullptr;
    int pointers = ON_HOST, atomics = 0, math = 0, multiprocessors = 0;
    char *workspace = nullptr;
    size_t workspace_bytes = 0;
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
__attribute__((noinline)) inline int run(const char *name, Handle *handle,
                                         const std::function<void()> &body)
{
    if (!handle) return NOT_INITIALIZED;
    return in_stream(name, STATUSES, handle->stream, body);
}

inline void need_operation(int op) { need(op >= OP_N && op <= OP_C); }
inline void need_sizes(std::initializer_list<Size> sizes)
{
    for (Size size : sizes) need(size >= 0);
}
inline void need_leading(Size ld, Size rows) { need(ld >= std::max<Size>(1, rows)); }

/* ---- matrices of special shapes ---- */

template <class T>
struct Shaped {
    std::vector<T> data;
    Size rows, columns, ld;
    int storage = COLUMNS, shape = GENERAL, uplo = LOWER;
    bool unit = false;
    Size below = 0, above = 0; /* diagonals of a band */

    T &stored(Size i, Size j)
    {
        if (storage == COLUMNS) return data[i + j * ld];
        if (storage == BANDED) return data[above + i - j + j * ld];
        return uplo == UPPER ? data[i + j * (j + 1) / 2] : data[i + j * (2 * rows - j - 1) / 2];
    }
    bool within(Size i, Size j) const { return uplo == UPPER ? i <= j : i >= j; }
    T at(Size i, Size j)
    {
        if (shape == GENERAL) return stored(i, j);
        if (shape == TRIANGULAR) return !within(i, j) ? T(0) : i == j && unit ? T(1) : stored(i, j);
        if (i == j && shape == HERMITIAN) return T(std::real(stored(i, j)));
        if (within(i, j)) return stored(i, j);
        return shape == HERMITIAN ? conjugated(stored(j, i)) : stored(j, i);
    }
    T at(int op, Size i, Size j)
    {
        if (op == OP_N) return at(i, j);
        return op == OP_T ? at(j, i) : conjugated(at(j, i));
    }
    /* Columns of row i that can be other than zero. */
    Size first(int op, Size i) const
    { return storage == BANDED ? std::max<Size>(0, i - (op == OP_N ? lower() : upper())) : 0; }
    Size last(int op, Size i) const
    {
        Size all = op == OP_N ? columns : rows;
        return storage == BANDED ? std::min(all, i + (op == OP_N ? upper() : lower()) + 1) : all;
    }
    bool both() const { return shape == SYMMETRIC || shape == HERMITIAN; }
    Size lower() const { return both() ? std::max(below, above) : below; }
    Size upper() const { return both() ? std::max(below, above) : above; }
    Matrix<T> dense(int op = OP_N)
    {
        Matrix<T> out(op == OP_N ? rows : columns, op == OP_N ? columns : rows);
        for (Size j = 0; j < out.columns; j++)
            for (Size i = 0; i < out.rows; i++) out.at(i, j) = at(op, i, j);
        return out;
    }
};

template <class T>
Shaped<T> load_shaped(const T *a, Size rows, Size columns, Size ld, int shape = GENERAL,
                      int uplo = LOWER, bool unit = false)
{
    return {
        load_matrix<T>(a, rows, columns, ld).data, rows, columns, rows, COLUMNS, shape, uplo, unit};
}

template <class T>
Shaped<T> load_band(const T *a, Size rows, Size columns, Size below, Size above, Size ld,
                    int shape = GENERAL, int uplo = LOWER, bool unit = false)
{
    need_sizes({below, above});
    need_leading(ld, below + above + 1);
    Size height = below + above + 1;
    return {load_matrix<T>(a, height, columns, ld).data,
            rows,
            columns,
            height,
            BANDED,
            shape,
            uplo,
            unit,
            below,
            above};
}

/* A triangle's band, k wide beside the diagonal. */
template <class T>
Shaped<T> load_half_band(const T *a, Size n, Size k, Size ld, int shape, int uplo,
                         bool unit = false)
{ return load_band(a, n, n, uplo == UPPER ? 0 : k, uplo == UPPER ? k : 0, ld, shape, uplo, unit); }

template <class T>
Shaped<T> load_packed(const T *a, Size n, int shape, int uplo, bool unit = false)
{ return {load(a, n * (n + 1) / 2), n, n, n, PACKED, shape, uplo, unit}; }

/* ---- vectors and matrices ---- */

/* y = alpha op(A) x + beta y */
template <class T>
void times_vector(Shaped<T> a, int op, T alpha, const T *x, Size step, T beta, T *y, Size y_step)
{
    Size m = op == OP_N ? a.rows : a.columns, n = op == OP_N ? a.columns : a.rows;
    auto values = load_vector<T>(x, n, step);
    auto out = beta == T(0) ? std::vector<T>(m) : load_vector<T>(y, m, y_step);
    for (Size i = 0; i < m; i++) {
        T sum = 0;
        for (Size j = a.first(op, i), end = a.last(op, i); j < end; j++)
            sum += a.at(op, i, j) * values[j];
        out[i] = alpha * sum + (beta == T(0) ? T(0) : beta * out[i]);
    }
    store_vector(y, y_step, out);
}

template <class T>
void triangular_times(Shaped<T> a, int op, T *x, Size step)
{ times_vector(std::move(a), op, T(1), x, step, T(0), x, step); }

/* Whether op(A) is an upper triangle: what is solved from the end. */
inline bool from_the_end(int uplo, int op) { return (uplo == UPPER) == (op == OP_N); }

template <class T>
void triangular_solve(Shaped<T> a, int op, T *x, Size step)
{
    auto out = load_vector<T>(x, a.rows, step);
    bool backwards = from_the_end(a.uplo, op);
    for (Size turn = 0; turn < a.rows; turn++) {
        Size i = backwards ? a.rows - 1 - turn : turn;
        Size begin = backwards ? i + 1 : a.first(op, i), end = backwards ? a.last(op, i) : i;
        T sum = out[i];
        for (Size j = begin; j < end; j++) sum -= a.at(op, i, j) * out[j];
        out[i] = a.unit ? sum : sum / a.at(op, i, i);
    }
    store_vector(x, step, out);
}

/* A += alpha x y', where y' is conjugated or not; of a triangle with its mirror image if both. */
template <class T>
void add_outer(Shaped<T> &a, T alpha, const std::vector<T> &x, const std::vector<T> &y,
               bool conjugate)
{
    for (Size j = 0; j < a.columns; j++)
        for (Size i = 0; i < a.rows; i++)
            if (a.shape == GENERAL || a.within(i, j))
                a.stored(i, j) += alpha * x[i] * (conjugate ? conjugated(y[j]) : y[j]);
}

template <class T>
void make_real(Shaped<T> &a)
{
    if (a.shape == HERMITIAN)
        for (Size i = 0; i < a.rows; i++) a.stored(i, i) = T(std::real(a.stored(i, i)));
}

/* Writes back a triangle in columns, or all of another matrix. */
template <class T>
void store_shaped(T *to, Size ld, Shaped<T> &a)
{
    if (a.storage == PACKED) return store(to, a.data);
    if (a.shape == GENERAL)
        return copy_rows(to, ld * sizeof(T), true, a.data.data(), a.ld * sizeof(T), false,
                         a.rows * sizeof(T), a.columns);
    for (Size j = 0; j < a.columns; j++) {
        Size from = a.uplo == UPPER ? 0 : j, end = a.uplo == UPPER ? j + 1 : a.rows;
        check(cuMemcpyHtoD_v2(address(to + from + j * ld), &a.stored(from, j),
                              (end - from) * sizeof(T)));
    }
}

/* A += alpha x x', or alpha x y' + alpha' y x'; y NULL: the first */
template <class T>
void rank_update(Shaped<T> a, T alpha, const T *x, Size step, const T *y, Size y_step, T *to,
                 Size ld)
{
    bool conjugate = a.shape == HERMITIAN;
    auto left = load_vector<T>(x, a.rows, step);
    auto right = y ? load_vector<T>(y, a.rows, y_step) : left;
    add_outer(a, alpha, left, right, conjugate);
    if (y) add_outer(a, conjugate ? conjugated(alpha) : alpha, right, left, conjugate);
    make_real(a);
    store_shaped(to, ld, a);
}

/* ---- matrices and matrices ---- */

template <class T>
View<T> seen(const Matrix<T> &a, int op)
{ return op == OP_N ? a.view() : View<T>{a.data.data(), a.rows, 1, op == OP_C}; }

/* Of alpha P + beta C, what C is; C is not read where beta is 0. */
template <class T>
void blend(Matrix<T> &sums, T alpha, T beta, const Matrix<T> *c)
{
    for (size_t i = 0; i < sums.data.size(); i++)
        sums.data[i] = alpha * sums.data[i] + (c ? beta * c->data[i] : T(0));
}

/* What lies where: an operand of a product, of a cudaDataType. */
struct Operand {
    const void *data;
    int type;
    Size ld;
    int op = OP_N;
    Operand shifted(Size elements) const
    { return {(const char *)data + elements * bytes_of_type(type), type, ld, op}; }
};

template <class T>
constexpr int TYPE = -1;
template <>
constexpr int TYPE<float> = 0;
template <>
constexpr int TYPE<double> = 1;
template <>
constexpr int TYPE<Half> = 2;
template <>
constexpr int TYPE<std::complex<float>> = 4;
template <>
constexpr int TYPE<std::complex<double>> = 5;
template <>
constexpr int TYPE<Bfloat> = 14;
template <>
constexpr int TYPE<int32_t> = 10;

inline void need_product(Size m, Size n, Size k, const Operand &a, const Operand &b, Size ldc)
{
    need_sizes({m, n, k});
    need_operation(a.op), need_operation(b.op);
    need_leading(a.ld, a.op == OP_N ? m : k);
    need_leading(b.ld, b.op == OP_N ? k : n);
    need_leading(ldc, m);
}

template <class T>
Matrix<T> multiplied(Size m, Size n, Size k, const Operand &a, const Operand &b)
{
    auto left = a.op == OP_N ? load_matrix<T>(a.data, a.type, m, k, a.ld)
                             : load_matrix<T>(a.data, a.type, k, m, a.ld);
    auto right = b.op == OP_N ? load_matrix<T>(b.data, b.type, k, n, b.ld)
                              : load_matrix<T>(b.data, b.type, n, k, b.ld);
    return product(m, n, k, seen(left, a.op), seen(right, b.op));
}

/* C = alpha op(A) op(B) + beta C; alpha 0: A and B are not read */
template <class T>
void multiply(Size m, Size n, Size k, T alpha, Operand a, Operand b, T beta, Operand c)
{
    if (!m || !n) return;
    Matrix<T> out = alpha == T(0) ? Matrix<T>(m, n) : multiplied<T>(m, n, k, a, b);
    if (beta == T(0)) blend<T>(out, alpha, beta, nullptr);
    else {
        auto before = load_matrix<T>(c.data, c.type, m, n, c.ld);
        blend(out, alpha, beta, &before);
    }
    store_matrix((void *)c.data, c.type, c.ld, out);
}

/* Writes a triangle of alpha P + beta C. */
template <class T>
void store_triangle(Matrix<T> sums, T alpha, T beta, T *c, Size ld, int shape, int uplo)
{
    Size n = sums.rows;
    auto before = beta == T(0) ? Matrix<T>(0, 0) : load_matrix<T>(c, n, n, ld);
    blend(sums, alpha, beta, beta == T(0) ? nullptr : &before);
    Shaped<T> out{std::move(sums.data), n, n, n, COLUMNS, shape, uplo};
    make_real(out);
    store_shaped(c, ld, out);
}

inline int other_op(int op, bool conjugate) { return op != OP_N ? OP_N : conjugate ? OP_C : OP_T; }

/* C = alpha op(A) op(B)' + beta C, or with alpha' op(B) op(A)' where twice */
template <class T>
void rank_k(int shape, int uplo, int op, Size n, Size k, T alpha, const T *a, Size lda, const T *b,
            Size ldb, bool twice, T beta, T *c, Size ldc)
{
    bool conjugate = shape == HERMITIAN;
    int mirrored = other_op(op, conjugate);
    if (!n) return;
    Matrix<T> sums(n, n);
    if (alpha != T(0)) {
        sums = multiplied<T>(n, n, k, {a, TYPE<T>, lda, op}, {b, TYPE<T>, ldb, mirrored});
        blend<T>(sums, alpha, T(0), nullptr);
        if (twice) {
            auto more = multiplied<T>(n, n, k, {b, TYPE<T>, ldb, op}, {a, TYPE<T>, lda, mirrored});
            blend(more, conjugate ? conjugated(alpha) : alpha, T(1), &sums);
            sums = std::move(more);
        }
    }
    store_triangle(std::move(sums), T(1), beta, c, ldc, shape, uplo);
}

/* C = alpha A B + beta C, or B A, where A is a whole matrix of its own kind */
template <class T>
void times_shaped(int side, int op, Shaped<T> a, Size m, Size n, T alpha, const T *b, Size ldb,
                  T beta, T *c, Size ldc)
{
    if (!m || !n) return;
    auto whole = a.dense(op), other = load_matrix<T>(b, m, n, ldb);
    auto out = side == LEFT ? product(m, n, m, whole.view(), other.view())
                            : product(m, n, n, other.view(), whole.view());
    auto before = beta == T(0) ? Matrix<T>(0, 0) : load_matrix<T>(c, m, n, ldc);
    blend(out, alpha, beta, beta == T(0) ? nullptr : &before);
    store_matrix(c, ldc, out);
}

/* Solves A X = B in place, column by column, for a triangle A. */
template <class T>
void solve_columns(const Matrix<T> &a, bool backwards, bool unit, Matrix<T> &b)
{
    Size n = a.rows;
    shared_out(b.columns, n * n * b.columns, [&](Size column) {
        T *x = &b.data[column * n];
        for (Size turn = 0; turn < n; turn++) {
            Size j = backwards ? n - 1 - turn : turn;
            if (!unit) x[j] /= a.at(j, j);
            T value = x[j];
            for (Size i = backwards ? 0 : j + 1; i < (backwards ? j : n); i++)
                x[i] -= value * a.at(i, j);
        }
    });
}

template <class T>
Matrix<T> mirrored(const Matrix<T> &a)
{
    Matrix<T> out(a.columns, a.rows);
    for (Size j = 0; j < a.columns; j++)
        for (Size i = 0; i < a.rows; i++) out.at(j, i) = a.at(i, j);
    return out;
}

/* B = alpha op(A)^-1 B, or B op(A)^-1 */
template <class T>
void solve(int side, int op, Shaped<T> a, Size m, Size n, T alpha, T *b, Size ldb)
{
    if (!m || !n) return;
    if (alpha == T(0)) return store_matrix(b, ldb, Matrix<T>(m, n));
    auto whole = a.dense(op), values = load_matrix<T>(b, m, n, ldb);
    for (T &value : values.data) value *= alpha;
    bool backwards = from_the_end(a.uplo, op);
    if (side == LEFT) solve_columns(whole, backwards, a.unit, values);
    else {
        auto turned = mirrored(values);
        solve_columns(mirrored(whole), !backwards, a.unit, turned);
        values = mirrored(turned);
    }
    store_matrix(b, ldb, values);
}

#endif
