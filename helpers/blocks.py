"""Numbers of 8 and 4 bits whose blocks share a scale: MXFP8 and NVFP4, as arrays of bytes.

MXFP8 (OCP's microscaling formats): 32 e4m3 share a power of two, whose exponent plus 127 is a byte
(E8M0). NVFP4 (NVIDIA's Blackwell): 16 numbers of 4 bits (E2M1: 0, 0.5, 1, 1.5, 2, 3, 4, 6 and their
negatives), two in a byte, the lower half first, share an e4m3; a float32 multiplies everything."""

import numpy as np
from numpy.typing import ArrayLike

from . import float8

__all__ = ["BLOCKS", "from_mxfp8", "from_nvfp4", "mxfp8", "nvfp4"]

BLOCKS = {"mxfp8": 32, "nvfp4": 16}  # numbers that share a scale
QUARTERS = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])  # E2M1, by its code without the sign
SIGN4 = 8


def mxfp8(x: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Return the codes of x[..., k] and its blocks' scales, [..., k / 32]."""
    blocks = _in_blocks(x, "mxfp8")
    largest = np.abs(blocks).max(-1, keepdims=True)
    with np.errstate(divide="ignore"):
        exponent = np.where(largest > 0, np.floor(np.log2(largest)) - 8, -127)
    exponent = exponent.clip(-127, 127)
    whole = np.ldexp(blocks, -exponent.astype(int))
    every = float8.numbers(np.arange(0x7F, dtype=np.uint8), "e4m3")
    codes = _nearest(whole, every.astype(float), 0x80)
    return codes.reshape(np.shape(x)), (exponent[..., 0] + 127).astype(np.uint8)


def from_mxfp8(codes: np.ndarray, scales: np.ndarray) -> np.ndarray:
    """Return the numbers of MXFP8, in float64."""
    powers = np.ldexp(1.0, scales.astype(int) - 127)
    return float8.numbers(codes, "e4m3") * powers.repeat(BLOCKS["mxfp8"], -1)


def nvfp4(x: ArrayLike) -> tuple[np.ndarray, np.ndarray, np.float32]:
    """Return the codes of x[..., k], [..., k / 2], its blocks' scales, [..., k / 16], and what
    multiplies all."""
    blocks = _in_blocks(x, "nvfp4")
    largest = np.abs(blocks).max(-1)
    whole = np.float32(largest.max(initial=0) / (float8.LARGEST["e4m3"] * QUARTERS[-1]) or 1)
    scales = float8.bits(largest / QUARTERS[-1] / whole, "e4m3")
    unit = float8.numbers(scales, "e4m3").astype(float)[..., None] * whole
    parts = np.divide(blocks, unit, out=np.zeros_like(blocks), where=unit > 0)
    codes = _nearest(parts, QUARTERS, SIGN4)
    codes = codes.reshape(*np.shape(x)[:-1], -1, 2)
    return codes[..., 0] | codes[..., 1] << 4, scales, whole


def from_nvfp4(codes: np.ndarray, scales: np.ndarray, whole: float = 1) -> np.ndarray:
    """Return the numbers of NVFP4, in float64."""
    both = np.stack([codes & 15, codes >> 4], -1).reshape(*codes.shape[:-1], -1)
    parts = np.where(both & SIGN4, -1, 1) * QUARTERS[both & 7]
    return parts * float8.numbers(scales, "e4m3").repeat(BLOCKS["nvfp4"], -1) * float(whole)


def _in_blocks(x: ArrayLike, kind: str) -> np.ndarray:
    x, size = np.asarray(x, float), BLOCKS[kind]
    if not x.ndim or x.shape[-1] % size:
        raise ValueError(f"{kind} of {x.shape}: pass rows whose length is a multiple of {size}")
    if not np.isfinite(x).all():
        raise ValueError(f"{kind}: pass finite numbers only")
    return x.reshape(*x.shape[:-1], -1, size)


def _nearest(x: np.ndarray, every: np.ndarray, sign: int) -> np.ndarray:
    """Return the codes of the nearest of `every`, the even code of two that are as near. What is
    too large becomes the largest."""
    size = np.minimum(np.abs(x), every[-1])
    above = np.searchsorted(every, size)
    below = np.maximum(above - 1, 0)
    down, step = size - every[below], every[above] - every[below]
    up = (2 * down > step) | ((2 * down == step) & (above % 2 == 0))
    return (np.where(up, above, below) + sign * np.signbit(x)).astype(np.uint8)
