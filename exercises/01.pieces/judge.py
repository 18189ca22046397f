"""A sum in pieces of 128: a chain of 128 + n / 128 additions."""

import math

import numpy as np

from helpers import checks
from helpers.exercises.for_judges import *


def launch(rng, n):
    x = lossy(rng, n)
    tolerance = checks.sum_tolerance(x, chain=128 + -(-n // 128))
    return Launch([In(x), Out(np.array([math.fsum(x)]), tolerance), np.int64(n)], grid=1, block=1)


JUDGE = Judge(
    launch=launch,
    sizes=(1, 127, 128, 129, 1009, 16384, 16411, 70_001, 0),
    undefined=SCALED,
    counted=1 << 10,
    budget={"ld.requests": 1024, "st.requests": 1},
    # 128 sums side by side, in local memory, are right as well
    limits={"ldl.sectors": None, "stl.sectors": None},
    without={r"\.f64\b": "Use floats only."},
    survivors={"first <= n": "one more piece, without an element"},
)
