/* Products of small matrices as a tensor core makes them: mma.sync, to the bit.

   A fragment lies in registers of 32 lanes, of 4 bytes each. Of a (16 x k) and b (k x 8), a register
   holds for each of 8 rows (columns) 16 bytes of it, which follow each other along k: row i's are
   in lanes 4 i to 4 i + 3. Of a, every other register holds rows 8 to 15.

   Terms: mixed-precision accumulation (Fasi et al. 2021; docs/terms.md). */
#include <math.h>
#include <string.h>

#include "internal.h"
#include "half.h"
#include "lanes.h"

enum { ROWS = 16, COLUMNS = 8, DEPTH = 64, EIGHTH = 16 /* bytes of a row in a register */ };
typedef uint32_t Register[LANES];

/* ---- numbers of few bits ---- */

typedef struct {
    uint32_t bits, mantissa; /* of an element, of its fraction */
    bool finite;             /* no infinities; all ones are NaN */
    uint32_t kept;           /* the bits that are read */
    bool halves;             /* multiplied as halves, of which they are normal ones */
} Format;

static const Format formats[] = {
    [MMA_F16] = {16, 10, false, 0xffff},    [MMA_BF16] = {16, 7, false, 0xffff},
    [MMA_TF32] = {32, 23, false, ~0x1fffu}, [MMA_E4M3] = {8, 3, true, 0xff, true},
    [MMA_E5M2] = {8, 2, false, 0xff},       [MMA_F32] = {32, 23, false, ~0u},
};

enum { NOTHING = -400 }; /* the exponent of zero: it counts for nothing */

/* Values and exponents; not as numbers in their usual form have them, if they are subnormal or zero.
   Whether there are infinities or NaN. */
INLINE bool decode(Format f, uint32_t count, const uint32_t *raw, double *value, int32_t *exponent)
{
    const uint32_t top = (1u << (f.bits - 1 - f.mantissa)) - 1;
    const int32_t bias = (int32_t)(top >> 1);
    uint32_t special = 0;
    for (uint32_t n = 0; n < count; n++) {
        uint32_t bits = raw[n] & f.kept, fraction = bits & ((1u << f.mantissa) - 1);
        uint32_t field = bits >> f.mantissa & top;
        int32_t e = (int32_t)(field ? field : 1) - bias;
        int32_t size = (int32_t)(field ? fraction | 1u << f.mantissa : fraction);
        int32_t whole = bits >> (f.bits - 1) & 1 ? -size : size;
        double unit = f64_of_bits((uint64_t)(uint32_t)(e - (int32_t)f.mantissa + 1023) << 52);
        double number = whole * unit;
        uint32_t ends = field == top, odd = f.finite ? fraction == (1u << f.mantissa) - 1 : 1;
        uint64_t limit = f.finite || fraction ? 0x7ff8ull << 48 : 0x7ff0ull << 48;
        limit |= (uint64_t)(bits >> (f.bits - 1) & 1) << 63;
        value[n] = ends & odd ? f64_of_bits(limit) : number;
        if (f.halves) e = (int32_t)(bits_of_f64(number) >> 52 & 0x7ff) - 1023;
        exponent[n] = size ? e : NOTHING;
        special |= ends & odd;
    }
    return special;
}

/* Toward zero, as float with a fraction of so many bits; NaN is the hardware's. */
INLINE uint32_t cut_to_float(double x, uint32_t fraction)
{
    uint64_t bits = bits_of_f64(x);
    uint32_t field = bits >> 52 & 0x7ff, least = 1023 - 126;
    uint32_t drop = 52 - fraction + (field < least ? least - field : 0);
    bits = drop > 52 ? bits & 1ull << 63 : bits >> drop << drop;
    float cut = (float)f64_of_bits(bits);
    return x == x ? bits_of_f32(cut + 0.0f) : F32_NAN; /* no negative zero */
}

