/* Arithmetic over lanes that compiled kernels leave to C: 64-bit division and rounding other
   than to nearest. All 32 lanes are computed, active or not. */
#include <fenv.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

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

#if defined(__x86_64__)
enum { rm = 0x2000, rp = 0x4000, rz = 0x6000 };
INLINE unsigned set_rounding(unsigned mode)
{
    unsigned before = _mm_getcsr();
    _mm_setcsr((before & ~0x6000u) | mode);
    __asm__ volatile("" ::: "memory");
    return before;
}
INLINE void restore_rounding(unsigned before)
{
    __asm__ volatile("" ::: "memory");
    _mm_setcsr(before);
}
#else
enum { rm = FE_DOWNWARD, rp = FE_UPWARD, rz = FE_TOWARDZERO };
static unsigned set_rounding(unsigned mode)
{
    unsigned before = fegetround();
    fesetround(mode);
    __asm__ volatile("" ::: "memory");
    return before;
}
static void restore_rounding(unsigned before)
{
    __asm__ volatile("" ::: "memory");
    fesetround(before);
}
#endif

#define SAME(x) (x)
#define ROUNDED(name, mode, parameters, to, finish, expression)                                    \
    LANEWISE void name##_##mode##_##to parameters                                                  \
    {                                                                                              \
        unsigned before = set_rounding(mode);                                                      \
        FOR_ALL(i) out[i] = finish(expression);                                                    \
        restore_rounding(before);                                                                  \
    }
#define ALL_MODES(name, parameters, to, finish, expression)                                        \
    ROUNDED(name, rz, parameters, to, finish, expression)                                          \
    ROUNDED(name, rm, parameters, to, finish, expression)                                          \
    ROUNDED(name, rp, parameters, to, finish, expression)

#define ARITHMETIC(type, to, finish, root, multiply_add)                                           \
    ALL_MODES(sg_add, (const type *a, const type *b, type *out), to, finish, a[i] + b[i])          \
    ALL_MODES(sg_sub, (const type *a, const type *b, type *out), to, finish, a[i] - b[i])          \
    ALL_MODES(sg_mul, (const type *a, const type *b, type *out), to, finish, a[i] * b[i])          \
    ALL_MODES(sg_div, (const type *a, const type *b, type *out), to, finish, a[i] / b[i])          \
    ALL_MODES(sg_fma, (const type *a, const type *b, const type *c, type *out), to, finish,        \
              multiply_add(a[i], b[i], c[i]))                                                      \
    ALL_MODES(sg_sqrt, (const type *a, type *out), to, finish, root(a[i]))                         \
    ALL_MODES(sg_rcp, (const type *a, type *out), to, finish, 1 / a[i])

ARITHMETIC(float, f32, canonical_f32, sqrtf, fmaf)
ARITHMETIC(double, f64, SAME, sqrt, fma)

#define CONVERSION(type, from, to, suffix, finish)                                                 \
    ALL_MODES(sg_cvt, (const type *a, to *out), suffix##_##from, finish, (to)a[i])

CONVERSION(double, f64, float, f32, SAME)
CONVERSION(int32_t, s32, float, f32, SAME)
CONVERSION(uint32_t, u32, float, f32, SAME)
CONVERSION(int64_t, s64, float, f32, SAME)
CONVERSION(uint64_t, u64, float, f32, SAME)
CONVERSION(int32_t, s32, double, f64, SAME)
CONVERSION(uint32_t, u32, double, f64, SAME)
CONVERSION(int64_t, s64, double, f64, SAME)
CONVERSION(uint64_t, u64, double, f64, SAME)
