"""Tensor maps: descriptions of arrays, from which a GPU of compute capability 9.0 copies boxes.

A map goes to a kernel by value, behind what `common/boxes.cuh` calls `before`:

    maps = tensormap.packed(tensormap.tiled(x, (64, 64)), tensormap.tiled(y, (64, 64)))
    kernel(maps, ..., block=...)     # takes `const __grid_constant__ Maps<2> maps`

It holds the array's address: a map is of no use once the array is freed."""

import ctypes
from collections.abc import Sequence

import numpy as np

from . import autoinit  # noqa: F401  (the driver is there)

__all__ = ["BEFORE", "im2col", "packed", "tiled"]

BEFORE = 48  # bytes of parameters before the first map, which then lies at a multiple of 64
ALIGNMENT, WORDS = 64, 16
TYPES = {  # CUtensorMapDataType
    "uint8": 0, "int8": 0, "uint16": 1, "int16": 1, "uint32": 2, "int32": 3, "uint64": 4,
    "int64": 5, "float16": 6, "float32": 7, "float64": 8,
}  # fmt: skip
TF32 = 11
SWIZZLES = {0: 0, 32: 1, 64: 2, 128: 3}
L2_PROMOTION = 2  # lines of 128 bytes
MOST_BOX, MOST_PIXELS, MOST_STEP, CHUNK = 256, 1024, 8, 16


def tiled(x, box, swizzle=128, steps=None, fill_nan=False, tf32=False):
    """A map whose boxes are `box` elements of x, axis by axis, neighbours in memory last.

    swizzle: bytes of a line within which chunks of 16 are swizzled, 0: not; steps: elements from
    one to the next that is copied, along each axis; what is past an edge becomes 0, or NaN. tf32:
    whether floats are rounded to 10 bits of fraction."""
    shape, strides = _lying(x)
    steps = tuple(steps or (1,) * len(shape))
    if len(box) != len(shape) or len(steps) != len(shape):
        raise ValueError(f"tiled: box {box} and steps {steps} of an array of shape {shape}: one"
                         " number for each axis is needed")  # fmt: skip
    for name, given, most in ("box", box, MOST_BOX), ("steps", steps, MOST_STEP):
        if not all(1 <= n <= most for n in given):
            raise ValueError(f"tiled: {name} {tuple(given)}: 1 to {most} are possible")
    _check_line("tiled", box[-1], x.dtype, swizzle)
    kind = TF32 if tf32 else _type(x.dtype)
    told = _words(shape), _strides(strides), _numbers(box), _numbers(steps)
    how = 0, SWIZZLES[swizzle], L2_PROMOTION, int(fill_nan)
    return Map.of("cuTensorMapEncodeTiled", kind, len(shape), _address(x), *told, *how)


def im2col(x, h, w, channels=64, pixels=64, swizzle=128):
    """A map of images x[N, H, W, C] whose boxes are so many channels of the pixels under one tap of
    a window, at so many of its places; h, w: the windows.Sides.

    A box begins at channel c and a place's pixel without tap, (row, column) = place * stride - pad,
    of an image; its offsets are the tap times the dilation. Pixels outside of an image are 0."""
    shape, strides = _lying(x)
    if len(shape) != 4:
        raise ValueError(f"im2col: x has shape {shape}; expected images, height, width, channels")
    if not 1 <= channels <= MOST_BOX or not 1 <= pixels <= MOST_PIXELS:
        raise ValueError(f"im2col: {channels} channels of {pixels} pixels; {MOST_BOX} and"
                         f" {MOST_PIXELS} are possible")  # fmt: skip
    if not (fits(h) and fits(w)):
        raise ValueError(f"im2col: {h}, {w}: corners within +-127, strides up to {MOST_STEP} and"
                         " windows of up to 255 pixels are possible")  # fmt: skip
    _check_line("im2col", channels, x.dtype, swizzle)
    kind = _type(x.dtype)
    lower = (ctypes.c_int * 2)(-w.pad, -h.pad)
    upper = (ctypes.c_int * 2)(*(_upper(side) for side in (w, h)))
    told = _words(shape), _strides(strides), lower, upper, channels, pixels
    how = _numbers((1, h.stride, w.stride, 1)), 0, SWIZZLES[swizzle], L2_PROMOTION, 0
    return Map.of("cuTensorMapEncodeIm2col", kind, len(shape), _address(x), *told, *how)


