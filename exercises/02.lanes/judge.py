"""Sums of 32 columns by atomics."""

import numpy as np

from helpers import checks
from helpers.exercises.for_judges import *


def launch(rng, n):
    x = numbers(rng, n) * scales(rng, 1)
    sums, tolerance = _columns(x)
    out = Out(sums, tolerance, initial=np.zeros(32))
    return Launch([In(x), out, np.int64(n)], grid=blocks_for(n), block=256)


def _columns(x):
    """The sums of 32 columns, and how far off each may be."""
    rows = np.zeros(-(-x.size // 32) * 32, np.float32)
    rows[: x.size] = x
    rows = rows.reshape(-1, 32)
    return rows.sum(0, dtype=float), checks.sum_tolerance(rows, axis=0)


def far(rng):
    x = far_numbers(rng)
    sums, tolerance = _columns(np.concatenate([x.pieces[0], np.zeros(19), x.pieces[PAST]]))
    out = Far(32, np.float32, expected={0: sums}, tolerance=float(tolerance.max()))
    return far_launch([x, out, np.int64(FAR)])


JUDGE = Judge(
    launch=launch,
    far=far,
    spare=128,
    undefined=BY_ATOMICS,
    counted=1 << 14,
    budget={"ld.sectors": 2048, "red.requests": 512, "red.sectors": 2048},
    idea={"red.requests": (512, "Let each thread add its element by an atomic of its own.")},
)
