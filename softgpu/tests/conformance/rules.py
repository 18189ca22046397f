"""How an answer is compared with the recorded one.

Exact operations: bit for bit. Approximations: hardware and software each lie within the documented
error of the true value, so they lie within twice that error of each other; NaN is bit for bit.

But where two double NaNs meet, one of them goes on, and on the hardware too it depends on the
order in which the compiler put the operands; so answers that may come from this are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
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


_DOUBLE_SIZE, _DOUBLE_INFINITY = np.uint64(2**63 - 1), np.uint64(0x7FF << 52)


@dataclass(frozen=True)
class Rule:
    """kind "bits", or the number format of the answer, with what two answers may differ by.

    `nans`: which doubles that are NaN may be among the operands: "any", "one" (all alike), or
    "none" (nor among the next lane's, with which it may exchange values)."""

    kind: str = "bits"
    ulp: int = 0
    relative: float = 0.0
    absolute: float = 0.0
    nans: str = "any"

    def unit(self, dtype: str) -> np.dtype:
        """The unsigned type of one number: of the format compared, or as the case has it."""
        return np.dtype(dtype if self.kind == "bits" else _KINDS[self.kind][0])

    def differing(self, got: bytes, want: bytes, operands: Sequence[np.ndarray] = ()) -> np.ndarray:
        """Indices at which two answers differ by more than the rule allows.

        `operands`: what each thread was given, one word of each array."""
        same = self._same(got, want)
        doubles = [array for array in operands if array.itemsize == 8]
        if self.nans != "any" and doubles:
            unclear = ~self._clear(doubles)
            same |= np.repeat(unclear, len(same) // len(unclear))
        return np.flatnonzero(~same)

    def _clear(self, doubles: list[np.ndarray]) -> np.ndarray:
        """For each thread, whether its operands say which NaN may come out."""
        nans = [(word & _DOUBLE_SIZE) > _DOUBLE_INFINITY for word in doubles]
        if self.nans == "none":
            some = np.any(nans, axis=0).reshape(-1, 2)
            return np.repeat(~some.any(axis=1), 2)
        clear = np.ones(len(doubles[0]), bool)
        for n, (word, nan) in enumerate(zip(doubles, nans)):
            for other, too in zip(doubles[:n], nans):
                clear &= ~(nan & too) | (word == other)
        return clear

    def _same(self, got: bytes, want: bytes) -> np.ndarray:
        if self.kind == "bits":
            return np.frombuffer(got, "u1") == np.frombuffer(want, "u1")
        unsigned = _KINDS[self.kind][0]
        a, b = np.frombuffer(got, unsigned), np.frombuffer(want, unsigned)
        same = a == b
        x, y = decode(self.kind, a), decode(self.kind, b)
        if self.ulp or self.relative or self.absolute:
            finite = np.isfinite(x) & np.isfinite(y)
            with np.errstate(invalid="ignore", over="ignore"):
                near = np.abs(x - y) <= np.maximum(self.absolute, self.relative * np.abs(y))
            same |= finite & near
            same |= ~np.isnan(x) & ~np.isnan(y) & (_steps(self.kind, a, b) <= self.ulp)
        return same


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
    """Bit for bit."""
    return Rule(kind, nans=_nans(kind))


def _nans(kind: str) -> str:
    return "one" if kind == "f64" else "any"


def documented(kind: str, ulp: float = 0, relative: float = 0.0, absolute: float = 0.0) -> Rule:
    """The rule for an operation whose documented largest error is given."""
    return Rule(kind, int(2 * ulp), 2 * relative, 2 * absolute, _nans(kind))
