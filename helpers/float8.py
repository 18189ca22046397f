"""Floats of 8 bits, which NumPy does not know: their bits, as uint8, and back.

e4m3 has 3 bits of fraction, reaches 448 and has no infinity; e5m2 has 2 and reaches 57,344."""

import numpy as np
from numpy.typing import ArrayLike

__all__ = ["LARGEST", "LEAST_NORMAL", "bits", "numbers"]

LARGEST = {"e4m3": 448.0, "e5m2": 57344.0}
LEAST_NORMAL = {"e4m3": 2.0**-6, "e5m2": 2.0**-14}
SIGN, NAN = 0x80, 0x7F
SMALLER = 256  # times as small is what the bits of an e4m3 are as a half's


def numbers(x: ArrayLike, kind: str) -> np.ndarray:
    """The numbers whose bits these are, as float32."""
    wide = _known(x, kind).astype(np.uint16)
    if kind == "e5m2":
        return (wide << 8).view(np.float16).astype(np.float32)
    halves = ((wide & SIGN) << 8 | (wide & NAN) << 7).view(np.float16).astype(np.float32)
    return np.where(wide & NAN == NAN, np.float32(np.nan), halves * SMALLER)


def bits(x: ArrayLike, kind: str) -> np.ndarray:
    """The bits of the numbers nearest to these, even ones of two that are as near; what is too
    large becomes the largest."""
    every = numbers(np.arange(SIGN, dtype=np.uint8), kind)
    finite = every[every <= LARGEST[kind]]
    with np.errstate(invalid="ignore"):  # signalling NaNs
        x = np.asarray(x, np.float64)
    size = np.where(np.isnan(x), 0, np.minimum(np.abs(x), LARGEST[kind]))
    above = np.searchsorted(finite, size)
    below = np.maximum(above - 1, 0)
    up, down = finite[above] - size, size - finite[below]
    code = np.where((up < down) | ((up == down) & (above % 2 == 0)), above, below)
    code = np.where(np.isnan(x), NAN, code)
    return (code + SIGN * np.signbit(x)).astype(np.uint8)


def _known(x: ArrayLike, kind: str) -> np.ndarray:
    """x, which must be bits of a kind that there is."""
    if kind not in LARGEST:
        raise ValueError(f"floats of 8 bits {kind!r}: expected one of {', '.join(LARGEST)}")
    x = np.asarray(x)
    if x.dtype != np.uint8:
        raise TypeError(f"bits of {kind} are uint8, not {x.dtype}")
    return x
