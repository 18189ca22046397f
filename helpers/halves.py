"""PyCUDA learns float16: arrays of halves are filled, converted, multiplied and compared.

Its kernels take no number of that type, as a sum of two arrays does, and its reductions add no
halves: both are refused in words."""

import re
from functools import partial, partialmethod

import numpy as np
import pycuda.driver as cuda
from pycuda import elementwise, gpuarray, reduction
from pycuda.tools import ScalarArg, get_or_register_dtype

__all__ = ["teach"]

HALF = np.dtype(np.float16)
INSTEAD = "take x.astype(np.float32), or a kernel of your own"


def teach():
    """Have PyCUDA's own kernels take arrays of halves."""
    get_or_register_dtype("half", HALF)
    for name in ("get_elwise_module", "get_elwise_range_module"):
        setattr(elementwise, name, partial(_with_header, getattr(elementwise, name)))
    reduction.get_reduction_module = partial(_without_halves, reduction.get_reduction_module)
    gpuarray.GPUArray.fill = partialmethod(_fill, gpuarray.GPUArray.fill)


def _with_header(make, arguments, *others, preamble="", **named):
    """An elementwise kernel, with what declares halves if it takes some."""
    halves = [a for a in arguments if a.dtype == HALF]
    if any(isinstance(a, ScalarArg) for a in halves):
        raise TypeError(f"PyCUDA passes no numbers of type float16 to its kernels: {INSTEAD}")
    header = "#include <cuda_fp16.h>\n" if halves else ""
    return make(arguments, *others, preamble=header + preamble, **named)


def _without_halves(make, out_type, *others):
    """A reduction, which does not work on halves."""
    if re.search(r"\bhalf\b", f"{out_type} {others}"):
        raise TypeError(f"PyCUDA reduces no arrays of float16: {INSTEAD}")
    return make(out_type, *others)


def _fill(array, fill, value, stream=None):
    """GPUArray.fill."""
    if array.dtype != HALF or not array.flags.forc:
        return fill(array, value, stream)
    bits = int(np.asarray(value, HALF).view(np.uint16))
    if array.size and stream:
        cuda.memset_d16_async(array.gpudata, bits, array.size, stream)
    elif array.size:
        cuda.memset_d16(array.gpudata, bits, array.size)
    return array
