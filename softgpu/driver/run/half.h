/* Half and bfloat16 to and from float, to nearest, in a form that becomes vector code. */
#ifndef SOFTGPU_HALF_H
#define SOFTGPU_HALF_H

#include "lanes.h"

INLINE float float_of_half(uint16_t half)
{
    uint32_t bits = (uint32_t)(half & 0x7fff) << 13, exponent = bits & 0x0f800000;
    uint32_t normal = bits + (112u << 23), special = bits + (224u << 23);
    float subnormal = f32_of_bits(bits + (113u << 23)) - f32_of_bits(113u << 23);
    uint32_t size = exponent == 0x0f800000 ? special : exponent ? normal : bits_of_f32(subnormal);
    return f32_of_bits(size | (uint32_t)(half & 0x8000) << 16);
}

INLINE uint16_t half_of_float(float value)
{
    uint32_t bits = bits_of_f32(value), sign = bits >> 16 & 0x8000, size = bits & 0x7fffffff;
    uint32_t subnormal = bits_of_f32(f32_of_bits(size) + 0.5f) - 0x3f000000;
    uint32_t normal = (size - (112u << 23) + 0xfff + (size >> 13 & 1)) >> 13;
    uint32_t result = size < 113u << 23 ? subnormal : size >= 143u << 23 ? 0x7c00 : normal;
    return (uint16_t)(size > 0x7f800000 ? F16_NAN : sign | result);
}

INLINE float float_of_bfloat(uint16_t value) { return f32_of_bits((uint32_t)value << 16); }

INLINE uint16_t bfloat_of_float(float value)
{
    uint32_t bits = bits_of_f32(value);
    uint32_t result = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    return (uint16_t)(value == value ? result : F16_NAN);
}

#endif
