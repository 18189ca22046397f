"""A compensated sum: Kahan's bound, 2u + O(n u^2) times the sum of magnitudes."""

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

SIZES = 1, 2, 33, 257, 1009, 16411, 70_001, 0


def launch(rng, n):
    x = lossy(rng, n)
    if (
        n > 1000
    ):  # all others together are some last places of the first: a sum of pieces loses them
        x[0] = abs(x[1:].sum(dtype=float)) * 2.0 ** rng.integers(17, 23)
    u = checks.roundoff(np.float32)
    tolerance = (2 * u + 8 * n * u**2) * float(np.abs(x).sum(dtype=float))
    return Launch([In(x), Out(np.array([math.fsum(x)]), tolerance), np.int64(n)], grid=1, block=1)


COUNTED = 1 << 10
BUDGET = {"ld.requests": 1024, "st.requests": 1}
ROUNDING = (
    "Floats are enough: follow y, t and lost through two additions by hand, signs included. What is"
    " lost in one must come back in the next."
)
WITHOUT = {r"\.f64\b": "Use floats only."}

WRONG = {
    "zero": Wrong("values", {"*out = sum": "*out = 0"}),
    "a plain loop": Wrong("values", {"lost = (t - sum) - y;": ""}),
    "the wrong sign": Wrong("values", {"x[i] - lost": "x[i] + lost"}),
    "lost beyond repair": Wrong("values", {"(t - sum) - y": "t - (sum + y)"}),
    "a double": Wrong("Use floats|f64|double", {"float sum": "double sum"}),
    "a double for what is lost": Wrong("Use floats|f64|double", {"float lost": "double lost"}),
    "a short for the place": Wrong(
        "fault|out of|values|time", {"(long long i": "(unsigned short i"}
    ),
    "pieces of 64": Wrong(
        "values",
        "float sum = 0; for (long long first = 0; first < n; first += 64) { float piece = 0;"
        " for (long long i = first; i < n && i < first + 64; ++i) piece += x[i]; sum += piece; }"
        " *out = sum;",
    ),
    "pieces of pieces of 32": Wrong(
        "values",
        "float sum = 0; for (long long a = 0; a < n; a += 1024) { float large = 0;"
        " for (long long b = a; b < n && b < a + 1024; b += 32) { float small = 0;"
        " for (long long i = b; i < n && i < b + 32; ++i) small += x[i]; large += small; }"
        " sum += large; } *out = sum;",
    ),
    "fixed point": Wrong(
        "values",
        "long long sum = 0; for (long long i = 0; i < n; ++i) sum += llrintf(x[i] * 65536.f);"
        " *out = sum / 65536.f;",
    ),
    "around 1000": Wrong(
        "values",
        "float sum = 0; for (long long i = 0; i < n; ++i) sum += x[i] - 1000.f;"
        " *out = 1000.f * n + sum;",
    ),
    "sum first": Wrong(
        "values", {"lost = (t - sum) - y;\n        sum = t;": "sum = t; lost = (t - sum) - y;"}
    ),
    "without the last": Wrong("values", {"i < n": "i + 1 < n"}),
    "one too many": Wrong("out of bounds", {"i < n": "i <= n"}),
}
