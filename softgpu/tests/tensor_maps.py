"""Tensor maps of PyCUDA's arrays, as the driver encodes them."""

import ctypes
import struct

import numpy as np

__all__ = ["as_hardware_has_it", "hardware_form", "im2col", "tiled"]

TYPES = (
    "uint8", "uint16", "uint32", "int32", "uint64", "int64", "float16", "float32", "float64",
    "bfloat16",
)  # fmt: skip
IN_HARDWARE = {8: 9, 9: 10, 10: 8, 11: 7 | 1 << 9, 12: 8 | 1 << 9}
"""The numbers of types that differ there; 1 << 9: rounded to TF32."""
SWIZZLES = 0, 32, 64, 128


def tiled(x, box, swizzle, type_=None):
    """A map whose boxes are `box` elements of x; swizzle: bytes, 0: not."""
    return _encoded("Tiled", x, type_, _words(32, box), _words(32, [1] * x.ndim), swizzle)


def hardware_form(type_, sizes, strides, box, steps, swizzle, promotion, fill):
    """The 56 bytes after the address in a map for Hopper, as NVIDIA's driver writes it."""
    filled = 5 - len(sizes)
    kind = IN_HARDWARE.get(type_, type_) << 7 | len(sizes) - 1 << 4
    flags = kind | swizzle << 13 | fill << 15 | promotion << 17
    units = [stride // 16 for stride in strides] + [0] * filled
    high = sum((unit >> 32) << 4 * n for n, unit in enumerate(units[:4]))
    words = [flags, *(unit & 0xFFFFFFFF for unit in units[:4]), high]
    words += [size - 1 for size in sizes] + [0] * filled
    step_bits = sum(step - 1 << 3 * n for n, step in enumerate(steps))
    boxes = bytes(size - 1 for size in (*box, *[1] * filled))
    return struct.pack("<11I", *words) + step_bits.to_bytes(3, "little") + boxes + bytes(4)


def as_hardware_has_it(x, box, swizzle, type_=None):
    """The same as tiled(), as CuTe DSL writes it without the driver: with two bits more."""
    kind, sizes = TYPES.index(type_ or x.dtype.name), x.shape[::-1]
    rest = box[::-1], [1] * x.ndim, SWIZZLES.index(swizzle), 2, 0
    form = bytearray(hardware_form(kind, sizes, x.strides[-2::-1], *rest))
    form[0] |= 1 << 1
    form[2] |= (x.nbytes >= 1 << 17) << 5
    return struct.pack("<Q", int(x.gpudata)) + form + bytes(64)


def im2col(x, corners, channels, pixels):
    """A map of images x[N, H, W, C]; corners: the lower and upper ones of a box's pixels."""
    box = *(_words(32, corner) for corner in corners), channels, pixels, _words(32, [1] * 4)
    return _encoded("Im2col", x, None, *box, 0)


def _encoded(kind, x, type_, *box_and_swizzle):
    *box, swizzle = box_and_swizzle
    room = (ctypes.c_char * 192)()
    place = -(-ctypes.addressof(room) // 64) * 64
    result = getattr(ctypes.CDLL("libcuda.so.1"), f"cuTensorMapEncode{kind}")(
        ctypes.c_void_p(place), TYPES.index(type_ or x.dtype.name), x.ndim,
        ctypes.c_void_p(int(x.gpudata)),
        _words(64, x.shape), _words(64, x.strides[:-1]), *box, 0, SWIZZLES.index(swizzle), 0, 0,
    )  # fmt: skip
    assert not result, result
    return ctypes.string_at(place, 128)


def _words(bits, numbers):
    return np.array(numbers[::-1], f"i{bits // 8}").ctypes
