"""Floats in registers and in arithmetic: widening, rounding, flushing subnormals."""

from __future__ import annotations

import struct

from ..analysis.nans import FORMATS
from ..facts.processor import NEGATIVE_NAN
from .values import BITS, Value, ValueEmitter

__all__ = [
    "canonical",
    "clamped",
    "finite",
    "float_of",
    "flush_half",
    "flushed",
    "is_nan",
    "is_subnormal",
    "made",
    "narrowed",
    "quiet",
    "relu",
    "saturate",
    "widened",
]


def canonical(e: ValueEmitter, value: Value, kind: str) -> Value:
    """Return the value with every NaN replaced by the canonical one."""
    bits = e.integer(value)
    if kind.endswith("x2"):
        return e.join(*(canonical(e, half, kind[:-2]) for half in e.halves(bits)))
    infinity, nan, width = FORMATS[kind]
    # compare as integers: to LLVM all NaNs of a float comparison are equivalent
    size = e.op("and", bits, nan)
    is_nan = e.compare("icmp sgt", size, infinity)
    return e.bitcast(e.select(is_nan, nan, bits), value.element)


def made(e: ValueEmitter, result: Value, *factors: Value, summand: Value | None = None) -> Value:
    """Return the result of an operation; on doubles, with the hardware's NaN."""
    if NEGATIVE_NAN or result.element != "double":
        return result
    bits = e.bitcast(result, "i64")
    new = e.compare("icmp eq", bits, 0x7FF8 << 48)  # compare as integers, as in canonical
    for factor in factors:
        new = e.op("and", new, e.compare("fcmp ord", factor, factor))
    nan = e.constant(0xFFF8 << 48, "i64")
    if summand:  # a NaN summand is propagated, even if the product is infinity times zero
        nan = e.select(is_nan(e, summand), quiet(e, summand), nan)
    return e.bitcast(e.select(new, nan, bits), "double")


def is_subnormal(e: ValueEmitter, value: Value) -> Value:
    """Whether a float is subnormal or zero."""
    exponent = e.op("and", e.bitcast(value, "i32"), 0x7F800000)
    return e.compare("icmp eq", exponent, 0)


def flush_float(e: ValueEmitter, value: Value) -> Value:
    """Flush subnormal floats to zeros of the same sign."""
    bits = e.bitcast(value, "i32")
    sign = e.op("and", bits, 0x80000000)
    return e.bitcast(e.select(is_subnormal(e, value), sign, bits), "float")


def flush_half(e: ValueEmitter, bits: Value) -> Value:
    exponent = e.op("and", bits, 0x7C00)
    subnormal = e.compare("icmp eq", exponent, 0)
    return e.select(subnormal, e.op("and", bits, 0x8000), bits)


def widened(e: ValueEmitter, value: Value, kind: str, flush: bool = False) -> Value:
    """Widen a value of a PTX float type to a float or double that can be computed with."""
    if kind == "f64":
        return value
    if kind == "f16":
        value = flush_half(e, value) if flush else value
        return e.convert("fpext", e.bitcast(value, "half"), "float")
    if kind == "bf16":
        wide = e.op("shl", e.resize(value, "i32"), 16)
        return e.bitcast(wide, "float")
    return flush_float(e, value) if flush else value


def _to_bfloat(e: ValueEmitter, value: Value) -> Value:
    bits = e.bitcast(value, "i32")
    odd = e.op("and", e.op("lshr", bits, 16), 1)
    rounded = e.op("add", bits, e.op("add", odd, 0x7FFF))
    high = e.resize(e.op("lshr", rounded, 16), "i16")
    nan = e.compare("fcmp uno", value, value)
    return e.select(nan, 0x7FFF, high)


def narrowed(e: ValueEmitter, value: Value, kind: str, flush: bool = False) -> Value:
    """Round a computed float or double to a PTX float type."""
    if kind == "f16":
        half = e.bitcast(e.convert("fptrunc", value, "half"), "i16")
        return flush_half(e, half) if flush else half
    if kind == "bf16":
        return _to_bfloat(e, value)
    return flush_float(e, value) if flush and kind == "f32" else value


def float_of(e: ValueEmitter, value: float, like: Value) -> Value:
    if like.element == "double":
        bits = e.constant(int.from_bytes(struct.pack("<d", value), "little"), "i64")
    else:
        bits = e.constant(int.from_bytes(struct.pack("<f", value), "little"), "i32")
    return e.bitcast(bits, like.element)


def clamped(e: ValueEmitter, value: Value, element: str, signed: bool) -> Value:
    """Return a float cut to an integer and clamped; NaN becomes 0. LLVM's own fptosi.sat does
    this lane by lane."""
    bits = BITS[element] - 1 if signed else BITS[element]
    least, most = -(1 << bits) if signed else 0, (1 << bits) - 1
    low, high = float_of(e, float(least), value), float_of(e, float(most + 1), value)
    above, below = e.compare("fcmp oge", value, high), e.compare("fcmp olt", value, low)
    outside = e.op("or", e.op("or", above, below), e.compare("fcmp uno", value, value))
    inside = e.select(outside, float_of(e, 0.0, value), value)
    result = e.convert("fptosi" if signed else "fptoui", inside, element)
    return e.select(below, least, e.select(above, most, result))


def saturate(e: ValueEmitter, value: Value) -> Value:
    """Clamp to [0, 1]; NaN becomes 0."""
    zero, one = float_of(e, 0.0, value), float_of(e, 1.0, value)
    capped = e.select(e.compare("fcmp ogt", value, one), one, value)
    return e.select(e.compare("fcmp ogt", value, zero), capped, zero)


def relu(e: ValueEmitter, value: Value) -> Value:
    """Replace negative values by 0, and keep NaN."""
    zero = float_of(e, 0.0, value)
    return e.select(e.compare("fcmp ole", value, zero), zero, value)


def finite(e: ValueEmitter, value: Value, largest: float) -> Value:
    """Clamp the magnitude to the largest finite number of a type, and keep NaN."""
    limit = float_of(e, largest, value)
    too_large = e.compare("fcmp ogt", e.intrinsic("fabs", value), limit)
    return e.select(too_large, e.intrinsic("copysign", limit, value), value)


def flushed(e: ValueEmitter, value: Value, kind: str) -> Value:
    """Flush subnormals in a value of a PTX type."""
    if kind == "f32":
        return flush_float(e, value)
    if kind == "f16":
        return flush_half(e, value)
    return e.join(*(flush_half(e, half) for half in e.halves(value)))


def is_nan(e: ValueEmitter, value: Value) -> Value:
    return e.compare("fcmp uno", value, value)


def quiet(e: ValueEmitter, value: Value) -> Value:
    """Return the bits of a double NaN, made quiet."""
    return e.op("or", e.bitcast(value, "i64"), 1 << 51)
