"""A sum by one atomic per element: a step of the course."""

import numpy as np

from helpers import checks
from helpers.exercises.for_judges import *


def launch(rng, n):
    x = numbers(rng, n)
    total = Out(np.array([x.sum(dtype=float)]), checks.sum_tolerance(x), initial=np.zeros(1))
    return Launch([In(x), total, np.int64(n)], blocks_for(n), 256)


JUDGE = Judge(
    launch=launch,
    sizes=(1, 33, 256, 1009, 0),
    far=far_sum,
    spare=128,
    ours="reduce/atomic.cu",
    undefined=BY_ATOMICS,
    counted=1 << 14,
    budget={"ld.sectors": 2048, "atomics": 512, "atomics.sectors": 16384},
    idea={"atomics": (512, "Let each thread add its element by an atomic of its own.")},
)
