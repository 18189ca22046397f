"""A sum by one thread, to within one rounding."""

import math

import numpy as np

from helpers import checks
from helpers.exercises.for_judges import *


def launch(rng, n):
    x, pairs = lossy(rng, n), (n - 1) // 2
    x[:pairs] = -x[n - pairs :]  # all but one or two cancel out: an error is large beside the sum
    rng.shuffle(x)
    sum = math.fsum(x)
    tolerance = checks.roundoff(np.float32) * abs(sum) + checks.sum_tolerance(
        x, accumulator="double"
    )
    return Launch([In(x), Out(np.array([sum]), tolerance), np.int64(n)], grid=1, block=1)


JUDGE = Judge(
    launch=launch,
    sizes=(1, 2, 33, 257, 1009, 4001, 70_001, 0),
    undefined={"inf": "the elements cancel out in pairs, and infinities of both signs make a NaN"},
    counted=1 << 10,
    budget={"ld.requests": 1024, "st.requests": 1},
)