/* To nearest, as half. */
INLINE uint16_t round_to_half(double x)
{
    uint64_t field = bits_of_f64(x) >> 52 & 0x7ff;
    uint64_t e = field < 1023 - 14 ? 1023 - 14 : field > 1023 + 16 ? 1023 + 16 : field;
    double magic = f64_of_bits((e + 42) << 52) * 1.5; /* its last bit is the half's */
    double rounded = x - x == 0 ? (x + magic) - magic : x;
    return half_of_float((float)rounded + 0.0f);
}

/* ---- sums of floats ---- */

typedef struct {
    double value[DEPTH * COLUMNS];
    int32_t exponent[DEPTH * COLUMNS];
} Numbers;

/* What is multiplied at once: row i of a, whose element n meets row at[i][n] of b. */
typedef struct {
    uint32_t depth; /* elements of a row of a */
    Numbers a, b, c;
    uint8_t at[ROWS][DEPTH];
    bool special;
    uint32_t kept; /* bits below the largest exponent that the adder keeps of each term */
} Product;

enum { LEAST = -133, KEPT = 25, KEPT_OF_BYTES = 13 /* by a warpgroup */ };

INLINE double power(int32_t exponent)
{ return f64_of_bits((uint64_t)(uint32_t)(1023 + exponent) << 52); }

INLINE uint32_t cut(double x) { return (uint32_t)(int32_t)x; }

/* Row i of the sums, exactly as the adder has them: all terms are cut to the same last place. */
INLINE void add_up(const Product *p, uint32_t i, double *sum)
{
    int32_t top[COLUMNS];
    uint32_t odd[COLUMNS], even[COLUMNS]; /* modulo 2^32: infinities have no numbers */
    double scale[COLUMNS];
    const double *a = p->a.value + i * p->depth, *c = p->c.value + i * COLUMNS;
    const int32_t *exponent = p->a.exponent + i * p->depth;
    for (uint32_t j = 0; j < COLUMNS; j++) top[j] = p->c.exponent[i * COLUMNS + j];
    for (uint32_t n = 0; n < p->depth; n++) {
        const int32_t *b = p->b.exponent + p->at[i][n] * COLUMNS;
        for (uint32_t j = 0; j < COLUMNS; j++)
            top[j] = exponent[n] + b[j] > top[j] ? exponent[n] + b[j] : top[j];
    }
    for (uint32_t j = 0; j < COLUMNS; j++) {
        top[j] = top[j] < LEAST ? LEAST : top[j];
        scale[j] = power((int32_t)p->kept - top[j]);
        even[j] = cut(c[j] * scale[j]);
        odd[j] = 0;
    }
    for (uint32_t n = 0; n < p->depth; n += 2) { /* two sums, as all terms would need 33 bits */
        const double *b = p->b.value + p->at[i][n] * COLUMNS;
        const double *next = p->b.value + p->at[i][n + 1] * COLUMNS;
        for (uint32_t j = 0; j < COLUMNS; j++) {
            even[j] += cut(a[n] * b[j] * scale[j]);
            odd[j] += cut(a[n + 1] * next[j] * scale[j]);
        }
    }
    for (uint32_t j = 0; j < COLUMNS; j++)
        sum[j] = ((double)(int32_t)even[j] + (int32_t)odd[j]) * power(top[j] - (int32_t)p->kept);
}

/* Where infinities or NaN come out, all that matters is which. */
static void add_up_special(const Product *p, uint32_t i, double *sum)
{
    for (uint32_t j = 0; j < COLUMNS; j++) {
        double plain = p->c.value[i * COLUMNS + j];
        for (uint32_t n = 0; n < p->depth; n++)
            plain += p->a.value[i * p->depth + n] * p->b.value[p->at[i][n] * COLUMNS + j];
        if (plain - plain != 0) sum[j] = plain;
    }
}

/* ---- fragments ---- */

/* Element n of a row of a fragment's register. */
INLINE uint32_t element(const Register *reg, uint32_t bits, uint32_t row, uint32_t n)
{
    uint32_t at = row * EIGHTH * 8 + n * bits;
    return (*reg)[at / 32] >> at % 32 & (bits == 32 ? ~0u : (1u << bits) - 1);
}

/* Which elements of a register's rows are multiplied: all, or of each word the first two, or the last
   two, as numbers of 8 bits become halves. */
