"""A compensated sum: Kahan's bound, 2u + O(n u^2) times the sum of magnitudes."""

import math

import numpy as np

from helpers import checks
from helpers.exercises.for_judges import *


def launch(rng, n):
    x = lossy(rng, n)
    if (
        n > 1000
    ):  # all others together are some last places of the first: a sum of pieces loses them
        x[0] = abs(x[1:].sum(dtype=float)) * 2.0 ** rng.integers(17, 23)
    u = checks.roundoff(np.float32)
    tolerance = (2 * u + 8 * n * u**2) * float(np.abs(x).sum(dtype=float))
    return Launch([In(x), Out(np.array([math.fsum(x)]), tolerance), np.int64(n)], grid=1, block=1)


JUDGE = Judge(
    launch=launch,
    sizes=(1, 2, 33, 257, 1009, 16411, 70_001, 0),
    undefined={"inf": "the correction of an infinite sum is a NaN"},
    counted=1 << 10,
    budget={"ld.requests": 1024, "st.requests": 1},
    without={r"\.f64\b": "Use floats only."},
    rounding=(
        "Floats are enough: follow y, t and lost through two additions by hand, signs included."
        " What is"
        " lost in one must come back in the next."
    ),
)
