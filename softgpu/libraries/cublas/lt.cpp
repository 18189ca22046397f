/* cuBLASLt: products with a bias and an activation, for matrices by columns or rows. libcublasLt.so
   leads here. */
#include <cstddef>

#include "gemm.h"

enum { BY_COLUMNS, BY_ROWS };                                               /* cublasLtOrder_t */
enum { RELU = 2, BIAS = 4, GELU = 32, EPILOGUES = 1 | RELU | BIAS | GELU }; /* cublasLtEpilogue_t */

/* Matrices, products and preferences as programs have them: 64, 256 and 64 bytes. */
struct Layout {
    int type, order;
    uint64_t rows, columns;
    int64_t ld;
    int batch;
    int64_t offset; /* from one of the batch to the next */
};
struct Description {
    int compute, scale, pointers, op_a, op_b, op_c, epilogue, bias_type;
    const void *bias;
    int64_t bias_offset;
    const float *scales[4]; /* of A, B, C and D, on the device, or NULL */
    float *largest;         /* gets the largest size in D before its scale, or NULL */
    int scale_modes[4];     /* 0: one scale for all */
    int multiprocessors;
    int8_t fast;
};
struct Preference {
    int mode, reductions;
    uint64_t workspace;
    int alignments[4];
    float waves;
};
static_assert(sizeof(Layout) <= 64 && sizeof(Description) <= 256 && sizeof(Preference) <= 64);

/* ---- their attributes: number, place and size ---- */

struct Attribute {
    int number;
    size_t place, bytes;
};
#define AT(number, Type, field) {number, offsetof(Type, field), sizeof(Type::field)}

static const Attribute of_layouts[] = {
    AT(0, Layout, type), AT(1, Layout, order), AT(2, Layout, rows),   AT(3, Layout, columns),
    AT(4, Layout, ld),   AT(5, Layout, batch), AT(6, Layout, offset),
};
static const Attribute of_descriptions[] = {
    AT(0, Description, compute),
    AT(1, Description, scale),
    AT(2, Description, pointers),
    AT(3, Description, op_a),
    AT(4, Description, op_b),
    AT(5, Description, op_c),
    AT(7, Description, epilogue),
    AT(8, Description, bias),
    AT(10, Description, bias_offset),
    AT(15, Description, multiprocessors),
    AT(17, Description, scales[0]),
    AT(18, Description, scales[1]),
    AT(19, Description, scales[2]),
    AT(20, Description, scales[3]),
    AT(21, Description, largest),
    AT(25, Description, fast),
    AT(26, Description, bias_type),
    AT(31, Description, scale_modes[0]),
    AT(32, Description, scale_modes[1]),
    AT(33, Description, scale_modes[2]),
    AT(34, Description, scale_modes[3]),
};
static const Attribute of_preferences[] = {
    AT(0, Preference, mode),          AT(1, Preference, workspace),
    AT(3, Preference, reductions),    AT(5, Preference, alignments[0]),
    AT(6, Preference, alignments[1]), AT(7, Preference, alignments[2]),
    AT(8, Preference, alignments[3]), AT(9, Preference, waves),
};

template <size_t N>
static const Attribute *found(const Attribute (&table)[N], int number)
{
    for (const Attribute &attribute : table)
        if (attribute.number == number) return &attribute;
    throw Status{NOT_SUPPORTED};
}

/* Calls that make, drop, set and read a kind of thing. */
#define THING(Name, Type, table)                                                                   \
    LIBRARY cublasLt##Name##Destroy(Type *thing)                                                   \
    {                                                                                              \
        delete thing;                                                                              \
        return 0;                                                                                  \
    }                                                                                              \
    LIBRARY cublasLt##Name##SetAttribute(Type *thing, int number, const void *from, size_t bytes)  \
    {                                                                                              \
        return guarded(__func__, STATUSES, [&] {                                                   \
            const Attribute *attribute = found(table, number);                                     \
            need(thing && from && bytes == attribute->bytes);                                      \
            memcpy((char *)thing + attribute->place, from, bytes);                                 \
        });                                                                                        \
    }                                                                                              \
    LIBRARY cublasLt##Name##GetAttribute(const Type *thing, int number, void *to, size_t room,     \
                                         size_t *written)                                          \
    {                                                                                              \
        return guarded(__func__, STATUSES, [&] {                                                   \
            const Attribute *attribute = found(table, number);                                     \
            if (written) *written = attribute->bytes;                                              \
            if (written && !room) return;                                                          \
            need(thing && to && room >= attribute->bytes);                                         \
            memcpy(to, (const char *)thing + attribute->place, attribute->bytes);                  \
        });                                                                                        \
    }