typedef struct {
    uint32_t wide;  /* how many of a row */
    uint32_t first; /* of each word of four; only if there are `pairs` */
    bool pairs;
} Part;

INLINE Part all_of(uint32_t bits) { return (Part){EIGHTH * 8 / bits, 0, false}; }

INLINE uint32_t nth(Part part, uint32_t n)
{ return part.pairs ? n / 2 * 4 + part.first + n % 2 : n; }

INLINE void read_rows(const Register *a, uint32_t bits, uint32_t rows, uint32_t depth, Part part,
                      uint32_t *raw)
{
    for (uint32_t i = 0; i < rows; i++)
        for (uint32_t k = 0; k < depth; k++)
            *raw++ = element(a + k / part.wide * (rows / 8) + i / 8, bits, i % 8,
                             nth(part, k % part.wide));
}

INLINE void read_columns(const Register *b, uint32_t bits, uint32_t depth, Part part, uint32_t *raw)
{
    for (uint32_t k = 0; k < depth; k++)
        for (uint32_t j = 0; j < COLUMNS; j++)
            *raw++ = element(b + k / part.wide, bits, j, nth(part, k % part.wide));
}

/* The registers of c and d hold pairs of neighbours: two floats apart, two halves in one. */
INLINE void read_sums(const Register *c, bool half, uint32_t rows, uint32_t *raw)
{
    for (uint32_t i = 0; i < rows; i++)
        for (uint32_t j = 0; j < COLUMNS; j++, raw++) {
            uint32_t lane = i % 8 * 4 + j / 2;
            *raw = half ? c[i / 8][lane] >> j % 2 * 16 & 0xffff : c[i / 8 * 2 + j % 2][lane];
        }
}

INLINE void write_sums(Register *d, bool half, uint32_t rows, const uint32_t *sum)
{
    for (uint32_t i = 0; i < rows; i++)
        for (uint32_t j = 0; j < COLUMNS; j += 2) {
            const uint32_t lane = i % 8 * 4 + j / 2, *pair = sum + i * COLUMNS + j;
            if (half) d[i / 8][lane] = pair[0] | pair[1] << 16;
            else d[i / 8 * 2][lane] = pair[0], d[i / 8 * 2 + 1][lane] = pair[1];
        }
}

/* ---- mma.sync of floats ---- */

/* What is asked for; `how`: MMA_... */
typedef struct {
    uint32_t k, how, selector;
    const Register *a, *b, *c, *metadata;
    Register *d;
} Mma;

/* Which row of b element n of row i of a sparse a meets. The metadata have four bits for each group
   of 4 rows of b (of 4-bit integers: of 8; of tf32: of 2): of which two a has elements. */
INLINE uint32_t met(const Mma *m, uint32_t bits, uint32_t i, uint32_t n)
{
    const uint32_t entry = bits == 4 ? n / 2 : bits == 32 ? 2 * n : n, group = entry / 2;
    const uint32_t groups = m->k / (bits == 4 ? 8 : bits == 32 ? 2 : 4);
    uint32_t lane = m->selector * (groups / 4) + group / 4, nth_bit = i / 8 * 16 + group % 4 * 4;
    if (bits <= 8) { /* a row and the one 8 below have lanes of their own */
        lane = (m->selector + group / 8) * 2 + i / 8;
        nth_bit = group % 8 * 4;
    }
    const uint32_t indices = (*m->metadata)[i % 8 * 4 + lane] >> nth_bit;
    const uint32_t which = indices >> entry % 2 * 2 & 3;
    if (bits == 4) return group * 8 + which * 2 + n % 2;
    return bits == 32 ? group * 2 + which / 2 : group * 4 + which;
}

