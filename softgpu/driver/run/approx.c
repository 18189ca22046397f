/* The approximate functions. Computed in double with short series, they come out closer than the
   PTX ISA promises; special values are exactly as documented.

   Terms: range reduction, power series (Muller, chapters 3 and 11; docs/terms.md). */
#include <math.h>
#include <stdbool.h>

#include "half.h"

#define ROUNDER 0x1.8p52 /* added and taken away again, rounds a double to an integer */

/* 2^x: 2^n times a series for 2^f, |f| <= 1/2; its error is below 2^-31. */
INLINE double exp2_series(double x)
{
    double limited = x < -160 ? -160 : x > 140 ? 140 : x;
    double shifted = limited + ROUNDER, n = shifted - ROUNDER, f = (limited - n) * M_LN2;
    double series =
        1 + f * (1 + f * (1 / 2. +
                          f * (1 / 6. + f * (1 / 24. +
                                             f * (1 / 120. +
                                                  f * (1 / 720. + f * (1 / 5040. + f / 40320)))))));
    double scale = f64_of_bits((bits_of_f64(shifted) + 1023) << 52);
    return series * scale;
}

INLINE float exp2_lane(float x) { return x == x ? (float)exp2_series(x) : f32_of_bits(F32_NAN); }

/* log2(2^e m) with m between sqrt(1/2) and sqrt(2): e + 2/ln2 atanh((m-1)/(m+1)). */
INLINE float log2_lane(float x)
{
    const uint64_t root = 0x3fe6a09e667f3bcd, one = 0x3ff0000000000000, magic = 0x4330000000000000;
    uint64_t bits = bits_of_f64(x) - root + one;
    double e = f64_of_bits(bits >> 52 | magic) - (0x1p52 + 1023);
    double m = f64_of_bits((bits & 0xfffffffffffff) + root);
    double s = (m - 1) / (m + 1), t = s * s;
    double series = s * (1 + t * (1 / 3. + t * (1 / 5. + t * (1 / 7. + t * (1 / 9. + t / 11)))));
    float result = (float)(e + 2 / M_LN2 * series);
    result = x == INFINITY ? x : x == 0 ? -INFINITY : result;
    return x >= 0 ? result : f32_of_bits(F32_NAN);
}

/* Sine of x + quarter * pi/2, for |x| below a million. */
INLINE float sine_lane(float x, uint64_t quarter)
{
    double shifted = x * (2 / M_PI) + ROUNDER, n = shifted - ROUNDER;
    /* pi/2 in two parts, so that n times the first is exact */
    double r = (x - n * 0x1.921fb544p0) - n * 0x1.0b4611a626331p-34, t = r * r;
    uint64_t turn = bits_of_f64(shifted) + quarter;
    double sine =
        r *
        (1 + t * (-1 / 6. + t * (1 / 120. + t * (-1 / 5040. + t * (1 / 362880. + t / -39916800)))));
    double cosine =
        1 + t * (-1 / 2. +
                 t * (1 / 24. +
                      t * (-1 / 720. + t * (1 / 40320. + t * (-1 / 3628800. + t / 479001600)))));
    float result = (float)(turn & 1 ? cosine : sine);
    return turn & 2 ? -result : result;
}

INLINE float tanh_lane(float x)
{
    double size = fabs((double)x), e = exp2_series(size * (2 / M_LN2)), t = size * size;
    double result = size < 0x1p-6 ? size * (1 + t * (-1 / 3. + t * (2 / 15.)))
                    : size > 20   ? 1
                                  : 1 - 2 / (e + 1);
    return x == x ? copysignf((float)result, x) : f32_of_bits(F32_NAN);
}

#define SIN_LANE(x) sine_lane(x, 0)
#define COS_LANE(x) sine_lane(x, 1)
#define IDENTITY(x) (x)

