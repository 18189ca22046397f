"""A compensated sum: Kahan's bound, 2u + O(n u^2) times the sum of magnitudes."""

import math

import numpy as np

from helpers import checks
from helpers.exercises.launches import In, Launch, Out, Wrong, numbers

SIZES = 1, 2, 33, 257, 1009, 4001, 0


def launch(rng, n):
    x = numbers(rng, n) + np.float32(1000)
    u = checks.roundoff(np.float32)
    tolerance = (2 * u + 8 * n * u**2) * float(np.abs(x).sum(dtype=float))
    return Launch([In(x), Out(np.array([math.fsum(x)]), tolerance), np.int64(n)], grid=1, block=1)


COUNTED = 1 << 10
BUDGET = {"ld.requests": 1024, "st.requests": 1}

WRONG = {
    "zero": Wrong("values", {"*out = sum": "*out = 0"}),
    "a plain loop": Wrong("values", {"lost = (t - sum) - y;": ""}),
    "the wrong sign": Wrong("values", {"x[i] - lost": "x[i] + lost"}),
    "lost beyond repair": Wrong("values", {"(t - sum) - y": "t - (sum + y)"}),
    "sum first": Wrong(
        "values", {"lost = (t - sum) - y;\n        sum = t;": "sum = t; lost = (t - sum) - y;"}
    ),
    "without the last": Wrong("values", {"i < n": "i + 1 < n"}),
    "one too many": Wrong("out of bounds", {"i < n": "i <= n"}),
}