THING(MatrixLayout, Layout, of_layouts)
THING(MatmulDesc, Description, of_descriptions)
THING(MatmulPreference, Preference, of_preferences)

LIBRARY cublasLtMatrixLayoutInit_internal(Layout *out, size_t room, int type, uint64_t rows,
                                          uint64_t columns, int64_t ld)
{
    if (!out || room < sizeof *out) return INVALID_VALUE;
    *out = {type, BY_COLUMNS, rows, columns, ld, 1, 0};
    return 0;
}

LIBRARY cublasLtMatrixLayoutCreate(Layout **out, int type, uint64_t rows, uint64_t columns,
                                   int64_t ld)
{
    *out = new Layout;
    return cublasLtMatrixLayoutInit_internal(*out, sizeof **out, type, rows, columns, ld);
}

LIBRARY cublasLtMatmulDescInit_internal(Description *out, size_t room, int compute, int scale)
{
    if (!out || room < sizeof *out) return INVALID_VALUE;
    *out = {};
    out->compute = compute, out->scale = scale, out->epilogue = 1, out->bias_type = -1;
    return 0;
}

LIBRARY cublasLtMatmulDescCreate(Description **out, int compute, int scale)
{
    *out = new Description;
    return cublasLtMatmulDescInit_internal(*out, sizeof **out, compute, scale);
}

LIBRARY cublasLtMatmulPreferenceInit_internal(Preference *out, size_t room)
{
    if (!out || room < sizeof *out) return INVALID_VALUE;
    *out = {};
    return 0;
}

LIBRARY cublasLtMatmulPreferenceCreate(Preference **out)
{
    *out = new Preference{};
    return 0;
}

/* ---- the handle, and the one algorithm that there is ---- */

LIBRARY cublasLtCreate(Handle **out)
{
    if (!out) return INVALID_VALUE;
    return guarded(__func__, STATUSES, [&] { *out = new Handle; });
}

LIBRARY cublasLtDestroy(Handle *handle)
{
    if (!handle) return NOT_INITIALIZED;
    delete handle;
    return 0;
}

#define SIZE_CALL(name, value)                                                                     \
    extern "C" __attribute__((visibility("default"))) size_t name(void) { return value; }
SIZE_CALL(cublasLtGetVersion, 130100)
SIZE_CALL(cublasLtGetCudartVersion, 13000)

struct Heuristic {
    uint64_t algorithm[8];
    size_t workspace;
    int state;
    float waves;
    int reserved[4];
};

LIBRARY cublasLtMatmulAlgoGetHeuristic(Handle *, Description *, Layout *, Layout *, Layout *,
                                       Layout *, Preference *, int wanted, Heuristic *out,
                                       int *count)
{
    if (wanted < 1 || !out || !count) return INVALID_VALUE;
    *out = {};
    *count = 1;
    return 0;
}

/* ---- products ---- */

/* A matrix of a batch as an operand; one by rows is the transpose of one by columns. */
static Operand operand_of(const Layout &layout, const void *data, int op, Size i)
{
    bool rows = layout.order == BY_ROWS;
    need(layout.order == BY_COLUMNS || (rows && op != OP_C), NOT_SUPPORTED);
    letter_of_op(op);
    need_leading(layout.ld, rows ? layout.columns : layout.rows);
    Operand first{data, layout.type, layout.ld, rows ? OP_T - op : op};
    return first.shifted(i * layout.offset);
}

/* Element (i, j) of a matrix by columns or by rows. */
template <class T>
static T &element(Values<T> &of, const Layout &layout, Size i, Size j)
{ return layout.order == BY_ROWS ? of.at(j, i) : of.at(i, j); }

template <class T>
static Values<T> values_of(Use use, const Layout &layout, const Operand &from)
{
    bool rows = layout.order == BY_ROWS;
    return {use, from, Size(rows ? layout.columns : layout.rows),
            Size(rows ? layout.rows : layout.columns)};
}

static float scale_at(const float *pointer) { return pointer ? load(pointer, 1)[0] : 1; }

