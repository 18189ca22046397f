/* How functions over lanes are written: plain loops that the compiler turns into vector code,
   compiled once for any processor of a kind and, by gcc, once more for newer ones. */
#ifndef SOFTGPU_LANES_H
#define SOFTGPU_LANES_H

#include <stdint.h>
#include <string.h>

#include "processor/processor.h"
#include "runtime.h"

#define LANEWISE __attribute__((visibility("default"))) NEWER_IF_EXPORTED
#define FOR_ALL(i) for (uint32_t i = 0; i < LANES; i++)

#define F32_NAN 0x7fffffffu /* the NaN that float instructions return */
#define F16_NAN 0x7fffu     /* half and bfloat16 */

INLINE uint32_t bits_of_f32(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, 4);
    return bits;
}

INLINE float f32_of_bits(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, 4);
    return x;
}

INLINE uint64_t bits_of_f64(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, 8);
    return bits;
}

INLINE double f64_of_bits(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, 8);
    return x;
}

/* Subnormals become zeros of their sign. */
INLINE float flush_f32(float x)
{
    uint32_t bits = bits_of_f32(x);
    return f32_of_bits(bits & 0x7f800000 ? bits : bits & 0x80000000);
}

/* Fused multiply-adds of doubles (lanes.c), by their rounding. */
#define FMA_F64(mode)                                                                              \
    void sg_fma_##mode##_f64(const double *, const double *, const double *, double *)
FMA_F64(rz);
FMA_F64(rm);
FMA_F64(rp);

INLINE float canonical_f32(float x) { return x == x ? x : f32_of_bits(F32_NAN); }

#endif