/* a and b; halves are made of the pairs that begin at element `first` of each four. */
INLINE void prepare(Product *p, const Mma *m, Format of_a, Format of_b, uint32_t first)
{
    const uint32_t bits = of_a.bits;
    const bool sparse = m->how & MMA_SPARSE, pairs = bits == 8 && !(m->how & MMA_GROUP);
    const Part all = all_of(bits), some = {all.wide / 2, first, true};
    const Part part_a = pairs ? some : all, part_b = pairs && !sparse ? some : all;
    const uint32_t depth_b = m->k * part_b.wide / all.wide;
    uint32_t raw[DEPTH * ROWS];
    of_a.halves &= pairs;
    of_b.halves &= pairs;
    p->kept = bits == 8 && !pairs ? KEPT_OF_BYTES : KEPT;
    p->depth = m->k * part_a.wide / all.wide / (sparse ? 2 : 1);
    read_rows(m->a, bits, ROWS, p->depth, part_a, raw);
    p->special = decode(of_a, ROWS * p->depth, raw, p->a.value, p->a.exponent);
    read_columns(m->b, bits, depth_b, part_b, raw);
    p->special |= decode(of_b, depth_b * COLUMNS, raw, p->b.value, p->b.exponent);
    for (uint32_t i = 0; i < ROWS; i++)
        for (uint32_t n = 0; n < p->depth; n++)
            p->at[i][n] = sparse ? met(m, bits, i, nth(part_a, n)) : n;
}

/* c and what is made of the sums, which the kinds of a and b do not change. */
NEWER_TOO static void finish(Product *p, bool half_c, bool half_d, const uint32_t *c, uint32_t *d)
{
    double sum[ROWS * COLUMNS];
    p->special |=
        decode(formats[half_c ? MMA_F16 : MMA_F32], ROWS * COLUMNS, c, p->c.value, p->c.exponent);
    for (uint32_t i = 0; i < ROWS; i++) {
        add_up(p, i, sum + i * COLUMNS);
        if (p->special) add_up_special(p, i, sum + i * COLUMNS);
    }
    for (uint32_t n = 0; n < ROWS * COLUMNS; n++)
        d[n] = half_d && half_c ? round_to_half(sum[n]) : cut_to_float(sum[n], MIN(p->kept, 23));
    for (uint32_t n = 0; half_d && !half_c && n < ROWS * COLUMNS; n++)
        d[n] = half_of_float(f32_of_bits(d[n]));
}

INLINE uint32_t added(bool half, uint32_t a, uint32_t b)
{
    if (half) return half_of_float(float_of_half((uint16_t)a) + float_of_half((uint16_t)b));
    return bits_of_f32(canonical_f32(f32_of_bits(a) + f32_of_bits(b)));
}

INLINE void floats(const Mma *m, Format of_a, Format of_b)
{
    const bool half_c = m->how & MMA_HALF_C, half_d = m->how & MMA_HALF_D;
    uint32_t c[ROWS * COLUMNS], sums[ROWS * COLUMNS] = {0};
    Product p;
    read_sums(m->c, half_c, ROWS, c);
    if (of_a.bits == 8 && !(m->how & MMA_GROUP)) {
        for (uint32_t first = 0; first <= 2; first += 2) {
            prepare(&p, m, of_a, of_b, first);
            finish(&p, half_d, half_d, sums, sums);
        }
        for (uint32_t n = 0; n < ROWS * COLUMNS; n++) sums[n] = added(half_d, sums[n], c[n]);
    } else {
        const bool widened = half_c && !half_d;
        for (uint32_t n = 0; widened && n < ROWS * COLUMNS; n++)
            c[n] = bits_of_f32(float_of_half((uint16_t)c[n]));
        prepare(&p, m, of_a, of_b, 0);
        finish(&p, half_c && half_d, half_d, c, sums);
    }
    write_sums(m->d, half_d, ROWS, sums);
}

#define FLOATS(name, a, b)                                                                         \
    NEWER_TOO static void name(const Mma *m) { floats(m, formats[a], formats[b]); }
FLOATS(halves, MMA_F16, MMA_F16)
FLOATS(bfloats, MMA_BF16, MMA_BF16)
FLOATS(tf32s, MMA_TF32, MMA_TF32)

/* Of 8 bits, one function for all: each would take a second to compile. */
NEWER_TOO static void eights(const Mma *m, uint32_t type_a, uint32_t type_b)
{
    Format a = formats[type_a], b = formats[type_b];
    a.bits = b.bits = 8;
    floats(m, a, b);
}

