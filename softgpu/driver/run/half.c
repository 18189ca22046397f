/* Half and bfloat16: rounding into them in every mode, and fma with one rounding.

   Terms: directed rounding, fused multiply-add (Goldberg 1991; docs/terms.md). */
#include <stdbool.h>

#include "half.h"

typedef enum { rn, rz, rm, rp } Mode;

/* The size of a number, in a format with so many exponent and mantissa bits and no largest one. */
INLINE uint32_t rounded_size(double value, int exponent_bits, int mantissa_bits, Mode mode)
{
    uint64_t bits = bits_of_f64(value), size = bits & INT64_MAX;
    int exponent = (int)(size >> 52) - 1023, bias = (1 << (exponent_bits - 1)) - 1;
    bool normal = exponent >= 1 - bias;
    uint64_t significand = size << 12 >> 12 | (size >> 52 ? 1ull << 52 : 0);
    int drop = 52 - mantissa_bits + (normal ? 0 : 1 - bias - exponent);
    if (drop > 62) drop = 62; /* all of it, what was there still counts as inexact */
    uint64_t kept = significand >> drop, rest = significand - (kept << drop);
    uint64_t half = 1ull << (drop - 1);
    bool up = mode == rn ? rest > half || (rest == half && (kept & 1))
                         : rest && mode == (bits >> 63 ? rm : rp);
    kept += up;
    if (normal) kept += (uint64_t)(exponent + bias - 1) << mantissa_bits;
    return (uint32_t)kept;
}

/* A double rounded to a format of 16 bits. The NaN of a double keeps its sign and the upper bits of
   its payload, a float's does not. */
INLINE uint16_t narrow(double value, int exponent_bits, int mantissa_bits, Mode mode, bool keep_nan)
{
    uint64_t bits = bits_of_f64(value), size = bits & INT64_MAX;
    uint32_t sign = (uint32_t)(bits >> 63), infinity = ((1u << exponent_bits) - 1) << mantissa_bits;
    if (size > 0x7ffull << 52) {
        uint32_t payload = (uint32_t)(size << 12 >> (64 - mantissa_bits));
        uint32_t quiet = 1u << (mantissa_bits - 1);
        return keep_nan ? (uint16_t)(sign << 15 | infinity | quiet | payload) : F16_NAN;
    }
    uint32_t kept = rounded_size(value, exponent_bits, mantissa_bits, mode);
    if (size < 0x7ffull << 52 && kept >= infinity) {
        bool to_infinity = mode == rn || mode == (sign ? rm : rp);
        kept = to_infinity ? infinity : infinity - 1;
    }
    return (uint16_t)(sign << 15 | (kept > infinity ? infinity : kept));
}

#define NARROW(mode, format, from, type, exponent_bits, mantissa_bits)                             \
    __attribute__((visibility("default"))) void sg_cvt_##mode##_##format##_##from(const type *a,   \
                                                                                  uint16_t *out)   \
    { FOR_ALL(i) out[i] = narrow(a[i], exponent_bits, mantissa_bits, mode, sizeof(type) == 8); }

NARROW(rz, f16, f32, float, 5, 10)
NARROW(rm, f16, f32, float, 5, 10)
NARROW(rp, f16, f32, float, 5, 10)
NARROW(rz, bf16, f32, float, 8, 7)
NARROW(rm, bf16, f32, float, 8, 7)
NARROW(rp, bf16, f32, float, 8, 7)
NARROW(rn, f16, f64, double, 5, 10)
NARROW(rz, f16, f64, double, 5, 10)
NARROW(rm, f16, f64, double, 5, 10)
NARROW(rp, f16, f64, double, 5, 10)
NARROW(rn, bf16, f64, double, 8, 7)
NARROW(rz, bf16, f64, double, 8, 7)
NARROW(rm, bf16, f64, double, 8, 7)
NARROW(rp, bf16, f64, double, 8, 7)

/* The formats of 8 bits: to nearest, at most the largest number. */
#define NARROW_TO_8(format, exponent_bits, mantissa_bits, largest)                                 \
    __attribute__((visibility("default"))) void sg_cvt_##format##_f32(const float *a,              \
                                                                      uint8_t *out)                \
    {                                                                                              \
        FOR_ALL(i)                                                                                 \
        {                                                                                          \
            uint32_t size = rounded_size(a[i], exponent_bits, mantissa_bits, rn);                  \
            uint32_t sign = bits_of_f32(a[i]) >> 31 << 7;                                          \
            out[i] = (uint8_t)(a[i] != a[i] ? 0x7f : sign | (size < largest ? size : largest));    \
        }                                                                                          \
    }

NARROW_TO_8(e4m3, 4, 3, 0x7e)
NARROW_TO_8(e5m2, 5, 2, 0x7b)

/* ---- fma ---- */

/* a*b+c rounded to odd: a result that is rounded again, to fewer bits, comes out as if it had
   been rounded once. a*b must be exact in the type. */
INLINE float fma_to_odd_f32(float a, float b, float c)
{
    float product = a * b, sum = product + c;
    float part = sum - product, error = (product - (sum - part)) + (c - part);
    uint32_t bits = bits_of_f32(sum);
    uint32_t toward = (error > 0) == (sum > 0) ? 1u : UINT32_MAX;
    bool adjust = error != 0 && error == error && !(bits & 1);
    return f32_of_bits(adjust ? bits + toward : bits);
}

INLINE double fma_to_odd_f64(double a, double b, double c)
{
    double product = a * b, sum = product + c;
    double part = sum - product, error = (product - (sum - part)) + (c - part);
    uint64_t bits = bits_of_f64(sum);
    uint64_t toward = (error > 0) == (sum > 0) ? 1 : UINT64_MAX;
    bool adjust = error != 0 && error == error && !(bits & 1);
    return f64_of_bits(adjust ? bits + toward : bits);
}

INLINE float float_to_odd(double value)
{
    float nearest = (float)value;
    uint32_t bits = bits_of_f32(nearest);
    double size = __builtin_fabs(value), got = __builtin_fabs((double)nearest);
    uint32_t toward = size > got ? 1u : UINT32_MAX;
    return f32_of_bits(size != got && value == value && !(bits & 1) ? bits + toward : bits);
}

/* n is 32, or 64 for pairs. */
LANEWISE void sg_fma_f16(uint32_t n, const uint16_t *a, const uint16_t *b, const uint16_t *c,
                         uint16_t *restrict out)
{
    for (uint32_t i = 0; i < n; i++)
        out[i] = half_of_float(
            fma_to_odd_f32(float_of_half(a[i]), float_of_half(b[i]), float_of_half(c[i])));
}

LANEWISE void sg_fma_bf16(uint32_t n, const uint16_t *a, const uint16_t *b, const uint16_t *c,
                          uint16_t *restrict out)
{
    for (uint32_t i = 0; i < n; i++) {
        double sum =
            fma_to_odd_f64(float_of_bfloat(a[i]), float_of_bfloat(b[i]), float_of_bfloat(c[i]));
        out[i] = bfloat_of_float(float_to_odd(sum));
    }
}
