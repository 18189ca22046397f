"""Launches of the steps in cuda_src/elementwise: what each takes for two arrays that broadcast."""

from collections.abc import Sequence
from math import ceil, prod
from typing import Any

import numpy as np

from . import shapes, sources
from .kernels import Kernel

__all__ = ["NO_NUMBERS", "dividers", "prepare", "strides"]

NO_NUMBERS = np.int8(0)  # passed for an operator that holds none: an empty struct has one byte
THREADS = 256
STRIDED = "strided", "strided_fast", "packed_strided"


def strides(*walks: Sequence[int]) -> np.ndarray:
    """The struct Strides of strides.cuh: how each array is walked, in elements."""
    table = np.zeros((len(walks), shapes.MOST_DIMENSIONS), np.int64)
    table[:, : len(walks[0])] = walks
    return np.append(len(walks[0]), table)


def dividers(shape: Sequence[int]) -> np.ndarray:
    """The struct Sizes of strided_fast.cu."""
    words = np.zeros((shapes.MOST_DIMENSIONS, 3), np.uint32)
    for row, size in zip(words, shape):
        row[:] = size, *shapes.magic(size)
    return words


def prepare(
    step: str,
    a: Any,
    b: Any,
    out: Any,
    op: Any = NO_NUMBERS,
    threads: int = THREADS,
    **choices: Any,
) -> tuple[Kernel, tuple, dict[str, tuple]]:
    """kernel, arguments and launch shape of a step for these arrays on the GPU, views included:
    kernel(*arguments, **shape) runs it."""
    kernel = sources.kernel(f"elementwise/{step}.cu", **choices)
    told = a, b, out, np.int64(prod(out.shape)), *_sizes(step, a, b, out), op
    pack = choices.get("PACK", 8 if step in ("half2_add", "staged") else 1)
    shape = {"grid": (ceil(prod(out.shape) / (threads * pack)), 1), "block": (threads, 1, 1)}
    return kernel, told[: len(kernel.parameters)], shape  # half2_add takes no operator


def _sizes(step: str, a: Any, b: Any, out: Any) -> list:
    """A step's arguments besides the arrays, their length and the operator."""
    if step not in STRIDED:
        plan = shapes.scheme(a.shape, b.shape)
        easy = step == plan.kernel != "same"
        return [*map(np.int64, plan.sizes), np.int32(plan.first_shorter)] if easy else []
    walks = [shapes.contiguous_strides(out.shape)]
    walks += [
        shapes.broadcast_strides(x.shape, [s // x.dtype.itemsize for s in x.strides], out.shape)
        for x in (a, b)
    ]
    shape, *walks = shapes.merge(out.shape, *walks)
    return [strides(*walks), *([dividers(shape)] if step == "strided_fast" else [])]