/* ---- of whole matrices ---- */

enum { STEP = 16, STEPS = 32 /* as often a takes a step at once */ };

typedef struct {
    double value[ROWS * STEP];
    int32_t exponent[ROWS * STEP];
    bool special;
} Rows;

/* A step of lines of k elements; `across`: the first of all lines come first. */
INLINE void read_step(const uint16_t *from, size_t k, uint32_t lines, bool across, uint32_t *raw)
{
    for (uint32_t line = 0; line < lines; line++)
        for (uint32_t n = 0; n < STEP; n++)
            raw[across ? n * lines + line : line * STEP + n] = from[line * k + n];
}

INLINE void chain(Product *p, Format f, size_t steps, const Rows *rows, const uint16_t *b, size_t k,
                  uint32_t *sums)
{
    uint32_t raw[STEP * COLUMNS];
    for (size_t step = 0; step < steps; step++) {
        read_step(b + step * STEP, k, COLUMNS, true, raw);
        p->special = decode(f, STEP * COLUMNS, raw, p->b.value, p->b.exponent);
        p->special |= rows[step].special;
        memcpy(p->a.value, rows[step].value, sizeof rows->value);
        memcpy(p->a.exponent, rows[step].exponent, sizeof rows->exponent);
        finish(p, false, false, sums, sums);
    }
}

/* 16 rows of c, by some steps; m: from column to column. */
INLINE void panel(Product *p, Format f, size_t steps, size_t m, size_t n, size_t k,
                  const uint16_t *a, const uint16_t *b, float *c)
{
    uint32_t raw[ROWS * STEP], sums[ROWS * COLUMNS];
    Rows rows[STEPS];
    for (size_t step = 0; step < steps; step++) {
        Rows *of = rows + step;
        read_step(a + step * STEP, k, ROWS, false, raw);
        of->special = decode(f, ROWS * STEP, raw, of->value, of->exponent);
    }
    for (size_t j = 0; j < n; j += COLUMNS) {
        float *to = c + j * m;
        for (uint32_t i = 0; i < ROWS * COLUMNS; i++)
            sums[i] = bits_of_f32(to[i % COLUMNS * m + i / COLUMNS]);
        chain(p, f, steps, rows, b + j * k, k, sums);
        for (uint32_t i = 0; i < ROWS * COLUMNS; i++)
            to[i % COLUMNS * m + i / COLUMNS] = f32_of_bits(sums[i]);
    }
}

INLINE void product(Format f, size_t m, size_t n, size_t k, const uint16_t *a, const uint16_t *b,
                    float *c)
{
    Product p = {.depth = STEP, .kept = KEPT};
    for (uint32_t i = 0; i < ROWS; i++)
        for (uint32_t at = 0; at < STEP; at++) p.at[i][at] = (uint8_t)at;
    for (size_t i = 0; i < m; i += ROWS)
        for (size_t at = 0; at < k; at += STEPS * STEP)
            panel(&p, f, MIN(k - at, STEPS * STEP) / STEP, m, n, k, a + i * k + at, b + at, c + i);
}

void sg_product(uint32_t type, size_t m, size_t n, size_t k, const uint16_t *a, const uint16_t *b,
                float *c)
{
    if (type == MMA_F16) product(formats[MMA_F16], m, n, k, a, b, c);
    else product(formats[MMA_BF16], m, n, k, a, b, c);
}

/* ---- of integers, exactly ---- */

INLINE void whole_numbers(const uint32_t *raw, uint32_t count, uint32_t bits, bool is_signed,
                          int32_t *to)
{
    for (uint32_t n = 0; n < count; n++)
        to[n] = is_signed ? (int32_t)(raw[n] << (32 - bits)) >> (32 - bits) : (int32_t)raw[n];
}

INLINE int32_t saturated(int64_t x)
{ return (int32_t)(x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : x); }