#define APPROXIMATION(name, in, compute, result)                                                   \
    LANEWISE void name(const float *a, float *out)                                                 \
    { FOR_ALL(i) out[i] = result(compute(in(a[i]))); }
#define BOTH(name, compute)                                                                        \
    APPROXIMATION(sg_##name##_approx_f32, IDENTITY, compute, IDENTITY)                             \
    APPROXIMATION(sg_##name##_approx_ftz_f32, flush_f32, compute, flush_f32)

BOTH(ex2, exp2_lane)
BOTH(lg2, log2_lane)
BOTH(tanh, tanh_lane)

/* Beyond a million no precision is promised; the C library's is as good as any. The hardware turns
   the angle into full turns first, and from 2^24 of those on a float has no fraction left. */
INLINE void far_lanes(const float *a, float *out, double (*function)(double))
{
    bool far = false;
    FOR_ALL(i) far |= !(fabsf(a[i]) < 1e6f);
    if (!far) return;
    FOR_ALL(i)
    if (!(fabsf(a[i]) < 1e6f)) {
        bool fraction = fabsf(a[i]) < (float)(0x1p25 * M_PI) || !isfinite(a[i]);
        out[i] = canonical_f32((float)function(fraction ? a[i] : 0));
    }
}

#define PERIODIC(name, compute, function, in)                                                      \
    LANEWISE void name(const float *a, float *restrict out)                                        \
    {                                                                                              \
        FOR_ALL(i) out[i] = in(compute(in(a[i])));                                                 \
        far_lanes(a, out, function);                                                               \
    }

PERIODIC(sg_sin_approx_f32, SIN_LANE, sin, IDENTITY)
PERIODIC(sg_cos_approx_f32, COS_LANE, cos, IDENTITY)
PERIODIC(sg_sin_approx_ftz_f32, SIN_LANE, sin, flush_f32)
PERIODIC(sg_cos_approx_ftz_f32, COS_LANE, cos, flush_f32)

/* ---- half and bfloat16: n is 32, or 64 for pairs ---- */

#define SHORT(name, wide, compute, result, narrow)                                                 \
    LANEWISE void name(uint32_t n, const uint16_t *a, uint16_t *restrict out)                      \
    {                                                                                              \
        for (uint32_t i = 0; i < n; i++) out[i] = narrow(result(compute(wide(a[i]))));             \
    }

SHORT(sg_ex2_approx_f16, float_of_half, exp2_lane, IDENTITY, half_of_float)
SHORT(sg_tanh_approx_f16, float_of_half, tanh_lane, IDENTITY, half_of_float)
SHORT(sg_ex2_approx_bf16, float_of_bfloat, exp2_lane, flush_f32, bfloat_of_float)
SHORT(sg_tanh_approx_bf16, float_of_bfloat, tanh_lane, IDENTITY, bfloat_of_float)

/* ---- double: only the upper halves of argument and result count ---- */

INLINE double upper(double x) { return f64_of_bits(bits_of_f64(x) & 0xffffffff00000000); }

INLINE double upper_rounded(double x)
{
    if (x != x) return f64_of_bits(0x7fffffff00000000);
    return x - x == 0 ? upper(f64_of_bits(bits_of_f64(x) + 0x80000000)) : x;
}

INLINE double flush_f64(double x) { return fabs(x) < 0x1p-1022 ? copysign(0, x) : x; }

LANEWISE void sg_rcp_approx_ftz_f64(const double *a, double *out)
{
    FOR_ALL(i)
    {
        double x = a[i] == a[i] ? flush_f64(upper(a[i])) : a[i];
        out[i] = upper_rounded(flush_f64(1 / x));
    }
}

LANEWISE void sg_rsqrt_approx_ftz_f64(const double *a, double *out)
{
    FOR_ALL(i)
    {
        double x = a[i] == a[i] ? flush_f64(upper(a[i])) : a[i];
        out[i] = upper_rounded(x == 0 ? copysign(INFINITY, x) : 1 / sqrt(x));
    }
}