template <class T>
static T activated(T value, int epilogue)
{
    if constexpr (std::is_floating_point_v<T>) {
        if (epilogue & RELU) return value < 0 ? 0 : value;
        if (epilogue & GELU)
            return value / 2 *
                   (1 + std::tanh((T)0.7978845608028654 *
                                  (value + (T)0.044715 * value * value * value)));
    }
    return value;
}

template <class E>
static float size_of_any(E value)
{
    if constexpr (std::is_integral_v<E>) return std::fabs((float)(int32_t)value);
    else return (float)std::abs(value);
}

/* T: what products are sums of. E: what the rest is computed in */
template <class T, class E>
static void matmul(const Description &d, E alpha, const void *a, const Layout &la, const void *b,
                   const Layout &lb, E beta, const void *c, const Layout &lc, void *out,
                   const Layout &lo)
{
    Size m = lo.rows, n = lo.columns, k = d.op_a == OP_N ? la.columns : la.rows;
    need((Size)(d.op_a == OP_N ? la.rows : la.columns) == m);
    need((Size)(d.op_b == OP_N ? lb.rows : lb.columns) == k);
    need((Size)(d.op_b == OP_N ? lb.columns : lb.rows) == n);
    need(!(d.epilogue & ~EPILOGUES) && d.op_c == OP_N, NOT_SUPPORTED);
    need(std::is_floating_point_v<E> || d.epilogue == 1, NOT_SUPPORTED);
    for (int mode : d.scale_modes) need(!mode, NOT_SUPPORTED);
    float largest = 0;
    float by = scale_at(d.scales[0]) * scale_at(d.scales[1]);
    float of_c = scale_at(d.scales[2]), of_out = scale_at(d.scales[3]);
    for (Size i = 0; i < lo.batch; i++) {
        auto sums =
            multiplied<T>(m, n, k, operand_of(la, a, d.op_a, i), operand_of(lb, b, d.op_b, i));
        Operand to = operand_of(lo, out, OP_N, i);
        auto results = values_of<E>(WRITE, lo, to);
        auto before = values_of<E>(READ, beta == E(0) ? Layout{} : lc, operand_of(lc, c, OP_N, i));
        std::vector<E> bias(m);
        if (d.epilogue & BIAS) {
            int type = d.bias_type < 0 ? lo.type : d.bias_type;
            Values<E> from(READ, Operand{d.bias, type, 1}.shifted(i * d.bias_offset), 1, m);
            std::copy_n(from.data, m, bias.begin());
        }
        for (Size j = 0; j < n; j++)
            for (Size row = 0; row < m; row++) {
                E value = alpha * E(by) * as<E>(sums[row + j * m]);
                if (beta != E(0)) value += beta * E(of_c) * element(before, lc, row, j);
                value = activated<E>(value + bias[row], d.epilogue);
                largest = std::max(largest, size_of_any(value));
                element(results, lo, row, j) = value * E(of_out);
            }
        results.store(to);
    }
    if (d.largest) store(d.largest, std::vector<float>{largest});
}

LIBRARY cublasLtMatmul(Handle *handle, const Description *description, const void *alpha,
                       const void *a, const Layout *la, const void *b, const Layout *lb,
                       const void *beta, const void *c, const Layout *lc, void *out,
                       const Layout *lo, const void *, void *, size_t, CUstream stream)
{
    if (!handle) return NOT_INITIALIZED;
    if (!description || !la || !lb || !lc || !lo) return INVALID_VALUE;
    if (description->pointers > ON_DEVICE) return NOT_SUPPORTED;
    Handle as_said = *handle;
    as_said.pointers = description->pointers;
    auto call = [&](auto number, auto result, auto scale) {
        using T = decltype(number);
        using E = decltype(result);
        using S = decltype(scale);
        auto by = factor(&as_said, (const S *)alpha), and_by = factor(&as_said, (const S *)beta);
        return in_stream("cublasLtMatmul", STATUSES, stream,
                         [=, d = *description, la = *la, lb = *lb, lc = *lc, lo = *lo] {
                             matmul<T, E>(d, as<E>(by()), a, la, b, lb, as<E>(and_by()), c, lc, out,
                                          lo);
                         });
    };
    bool complex = description->scale == TYPE<std::complex<float>> ||
                   description->scale == TYPE<std::complex<double>>;
    return by_compute(description->compute, complex, NOT_SUPPORTED, [&](auto number, auto scale) {
        if constexpr (std::is_same_v<decltype(number), uint32_t>)
            if (description->scale != TYPE<int32_t>) return call(number, float{}, float{});
        return call(number, number, scale);
    });
}