INLINE void integers(const Mma *m, uint32_t rows, uint32_t bits)
{
    enum { MOST = 128 };
    const bool sparse = m->how & MMA_SPARSE;
    const uint32_t depth = m->k / (sparse ? 2 : 1);
    uint32_t raw[MOST * ROWS], c[ROWS * COLUMNS];
    int32_t a[MOST * ROWS], b[MOST * COLUMNS];
    read_rows(m->a, bits, rows, depth, all_of(bits), raw);
    whole_numbers(raw, rows * depth, bits, m->how & MMA_SIGNED_A, a);
    read_columns(m->b, bits, m->k, all_of(bits), raw);
    whole_numbers(raw, m->k * COLUMNS, bits, m->how & MMA_SIGNED_B, b);
    read_sums(m->c, false, rows, c);
    for (uint32_t i = 0; i < rows; i++) {
        int32_t sum[COLUMNS] = {0};
        for (uint32_t n = 0; n < depth; n++) {
            const int32_t *with = b + (sparse ? met(m, bits, i, n) : n) * COLUMNS;
            for (uint32_t j = 0; j < COLUMNS; j++) sum[j] += a[i * depth + n] * with[j];
        }
        for (uint32_t j = 0; j < COLUMNS; j++) {
            int64_t whole = (int64_t)sum[j] + (int32_t)c[i * COLUMNS + j];
            c[i * COLUMNS + j] =
                (uint32_t)(m->how & MMA_SATURATES ? saturated(whole) : (int32_t)whole);
        }
    }
    write_sums(m->d, false, rows, c);
}

NEWER_TOO static void bytes(const Mma *m, uint32_t rows) { integers(m, rows, 8); }
NEWER_TOO static void nibbles(const Mma *m, uint32_t rows) { integers(m, rows, 4); }

static void bits(const Mma *m, uint32_t rows)
{
    uint32_t c[ROWS * COLUMNS];
    read_sums(m->c, false, rows, c);
    for (uint32_t i = 0; i < rows; i++)
        for (uint32_t j = 0; j < COLUMNS; j++)
            for (uint32_t n = 0; n < m->k / 32; n++) {
                uint32_t a = m->a[n / 4 * (rows / 8) + i / 8][i % 8 * 4 + n % 4];
                uint32_t b = m->b[n / 4][j * 4 + n % 4];
                c[i * COLUMNS + j] +=
                    (uint32_t)__builtin_popcount(m->how & MMA_XOR ? a ^ b : a & b);
            }
    write_sums(m->d, false, rows, c);
}

void sg_mma(uint32_t type, uint32_t m, uint32_t k, uint32_t how, uint32_t selector,
            const uint32_t *a, const uint32_t *b, const uint32_t *c, const uint32_t *metadata,
            uint32_t *d)
{
    const Mma mma = {k,
                     how,
                     selector,
                     (const Register *)a,
                     (const Register *)b,
                     (const Register *)c,
                     (const Register *)metadata,
                     (Register *)d};
    switch ((enum MmaType)type) {
    case MMA_F16: halves(&mma); break;
    case MMA_BF16: bfloats(&mma); break;
    case MMA_TF32: tf32s(&mma); break;
    case MMA_E4M3: eights(&mma, type, how & MMA_OTHER_B ? MMA_E5M2 : MMA_E4M3); break;
    case MMA_E5M2: eights(&mma, type, how & MMA_OTHER_B ? MMA_E4M3 : MMA_E5M2); break;
    case MMA_BYTES: bytes(&mma, m); break;
    case MMA_NIBBLES: nibbles(&mma, m); break;
    default: bits(&mma, m);
    }
}

/* ---- of doubles: for each element a chain of fused multiply-adds ---- */

static void fma_rn(const double *a, const double *b, const double *c, double *out)
{ FOR_ALL(lane) out[lane] = fma(a[lane], b[lane], c[lane]); }

INLINE double quiet(double nan) { return f64_of_bits(bits_of_f64(nan) | 1ull << 51); }

