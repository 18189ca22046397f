/* Arithmetic over lanes that compiled kernels leave to C: 64-bit division and rounding other
   than to nearest. All 32 lanes are computed, active or not. */
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "lanes.h"

/* ---- registers ---- */

void sg_gather(void *row, uint32_t bytes, uint32_t count, ...)
{
    va_list registers;
    va_start(registers, count);
    for (uint32_t i = 0; i < count; i++)
        memcpy((char *)row + i * LANES * bytes, va_arg(registers, const void *), LANES * bytes);
    va_end(registers);
}

void sg_scatter(const void *row, uint32_t bytes, uint32_t mask, uint32_t count, ...)
{
    va_list registers;
    va_start(registers, count);
    for (uint32_t i = 0; i < count; i++) {
        const char *from = (const char *)row + i * LANES * bytes;
        char *to = va_arg(registers, void *);
        if (mask == UINT32_MAX) memcpy(to, from, LANES * bytes);
        else
            for (uint32_t lane = 0; lane < LANES; lane++)
                if (mask >> lane & 1) memcpy(to + lane * bytes, from + lane * bytes, bytes);
    }
    va_end(registers);
}

void sg_shorten(Warp *w, const uint32_t *lengths) { w->lengths = lengths; }

void sg_cut(Warp *w, uint32_t bytes, void *lanes)
{
    for (uint32_t lane = 0; lane < LANES; lane++) {
        uint32_t length = w->lengths[lane] < bytes ? w->lengths[lane] : bytes;
        memset((char *)lanes + lane * bytes + length, 0, bytes - length);
    }
    w->lengths = NULL;
}

/* ---- division: by zero, quotient and remainder have all bits set, as on the hardware ---- */

INLINE int64_t div_s64(int64_t a, int64_t b)
{ return b == 0 ? -1 : b == -1 ? (int64_t)(0 - (uint64_t)a) : a / b; }

INLINE int64_t rem_s64(int64_t a, int64_t b) { return b == 0 ? -1 : b == -1 ? 0 : a % b; }

INLINE uint64_t div_u64(uint64_t a, uint64_t b) { return b == 0 ? UINT64_MAX : a / b; }

INLINE uint64_t rem_u64(uint64_t a, uint64_t b) { return b == 0 ? UINT64_MAX : a % b; }

#define BINARY(name, type, function)                                                               \
    LANEWISE void name(const type *a, const type *b, type *out)                                    \
    { FOR_ALL(i) out[i] = function(a[i], b[i]); }

BINARY(sg_div_s64, int64_t, div_s64)
BINARY(sg_rem_s64, int64_t, rem_s64)
BINARY(sg_div_u64, uint64_t, div_u64)
BINARY(sg_rem_u64, uint64_t, rem_u64)

/* fns: the position of the n-th set bit of mask, counted from base up or down. */
INLINE uint32_t find_nth_set(uint32_t mask, uint32_t base, int32_t offset)
{
    if (offset == 0) return base < 32 && mask >> base & 1 ? base : UINT32_MAX;
    int64_t left = offset > 0 ? offset : -(int64_t)offset;
    for (int64_t position = base; position >= 0 && position < 32; position += offset > 0 ? 1 : -1)
        if ((mask >> position & 1) && --left == 0) return (uint32_t)position;
    return UINT32_MAX;
}

__attribute__((visibility("default"))) void sg_fns(const uint32_t *mask, const uint32_t *base,
                                                   const int32_t *offset, uint32_t *out)
{ FOR_ALL(i) out[i] = find_nth_set(mask[i], base[i], offset[i]); }

/* ---- directed rounding: the processor's rounding mode is changed around the loop ---- */

#if defined(__clang__) /* gcc needs no telling, and does not know the pragma */
#pragma STDC FENV_ACCESS ON
#endif

enum { rm = ROUND_DOWN, rp = ROUND_UP, rz = ROUND_TO_ZERO };
INLINE FloatMode set_rounding(FloatMode mode)
{
    FloatMode before = float_mode();
    set_float_mode((before & ~(FloatMode)ROUND_TO_ZERO) | mode);
    __asm__ volatile("" ::: "memory");
    return before;
}
INLINE void restore_rounding(FloatMode before)
{
    __asm__ volatile("" ::: "memory");
    set_float_mode(before);
}

#define ROUNDED(name, mode, parameters, to, result)                                                \
    LANEWISE void name##_##mode##_##to parameters                                                  \
    {                                                                                              \
        FloatMode before = set_rounding(mode);                                                     \
        FOR_ALL(i) out[i] = result;                                                                \
        restore_rounding(before);                                                                  \
    }
#define ALL_MODES(name, parameters, to, result)                                                    \
    ROUNDED(name, rz, parameters, to, result)                                                      \
    ROUNDED(name, rm, parameters, to, result)                                                      \
    ROUNDED(name, rp, parameters, to, result)

#define NUMBER(a) (a[i] == a[i])
#define UNARY_MODES(name, type, to, made, expression)                                              \
    ALL_MODES(name, (const type *a, type *out), to, made(expression, NUMBER(a)))
#define BINARY_MODES(name, type, to, made, expression)                                             \
    ALL_MODES(name, (const type *a, const type *b, type *out), to,                                 \
              made(expression, NUMBER(a) & NUMBER(b)))

#define ARITHMETIC(type, to, made, root, multiply_add)                                             \
    BINARY_MODES(sg_add, type, to, made, a[i] + b[i])                                              \
    BINARY_MODES(sg_sub, type, to, made, a[i] - b[i])                                              \
    BINARY_MODES(sg_mul, type, to, made, a[i] * b[i])                                              \
    BINARY_MODES(sg_div, type, to, made, a[i] / b[i])                                              \
    ALL_MODES(sg_fma, (const type *a, const type *b, const type *c, type *out), to,                \
              made##_of_sum(multiply_add(a[i], b[i], c[i]), NUMBER(a) & NUMBER(b), c[i]))          \
    UNARY_MODES(sg_sqrt, type, to, made, root(a[i]))                                               \
    UNARY_MODES(sg_rcp, type, to, made, 1 / a[i])

#define made_f32(x, numbers) canonical_f32(x)
#define made_f32_of_sum(x, numbers, summand) canonical_f32(x)
ARITHMETIC(float, f32, made_f32, sqrtf, fmaf)
ARITHMETIC(double, f64, made_f64, sqrt, fma)

#define CONVERSION(type, from, to, suffix)                                                         \
    ALL_MODES(sg_cvt, (const type *a, to *out), suffix##_##from, (to)a[i])

CONVERSION(double, f64, float, f32)
CONVERSION(int32_t, s32, float, f32)
CONVERSION(uint32_t, u32, float, f32)
CONVERSION(int64_t, s64, float, f32)
CONVERSION(uint64_t, u64, float, f32)
CONVERSION(int32_t, s32, double, f64)
CONVERSION(uint32_t, u32, double, f64)
CONVERSION(int64_t, s64, double, f64)
CONVERSION(uint64_t, u64, double, f64)