class Map(bytes):
    """The 128 bytes that a driver makes, which remember what of."""

    address: int
    made_of: tuple

    @classmethod
    def of(cls, function, kind, rank, address, *told, driver=None):
        room = (ctypes.c_char * (8 * WORDS + ALIGNMENT))()
        place = -(-ctypes.addressof(room) // ALIGNMENT) * ALIGNMENT
        encode = getattr(driver or ctypes.CDLL("libcuda.so.1"), function)
        result = encode(ctypes.c_void_p(place), kind, rank, ctypes.c_void_p(address), *told)
        if result:
            raise ValueError(f"{function} refuses this array: error {result}")
        made = cls(ctypes.string_at(place, 8 * WORDS))
        made.address, made.made_of = address, (function, kind, rank, told)
        return made

    def moved(self, address, driver):
        """The same map of an array elsewhere, as a driver makes it."""
        function, kind, rank, told = self.made_of
        return Map.of(function, kind, rank, address, *told, driver=driver)


class Packed(np.ndarray):
    """Maps as a kernel's first argument, which xray can make anew of copies of their arrays."""

    maps: Sequence[Map]

    def __new__(cls, maps):
        whole = np.frombuffer(b"\0" * BEFORE + b"".join(maps), np.uint8).view(cls)
        whole.maps = maps
        return whole

    @property
    def addresses(self):
        return [map_.address for map_ in self.maps]

    def moved(self, place, driver):
        """The same maps, as a driver makes them of arrays that are at place(address)."""
        return Packed([map_.moved(place(map_.address), driver) for map_ in self.maps])


def packed(*maps):
    """Maps as a kernel's first argument."""
    return Packed(maps)


def fits(side):
    """Whether a windows.Side can be that of a map."""
    corners = -128 <= -side.pad < 128 and -128 <= _upper(side) < 128
    return corners and side.stride <= MOST_STEP and side.extent <= 256


def _upper(side):
    """Where the last place begins, from the last pixel on."""
    return (side.places - 1) * side.stride - side.pad - (side.image - 1)


def _lying(x):
    """Shape and strides of an array whose last axis lies in one piece."""
    if not 1 <= x.ndim <= 5:
        raise ValueError(f"an array of shape {x.shape}: maps are of 1 to 5 dimensions; .reshape it")
    if x.strides[-1] != x.dtype.itemsize and x.shape[-1] > 1:
        raise ValueError(f"strides {x.strides}: elements along the last axis must be neighbours in"
                         " memory")  # fmt: skip
    uneven = [step for step, size in zip(x.strides[:-1], x.shape) if step % CHUNK and size > 1]
    if uneven or _address(x) % CHUNK or not x.size:
        raise ValueError(f"an array of shape {x.shape}, strides {x.strides}: it must not be empty,"
                         f" begin at a multiple of {CHUNK} bytes and have strides of such; copy it"
                         " into longer lines")  # fmt: skip
    return x.shape, [abs(step) if size > 1 else CHUNK for step, size in zip(x.strides, x.shape)]


def _type(dtype):
    if dtype.name not in TYPES:
        raise TypeError(f"maps of {dtype}: expected one of {', '.join(TYPES)}")
    return TYPES[dtype.name]


def _check_line(what, count, dtype, swizzle):
    """What a line of a box may be."""
    if swizzle not in SWIZZLES:
        raise ValueError(
            f"{what}: swizzle={swizzle}; expected one of {', '.join(map(str, SWIZZLES))}"
        )
    size = count * dtype.itemsize
    if size % CHUNK or (swizzle and size > swizzle):
        most = f", {swizzle} at most where they are swizzled so" if swizzle else ""
        raise ValueError(f"{what}: a line of {count} {dtype} is {size} bytes: multiples of {CHUNK}"
                         f" are possible{most}")  # fmt: skip


def _address(x):
    return 0 if x.gpudata is None else int(x.gpudata)


def _words(numbers):
    return (ctypes.c_uint64 * len(numbers))(*reversed(numbers))


def _strides(strides):
    return (ctypes.c_uint64 * max(1, len(strides) - 1))(*reversed(strides[:-1]))


def _numbers(numbers):
    return (ctypes.c_uint32 * len(numbers))(*reversed(numbers))
