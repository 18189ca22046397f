"""How an answer is compared with the recorded one.

Exact operations: bit for bit; where the result is a floating-point number, any NaN equals any
NaN, since PTX leaves the payload open. Approximations: hardware and software each lie within
the documented error of the true value, so they lie within twice that error of each other.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

__all__ = ["BITS", "Rule", "decode", "documented", "exact"]

# kind -> (unsigned type of the same size, bits of the mantissa)
_KINDS = {
    "f16": (np.uint16, 10),
    "bf16": (np.uint16, 7),
    "f32": (np.uint32, 23),
    "f64": (np.uint64, 52),
}


@dataclass(frozen=True)
class Rule:
    """kind "bits", or the number format of the answer, with what two answers may differ by."""

    kind: str = "bits"
    ulp: int = 0
    relative: float = 0.0
    absolute: float = 0.0

    def unit(self, dtype: str) -> np.dtype:
        """The unsigned type of one number: of the format compared, or as the case has it."""
        return np.dtype(dtype if self.kind == "bits" else _KINDS[self.kind][0])

    def differing(self, got: bytes, want: bytes) -> np.ndarray:
        """Indices at which two answers differ by more than the rule allows."""
        if self.kind == "bits":
            return np.flatnonzero(np.frombuffer(got, "u1") != np.frombuffer(want, "u1"))
        unsigned = _KINDS[self.kind][0]
        a, b = np.frombuffer(got, unsigned), np.frombuffer(want, unsigned)
        same = a == b
        x, y = decode(self.kind, a), decode(self.kind, b)
        same |= np.isnan(x) & np.isnan(y)
        if self.ulp or self.relative or self.absolute:
            finite = np.isfinite(x) & np.isfinite(y)
            with np.errstate(invalid="ignore", over="ignore"):
                near = np.abs(x - y) <= np.maximum(self.absolute, self.relative * np.abs(y))
            same |= finite & near
            same |= ~np.isnan(x) & ~np.isnan(y) & (_steps(self.kind, a, b) <= self.ulp)
        return np.flatnonzero(~same)


def decode(kind: str, bits: np.ndarray) -> np.ndarray:
    """The numbers as float64 (exact for every kind)."""
    if kind == "bf16":
        return decode("f32", bits.astype(np.uint32) << 16)
    floating = {"f16": np.float16, "f32": np.float32, "f64": np.float64}[kind]
    with np.errstate(invalid="ignore"):  # signalling NaNs
        return bits.view(floating).astype(np.float64)


def _steps(kind: str, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """How many representable numbers lie between a and b (saturating; -0 and +0 are one)."""
    bits = 8 * a.dtype.itemsize
    low = np.uint64((1 << (bits - 1)) - 1)

    def ordered(x: np.ndarray) -> np.ndarray:
        magnitude = (x.astype(np.uint64) & low).astype(np.int64)
        return np.where(x >> (bits - 1), -magnitude, magnitude)

    p, q = ordered(a), ordered(b)
    # the sign test keeps the difference of two 64-bit values from overflowing
    far = (np.sign(p) * np.sign(q) < 0) & (np.abs(p) > 1 << 20)
    return np.where(far, 1 << 40, np.abs(np.where(far, 0, p - q)))


BITS = Rule()


def exact(kind: str) -> Rule:
    """Bit for bit, any NaN for any NaN."""
    return Rule(kind)


def documented(kind: str, ulp: float = 0, relative: float = 0.0, absolute: float = 0.0) -> Rule:
    """The rule for an operation whose documented largest error is given."""
    return Rule(kind, int(2 * ulp), 2 * relative, 2 * absolute)
