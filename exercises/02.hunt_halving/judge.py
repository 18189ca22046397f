"""Totals of blocks, folded in global memory."""

import numpy as np

from helpers import checks
from helpers.exercises.for_judges import *


def launch(rng, n):
    x = numbers(rng, n)
    return Launch([Out(_folded(x), checks.sum_tolerance(x), initial=x), totals(x)], n // 256, 256)


def _folded(x):
    """What a tree of halves leaves in place of x, in the order of its additions."""
    rows = x.reshape(-1, 256).copy()
    half = 128
    while half:
        rows[:, :half] += rows[:, half : 2 * half]
        half //= 2
    return rows.ravel()


def far(rng):
    x, block = numbers(rng, 256), 2**32 // 256
    total, left = totals(x), _folded(x)
    tolerance = float(checks.sum_tolerance(x))
    own = Far(2**32 + 256, np.float32, {2**32: x}, {2**32: left}, tolerance)
    out = Far(block + 1, np.float32, expected={block: total.expected}, tolerance=tolerance)
    some = [range(block, block + 1)]
    return Launch([own, out], block + 1, 256, what=f"n = {2**32 + 256:,}", blocks=some)


JUDGE = Judge(
    launch=launch,
    sizes=(256, 512, 1024),
    far=far,
    undefined=BY_ATOMICS,
    counted=1 << 12,
    budget={"ld.sectors": (1104, 1380), "barriers": (1024, 1280), "st.requests": (208, 240)},
    without={r"\b(membar|fence)\b": "Threads of a block need a barrier, no fence."},
    survivors={"threadIdx.x == 1": "another thread writes the same, after the same barrier"},
)
