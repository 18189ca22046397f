"""Tensor maps of PyCUDA's arrays, as the driver encodes them."""

import ctypes
import struct

import numpy as np

__all__ = ["as_hardware_has_it", "im2col", "tiled"]

TYPES = "uint8", "uint16", "uint32", "int32", "uint64", "int64", "float16", "float32", "float64"
SWIZZLES = 0, 32, 64, 128


def tiled(x, box, swizzle):
    """A map whose boxes are `box` elements of x; swizzle: bytes, 0: not."""
    return _encoded("Tiled", x, _words(32, box), _words(32, [1] * x.ndim), swizzle)


def as_hardware_has_it(x, box, swizzle):
    """The same as tiled(), in the form that CuTe DSL writes without the driver."""
    sizes, boxes = x.shape[::-1], (*box[::-1], 1, 1, 1)
    strides = [stride // 16 for stride in x.strides[-2::-1]] + [0] * 4
    kind = (x.ndim - 1) << 4 | TYPES.index(x.dtype.name) << 7 | SWIZZLES.index(swizzle) << 13
    flags = kind | 1 << 1 | 1 << 18 | (x.nbytes >= 1 << 17) << 21
    words = [flags, *strides[:4], 0, *(size - 1 for size in sizes), *[0] * (5 - x.ndim)]
    map_ = struct.pack("<Q11I", int(x.gpudata), *words)
    return map_ + bytes(3) + bytes(size - 1 for size in boxes[:5]) + bytes(68)


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
