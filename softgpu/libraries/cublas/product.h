/* Products of matrices: packed tiles, whose rows are vectors, shared out over threads. */
#ifndef SOFTGPU_PRODUCT_H
#define SOFTGPU_PRODUCT_H

#include <algorithm>
#include <atomic>
#include <thread>

#include "../device.h"

/* An operand as its operation sees it: element (i, j) is data[i * down + j * right]. */
template <class T>
struct View {
    const T *data;
    Size down, right;
    bool conjugate = false;
};

/* Column by column, without gaps. */
template <class T>
struct Matrix {
    Size rows, columns;
    std::vector<T> data;
    Matrix(Size rows, Size columns) : rows(rows), columns(columns), data(rows * columns) {}
    T &at(Size i, Size j) { return data[i + j * rows]; }
    const T &at(Size i, Size j) const { return data[i + j * rows]; }
    View<T> view() const { return {data.data(), 1, rows}; }
    View<T> transposed() const { return {data.data(), rows, 1}; }
};

constexpr Size DEPTH = 512; /* products that are added up in registers */
constexpr Size ACROSS = 4;  /* columns of a tile */
template <class T>
constexpr Size TALL = 128 / sizeof(T);

/* A tile, from so many columns of one panel and rows of the other: tiles.cpp. */
void make_tile(const float *a, const float *b, Size depth, float *out);
void make_tile(const double *a, const double *b, Size depth, double *out);
void make_tile(const uint32_t *a, const uint32_t *b, Size depth, uint32_t *out);

/* Panels of `wide` rows (or columns), in each the k direction slowest; zeros fill the last one. */
template <class T>
std::vector<T> packed(const T *data, Size stride, Size along, Size count, Size depth, Size wide)
{
    Size panels = (count + wide - 1) / wide;
    std::vector<T> out(panels * wide * depth);
    for (Size panel = 0; panel < panels; panel++)
        for (Size i = 0, most = std::min(wide, count - panel * wide); i < most; i++) {
            const T *from = data + (panel * wide + i) * stride;
            T *to = &out[panel * wide * depth + i];
            for (Size p = 0; p < depth; p++) to[p * wide] = from[p * along];
        }
    return out;
}

/* Runs body(0) to body(count - 1), by as many threads as there is work for. */
template <class F>
void shared_out(Size count, Size work, F body)
{
    std::atomic<Size> next{0};
    auto take = [&] {
        for (Size i; (i = next++) < count;) body(i);
    };
    Size most = work < 1 << 22 ? 1 : std::thread::hardware_concurrency();
    std::vector<std::thread> others;
    for (Size i = 1; i < std::min(count, most); i++) others.emplace_back(take);
    take();
    for (auto &other : others) other.join();
}

template <class T>
Matrix<T> product(Size m, Size n, Size k, View<T> a, View<T> b)
{
    Matrix<T> out(m, n);
    constexpr Size tall = TALL<T>;
    for (Size from = 0; from < k; from += DEPTH) {
        Size depth = std::min(DEPTH, k - from);
        auto left = packed(a.data + from * a.right, a.down, a.right, m, depth, tall);
        auto right = packed(b.data + from * b.down, b.right, b.down, n, depth, ACROSS);
        shared_out((n + ACROSS - 1) / ACROSS, m * n * depth, [&](Size panel) {
            T sums[ACROSS * tall];
            Size columns = std::min(ACROSS, n - panel * ACROSS);
            for (Size i = 0; i < m; i += tall) {
                make_tile(&left[i * depth], &right[panel * ACROSS * depth], depth, sums);
                for (Size j = 0; j < columns; j++)
                    for (Size r = 0, rows = std::min(tall, m - i); r < rows; r++)
                        out.at(i + r, panel * ACROSS + j) += sums[j * tall + r];
            }
        });
    }
    return out;
}

/* Of complex numbers: four products of their parts. */
template <class R>
Matrix<std::complex<R>> product(Size m, Size n, Size k, View<std::complex<R>> a,
                                View<std::complex<R>> b)
{
    auto part = [](View<std::complex<R>> of, int imaginary) {
        return View<R>{(const R *)of.data + imaginary, 2 * of.down, 2 * of.right};
    };
    auto rr = product(m, n, k, part(a, 0), part(b, 0)),
         ii = product(m, n, k, part(a, 1), part(b, 1));
    auto ri = product(m, n, k, part(a, 0), part(b, 1)),
         ir = product(m, n, k, part(a, 1), part(b, 0));
    R left = a.conjugate ? -1 : 1, right = b.conjugate ? -1 : 1;
    Matrix<std::complex<R>> out(m, n);
    for (size_t i = 0; i < out.data.size(); i++)
        out.data[i] = {rr.data[i] - left * right * ii.data[i],
                       right * ri.data[i] + left * ir.data[i]};
    return out;
}

#endif
