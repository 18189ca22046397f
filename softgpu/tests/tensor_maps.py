"""Tensor maps of PyCUDA's arrays, as the driver encodes them."""

import ctypes

import numpy as np

__all__ = ["im2col", "tiled"]

TYPES = "uint8", "uint16", "uint32", "int32", "uint64", "int64", "float16", "float32", "float64"
SWIZZLES = 0, 32, 64, 128


def tiled(x, box, swizzle):
    """A map whose boxes are `box` elements of x; swizzle: bytes, 0: not."""
    return _encoded("Tiled", x, _words(32, box), _words(32, [1] * x.ndim), swizzle)


def im2col(x, corners, channels, pixels):
    """A map of images x[N, H, W, C]; corners: the lower and upper ones of a box's pixels."""
    box = *(_words(32, corner) for corner in corners), channels, pixels, _words(32, [1] * 4)
    return _encoded("Im2col", x, *box, 0)


def _encoded(kind, x, *box_and_swizzle):
    *box, swizzle = box_and_swizzle
    room = (ctypes.c_char * 192)()
    place = -(-ctypes.addressof(room) // 64) * 64
    result = getattr(ctypes.CDLL("libcuda.so.1"), f"cuTensorMapEncode{kind}")(
        ctypes.c_void_p(place), TYPES.index(x.dtype.name), x.ndim, ctypes.c_void_p(int(x.gpudata)),
        _words(64, x.shape), _words(64, x.strides[:-1]), *box, 0, SWIZZLES.index(swizzle), 0, 0,
    )  # fmt: skip
    assert not result, result
    return ctypes.string_at(place, 128)


def _words(bits, numbers):
    return np.array(numbers[::-1], f"i{bits // 8}").ctypes
