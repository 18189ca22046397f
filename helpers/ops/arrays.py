"""Checks of array arguments. An error says why an array is refused, and what to pass instead."""

import numpy as np
from pycuda.gpuarray import GPUArray

from .launch import address

__all__ = "check", "dividing", "element_strides", "is_contiguous", "overlap", "signature", "kind"


def kind(x):
    """Return a key for an argument's kind, its layout or a number's type, and an array's address
    (else 0)."""
    if isinstance(x, GPUArray):
        memory = x.gpudata  # as address() does, without its call
        place = 0 if memory is None else memory.__int__()
        return (x.dtype, x.shape, x.strides, place % 16), place
    return type(x), 0


def signature(x):
    """Return a key for an argument's kind: its layout, or a number's type."""
    return kind(x)[0]


def check(x, types, name="the array"):
    """Check that an array has one of these types, and return its dtype."""
    if not isinstance(x, GPUArray):
        raise TypeError(f"{name}: expected a pycuda GPUArray, got {type(x).__name__}")
    if x.dtype.name not in types or not x.dtype.isnative:
        hint = "; .astype(np.int32) may do" if x.dtype.kind in "iub" and "int32" in types else ""
        raise TypeError(f"{name}: {x.dtype} is not among {', '.join(types)}{hint}")
    if x.size and address(x) % x.dtype.itemsize:
        raise ValueError(
            f"{name} begins at {address(x):#x}, not a multiple of {x.dtype.itemsize} bytes"
        )
    if any(step % x.dtype.itemsize for step in x.strides):
        raise ValueError(
            f"{name}: strides {x.strides} are not multiples of {x.dtype.itemsize} bytes"
        )
    return x.dtype


def element_strides(x):
    """Return an array's strides in elements."""
    return tuple(step // x.dtype.itemsize for step in x.strides)


def is_contiguous(x):
    """Whether the array is C-contiguous."""
    return bool(x.flags.c_contiguous)


def dividing(size, itemsize, *addresses):
    """Return the elements per access: the most, up to 16 bytes' worth, that divide `size` and
    keep the addresses aligned."""
    pack = 16 // itemsize
    while size % pack or any(place % (pack * itemsize) for place in addresses):
        pack //= 2
    return pack


class Place:
    """Where an array is in memory, as an object that NumPy can reason about but not read."""

    def __init__(self, x):
        self.__array_interface__ = {
            "version": 3,
            "data": (address(x), True),
            "shape": x.shape,
            "strides": x.strides,
            "typestr": x.dtype.str,
        }


def overlap(x, y):
    """Whether two arrays share any byte of memory."""
    if not (x.size and y.size):
        return False
    return np.shares_memory(np.asarray(Place(x)), np.asarray(Place(y)))