/* Where several operands are NaN, b goes on rather than c, and c rather than a. */
static void multiply_add(uint32_t rounding, const double *a, const double *b, double *c)
{
    typedef void Fma(const double *, const double *, const double *, double *);
    static Fma *const ways[] = {fma_rn, sg_fma_rz_f64, sg_fma_rm_f64, sg_fma_rp_f64};
    double sum[LANES];
    ways[rounding](a, b, c, sum);
    FOR_ALL(lane)
    {
        double nan = b[lane] != b[lane] ? b[lane] : c[lane] != c[lane] ? c[lane] : a[lane];
        c[lane] = nan != nan ? quiet(nan) : made_f64(sum[lane], true);
    }
}

void sg_mma_f64(uint32_t m, uint32_t k, uint32_t rounding, const double *a, const double *b,
                const double *c, double *d)
{
    for (uint32_t part = 0; part < m / 4;
         part++) { /* register of c: rows by 8, odd columns apart */
        double sum[LANES], row[LANES], column[LANES];
        memcpy(sum, c + part * LANES, sizeof sum);
        for (uint32_t n = 0; n < k; n++) {
            const uint32_t at = n / 4 * LANES;
            FOR_ALL(lane)
            {
                row[lane] = a[at * (m / 8) + part / 2 * LANES + lane / 4 * 4 + n % 4];
                column[lane] = b[at + (lane % 4 * 2 + part % 2) * 4 + n % 4];
            }
            multiply_add(rounding, row, column, sum);
        }
        memcpy(d + part * LANES, sum, sizeof sum);
    }
}

/* ---- m8n8k4: each 4 lanes of the lower half of the warp, with 4 of the upper one, have a product
   of their own, which the machine makes without its tensor cores ---- */

/* Element (i, k) of a, for which b has columns and rows; in a register, elements of one row follow
   each other, or (`turned`) of one column. */
INLINE float quad_element(const Register *a, bool turned, uint32_t quad, uint32_t i, uint32_t k)
{
    uint32_t at = turned ? i % 4 : k, lane = quad * 4 + i / 4 * 16 + (turned ? k : i % 4);
    return float_of_half((uint16_t)(a[at / 2][lane] >> at % 2 * 16));
}

void sg_mma_quads(uint32_t layouts, uint32_t how, const uint32_t *a, const uint32_t *b,
                  const uint32_t *c, uint32_t *d)
{
    const bool half_c = how & MMA_HALF_C, half_d = how & MMA_HALF_D;
    memset(d, 0, (half_d ? 4 : 8) * sizeof(Register));
    for (uint32_t n = 0; n < 256; n++) {
        const uint32_t quad = n / 64, i = n / 8 % 8, j = n % 8, upper = quad * 4 + i / 4 * 16;
        const uint32_t lane = upper + (i % 2) + (j & 2), reg = (i & 2) | (j & 4) | (j & 1);
        const uint32_t half_lane = upper + i % 4, high = j % 2 * 16;
        float x[4], y[4];
        for (uint32_t k = 0; k < 4; k++) {
            x[k] = quad_element((const Register *)a, layouts & 1, quad, i, k);
            y[k] = quad_element((const Register *)b, layouts & 2, quad, j, k);
        }
        float sum = half_c ? float_of_half((uint16_t)(c[j / 2 * LANES + half_lane] >> high))
                           : f32_of_bits(c[reg * LANES + lane]);
        float first = fmaf(x[1], y[1], half_d ? x[0] * y[0] : x[0] * y[0] + 0.0f);
        if (half_d) sum = sum + first + fmaf(x[3], y[3], x[2] * y[2]);
        else sum += fmaf(x[3], y[3], fmaf(x[2], y[2], first));
        if (half_d) d[j / 2 * LANES + half_lane] |= (uint32_t)half_of_float(sum) << high;
        else d[reg * LANES + lane] = bits_of_f32(canonical_f32(sum));
    }
}

void sg_transpose(const uint32_t *a, uint32_t *d)
{
    for (uint32_t lane = 0; lane < LANES; lane++) {
        uint32_t row = lane / 4, column = lane % 4 * 2;
        uint32_t low = a[column * 4 + row / 2] >> row % 2 * 16 & 0xffff;
        d[lane] = low | a[(column + 1) * 4 + row / 2] >> row % 2 * 16 << 16;
    }
}
