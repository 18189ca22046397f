"""A sum by atomics, 16 elements each."""

import numpy as np

from helpers import checks
from helpers.exercises.for_judges import *


def launch(rng, n):
    x = numbers(rng, n) * scales(rng, 1)
    blocks = blocks_for(-(-n // 16))
    tolerance = checks.sum_tolerance(x)
    out = Out(np.array([x.sum(dtype=float)]), tolerance, initial=np.zeros(1))
    return Launch([In(x), out, np.int64(n)], grid=blocks, block=256)


JUDGE = Judge(
    launch=launch,
    sizes=(1, 31, 33, 257, 4096, 4099, 0),
    drawn=lambda rng: (int(rng.integers(34, 4096)), int(rng.integers(41_000, 45_000))),
    far=far_sum,
    spare=256,
    undefined=BY_ATOMICS,
    counted=1 << 16,
    budget={"ld.sectors": 8192, "red.requests": 128},
    limits={"barriers": None},  # blocks that add up first are right as well
    survivors={"first <= n": "a thread without an element adds 0"},
)
