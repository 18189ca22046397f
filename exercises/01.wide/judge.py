"""A sum by one thread, to within one rounding."""

import math

import numpy as np

from helpers import checks
from helpers.exercises.launches import In, Launch, Out, Wrong, numbers

SIZES = 1, 2, 33, 257, 1009, 4001, 0


def launch(rng, n):
    x = numbers(rng, n) + np.float32(1000)
    sum = math.fsum(x)
    tolerance = checks.roundoff(np.float32) * abs(sum) + checks.sum_tolerance(
        x, accumulator="double"
    )
    return Launch([In(x), Out(np.array([sum]), tolerance), np.int64(n)], grid=1, block=1)


COUNTED = 1 << 10
BUDGET = {"ld.requests": 1024, "st.requests": 1}

WRONG = {
    "zero": Wrong("values", {"*out = sum": "*out = 0"}),
    "float": Wrong("values", {"double sum": "float sum"}),
    "element 0": Wrong("values|out of bounds", {"i < n": "i < 1"}),
    "without the last": Wrong("values", {"i < n": "i + 1 < n"}),
    "one too many": Wrong("out of bounds", {"i < n": "i <= n"}),
    "onto yesterday's": Wrong("uninitialised|values", {"*out = sum": "*out += sum"}),
    "nothing for no elements": Wrong("values|counters", {"*out = sum": "if (n) *out = sum"}),
    "added in memory": Wrong(
        "values|counters", "*out = 0; for (long long i = 0; i < n; ++i) *out += x[i];"
    ),
}
