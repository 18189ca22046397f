"""A sum by one thread, to within one rounding."""

import math

import numpy as np

from helpers import checks
from helpers.exercises.launches import (
    In,
    Launch,
    Out,
    Wrong,
    lossy,
)

SIZES = 1, 2, 33, 257, 1009, 4001, 70_001, 0


def launch(rng, n):
    x, pairs = lossy(rng, n), (n - 1) // 2
    x[:pairs] = -x[n - pairs :]  # all but one or two cancel out: an error is large beside the sum
    rng.shuffle(x)
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
    "a short for the place": Wrong(
        "fault|out of|values|time", {"(long long i": "(unsigned short i"}
    ),
    "pairs in float": Wrong(
        "values",
        "double sum = 0; for (long long i = 0; i + 1 < n; i += 2) sum += x[i] + x[i + 1];"
        " if (n % 2) sum += x[n - 1]; *out = sum;",
    ),
    "fixed point": Wrong(
        "values",
        "long long sum = 0; for (long long i = 0; i < n; ++i) sum += llrint(x[i] * 16384.);"
        " *out = sum / 16384.;",
    ),
    "onto yesterday's": Wrong("uninitialised|values", {"*out = sum": "*out += sum"}),
    "nothing for no elements": Wrong("values|counters", {"*out = sum": "if (n) *out = sum"}),
    "added in memory": Wrong(
        "values|counters", "*out = 0; for (long long i = 0; i < n; ++i) *out += x[i];"
    ),
}
