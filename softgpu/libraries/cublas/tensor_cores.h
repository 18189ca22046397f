/* Products of halves, or of bfloat16, as tensor cores make them: to the bit. */
#ifndef SOFTGPU_BLAS_TENSOR_CORES_H
#define SOFTGPU_BLAS_TENSOR_CORES_H

#include <thread>

#include "openblas.h"
#include "types.h"

extern "C" void sg_product(uint32_t type, size_t m, size_t n, size_t k, const uint16_t *a,
                           const uint16_t *b, float *c);

enum { TENSOR_ROWS = 16, TENSOR_COLUMNS = 8, TENSOR_DEPTH = 16 };

inline Size padded(Size size, Size unit) { return (size + unit - 1) / unit * unit; }

/* Rows of op(A), or columns of op(B), one after the other; `along`: neighbours in memory follow each
   other along k. */
inline std::vector<uint16_t> lines_of(const uint16_t *from, Size ld, bool along, Size lines, Size k,
                                      Size unit)
{
    Size depth = padded(k, TENSOR_DEPTH);
    std::vector<uint16_t> out(padded(lines, unit) * depth);
    for (Size line = 0; line < lines; line++)
        for (Size at = 0; at < k; at++)
            out[line * depth + at] = from[along ? at + line * ld : line + at * ld];
    return out;
}

/* op(A) op(B), of 16-bit elements, column by column. */
inline std::vector<float> tensor_core_sums(int type, Size m, Size n, Size k,
                                           const std::vector<uint16_t> &a,
                                           const std::vector<uint16_t> &b)
{
    Size rows = padded(m, TENSOR_ROWS), depth = padded(k, TENSOR_DEPTH);
    Size panels = padded(n, TENSOR_COLUMNS) / TENSOR_COLUMNS;
    Size threads = std::min<Size>(panels, std::max(1, scipy_openblas_get_num_threads64_()));
    std::vector<float> sums(rows * panels * TENSOR_COLUMNS);
    std::vector<std::thread> workers;
    for (Size i = 0; i < threads; i++) {
        Size from = panels * i / threads * TENSOR_COLUMNS;
        Size to = panels * (i + 1) / threads * TENSOR_COLUMNS;
        workers.emplace_back(sg_product, type == TYPE<Bfloat>, rows, to - from, depth, a.data(),
                             b.data() + from * depth, sums.data() + from * rows);
    }
    for (std::thread &worker : workers) worker.join();
    std::vector<float> out(m * n);
    for (Size j = 0; j < n; j++) std::copy_n(&sums[j * rows], m, &out[j * m]);
    return out;
}

#endif
