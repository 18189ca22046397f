"""Inputs full of edge values, the same on every machine and with every version of NumPy."""

from __future__ import annotations

import zlib

import numpy as np

from .rules import decode

__all__ = ["SIZES", "bits", "values"]

SIZES = {1: 128, 2: 512, 3: 256, 4: 256}  # values an operand, by the number of operands


def bits(name: str, count: int) -> np.ndarray:
    """`count` random 64-bit words that depend on the name alone (splitmix64)."""
    with np.errstate(over="ignore"):
        step = np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        z = step + np.uint64(zlib.crc32(name.encode())) * np.uint64(0xD1342543DE82EF95)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))


def _integer_edges(width: int) -> list[int]:
    top = 1 << (width - 1)
    pattern = 0x0123456789ABCDEF >> (64 - width)
    return [0, 1, 2, 2 * top - 1, top - 1, top, top + 1, 2 * top - 2,
            width - 1, width, width + 1, 7, pattern]  # fmt: skip


# sign, exponent and mantissa at their limits; 0x3555 is about 1/3
_FLOAT_EDGES = {
    "f16": [0, 0x8000, 0x3C00, 0xBC00, 0x7C00, 0xFC00, 0x7E00, 0x0001, 0x83FF, 0x0400, 0x7BFF,
            0x3C01, 0xC248, 0x3555, 0x7D01],
    "bf16": [0, 0x8000, 0x3F80, 0xBF80, 0x7F80, 0xFF80, 0x7FC0, 0x0001, 0x807F, 0x0080, 0x7F7F,
             0x3F81, 0xC049, 0x3EAB, 0x7F81],
    "f32": [0, 0x80000000, 0x3F800000, 0xBF800000, 0x7F800000, 0xFF800000, 0x7FC00000, 0x00000001,
            0x807FFFFF, 0x00800000, 0x7F7FFFFF, 0x3F800001, 0xC0490FDB, 0x3EAAAAAB, 0x7F800001],
    "f64": [0, 0x8000000000000000, 0x3FF0000000000000, 0xBFF0000000000000, 0x7FF0000000000000,
            0xFFF0000000000000, 0x7FF8000000000000, 0x0000000000000001, 0x800FFFFFFFFFFFFF,
            0x0010000000000000, 0x7FEFFFFFFFFFFFFF, 0x3FF0000000000001, 0xC00921FB54442D18,
            0x3FD5555555555555, 0x7FF0000000000001],
}  # fmt: skip
# quiet and signalling NaNs of both signs, with payloads, and a few numbers to meet them
_NAN_EDGES = {
    "f16": [0x7E00, 0xFE00, 0x7FFF, 0xFFFF, 0x7C01, 0xFC01, 0x7EAB, 0xFD5A,
            0x7C00, 0xFC00, 0, 0x8000, 0x3C00, 0xC248, 0x0001],
    "bf16": [0x7FC0, 0xFFC0, 0x7FFF, 0xFFFF, 0x7F81, 0xFF81, 0x7FEA, 0xFF9A,
             0x7F80, 0xFF80, 0, 0x8000, 0x3F80, 0xC049, 0x0001],
    "f32": [0x7FC00000, 0xFFC00000, 0x7FFFFFFF, 0xFFFFFFFF, 0x7F800001, 0xFF800001, 0x7FEABCDE,
            0xFFA54321, 0x7F800000, 0xFF800000, 0, 0x80000000, 0x3F800000, 0xC0490FDB, 0x00000001],
    "f64": [0x7FF8000000000000, 0xFFF8000000000000, 0x7FFFFFFFFFFFFFFF, 0xFFFFFFFFFFFFFFFF,
            0x7FF0000000000001, 0xFFF0000000000001, 0x7FFEABCDEF012345, 0xFFF5432112345678,
            0x7FF0000000000000, 0xFFF0000000000000, 0, 0x8000000000000000, 0x3FF0000000000000,
            0xC00921FB54442D18, 0x0000000000000001],
}  # fmt: skip
_MANTISSA = {"f16": 10, "bf16": 7, "f32": 23, "f64": 52}
_WIDTH = {"f16": 16, "bf16": 16, "f32": 32, "f64": 64, "8": 8, "16": 16, "32": 32, "64": 64}


# what an operand may mean: random numbers up to a size, where an operation is documented on a range
# only; "plain" numbers come without edge values
_RANGES = {
    "angle": 6.28,
    "turns": 314.0,
    "exponent": 150.0,
    "unit": 1.0,
    "ten": 10.0,
    "plain": 10.0,
}


def _infinite(base: str, word: int) -> bool:
    return int(word) & ~(1 << (_WIDTH[base] - 1)) == _FLOAT_EDGES[base][4]


def _edges(base: str, kind: str) -> list[int]:
    if kind == "shift":
        return [0, 1, 7, 8, 15, 16, 31, 32, 33, 63, 64, 65, 255, 256, 0xFFFFFFFF]
    if kind in _RANGES:
        words = np.array(_FLOAT_EDGES[base], np.uint64)
        inside = ~(np.abs(decode(base, words.astype(f"u{_WIDTH[base] // 8}"))) > _RANGES[kind])
        return [int(word) for word, keep in zip(words, inside) if keep or _infinite(base, word)]
    if kind == "to_int":  # halfway cases and the limits of the integer types
        return _float_to_int_edges(base)
    if base in _FLOAT_EDGES:
        return (_NAN_EDGES if kind == "nan" else _FLOAT_EDGES)[base]
    return _integer_edges(_WIDTH[base])


def _float_to_int_edges(base: str) -> list[int]:
    numbers = [0.5, 1.5, 2.5, 3.5, 0.49999997, 0.99, 1.01, 127.5, 128.5, 255.5, 256.5]
    numbers += [2.0**e + d for e in (7, 8, 15, 16, 31, 32, 63, 64) for d in (-1.0, 0.0, 1.0)]
    numbers += [-x for x in numbers]
    words = _words(base, np.array(numbers))
    return _FLOAT_EDGES[base] + [int(word) for word in words]


def _words(base: str, numbers: np.ndarray) -> np.ndarray:
    """Numbers in a format, as 64-bit words (bfloat16: cut off, not rounded)."""
    if base == "bf16":
        return _words("f32", numbers) >> np.uint64(16)
    floating = {"f16": np.float16, "f32": np.float32, "f64": np.float64}[base]
    with np.errstate(over="ignore"):
        return numbers.astype(floating).view(f"u{_WIDTH[base] // 8}").astype(np.uint64)


def _random(base: str, kind: str, name: str, count: int) -> np.ndarray:
    """Random words; half of the integers are small, half of the floats near 1 in size."""
    word, choice = bits(name, count), bits(name + " choice", count)
    width = np.uint64(_WIDTH[base])
    if kind == "shift":
        return word % np.uint64(100)
    if kind in _RANGES:
        number = (word >> np.uint64(11)).astype(np.float64) * 2.0**-52 - 1.0
        return _words(base, number * _RANGES[kind])
    if base in _FLOAT_EDGES:
        mantissa = _MANTISSA[base]
        bias = (1 << (int(width) - 2 - mantissa)) - 1
        spread = min(24, bias)
        exponent = np.uint64(bias - spread // 2) + choice % np.uint64(spread)
        sign = (word >> np.uint64(63)) << (width - np.uint64(1))
        near = sign | (exponent << np.uint64(mantissa)) | (word & np.uint64((1 << mantissa) - 1))
        anything = word >> (np.uint64(64) - width)
        return np.where(choice >> np.uint64(62) == 0, anything, near)
    full = word >> (np.uint64(64) - width)
    return np.where(choice & np.uint64(1), full, full >> ((choice >> np.uint64(8)) % width))


def values(spec: str, position: int, operands: int, count: int) -> np.ndarray:
    """Operand `position` of an operation with `operands` operands, as unsigned words.

    The spec is a format ("32", "f64", "f16x2") and, after a colon, what the operand means
    ("32:shift"). Two operands meet in every pair of edge values, then in random values; three or
    more take edge values half of the time; a fused multiply-add also meets sums that cancel.
    """
    base, _, kind = spec.partition(":")
    if base.endswith("x2"):
        low = values(f"{base[:-2]}:{kind}".rstrip(":"), position, operands, count).astype(np.uint32)
        pairs = low | np.roll(low, 5 * position + 3) << np.uint32(16)
        if position:  # some are equal in both halves
            pairs[::16] = values(spec, 0, operands, count)[::16]
        return pairs
    edges = np.array(_edges(base, kind), np.uint64)
    name = f"{spec} {position} of {operands}"
    result = _random(base, kind, name, count)
    n = len(edges)
    if kind == "plain":
        pass
    elif operands == 1:
        result[: min(n, count)] = edges[:count]
    elif operands == 2:
        index = np.arange(min(n * n, count * 7 // 8))
        result[index] = edges[index // n if position == 0 else (index + index // n) % n]
    else:
        choice = bits(name + " edge", count)
        picked = edges[(choice >> np.uint64(8)) % np.uint64(n)]
        result = np.where(choice & np.uint64(1), picked, result)
    result = result.astype(f"u{_WIDTH[base] // 8}")
    if position == 2 and base in ("f32", "f64"):
        floating = np.float32 if base == "f32" else np.float64
        a, b = (values(spec, p, operands, count).view(floating) for p in (0, 1))
        with np.errstate(all="ignore"):
            cancel = np.nan_to_num(-a * b, nan=1.0, posinf=np.inf, neginf=-np.inf)
        result[::4] = cancel.view(result.dtype)[::4]
    return result
