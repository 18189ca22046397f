"""A count that must not round."""

import numpy as np

from helpers.exercises.launches import (
    Far,
    In,
    Launch,
    Out,
    Wrong,
    numbers,
    planted,
)

SIZES = 1, 33, 1009, 10007, 70_001, 0


def launch(rng, n):
    x, limit = numbers(rng, n), np.float32(rng.normal())
    x[rng.integers(0, n, n // 9)] = limit  # which is not above it
    near = np.nextafter(limit, [np.inf, -np.inf], dtype=np.float32)
    x = planted(rng, x, *near, np.inf, -np.inf, np.nan)
    out = Out(np.array([np.count_nonzero(x > limit)]), dtype=np.int32)
    return Launch([In(x), out, limit, np.int64(n)], grid=1, block=1)


def far(rng):
    """More of them than a float counts one by one: 2**24."""
    n = 2**24 + int(rng.integers(70_000))
    x, out = Far(n, np.float32), Far(1, np.int32, expected={0: [n]})
    return Launch([x, out, np.float32(-1), np.int64(n)], 1, 1, what=f"n = {n:,}")


COUNTED = 1 << 10
BUDGET = {"ld.requests": (1024, 1280), "st.requests": 1}

WRONG = {
    "zero": Wrong("values", {"*out = count": "*out = 0"}),
    "all": Wrong("values", {"if (x[i] > limit) ++count": "++count"}),
    "those below": Wrong("values", {"x[i] > limit": "x[i] < limit"}),
    "a float": Wrong("values", {"int count": "float count"}),
    "halves in pieces, floats in all": Wrong(
        "values", {"int count": "float count", "++count": "count += float(half(1))"}
    ),
    "a short": Wrong("values", {"int count": "short count"}),
    "an unsigned short": Wrong("values", {"int count": "unsigned short count"}),
    "a short for the place": Wrong(
        "fault|out of|values|time", {"(long long i": "(unsigned short i"}
    ),
    "a limit of its own": Wrong("values", {"x[i] > limit": "x[i] > -1.5f"}),
    "the limit as a half": Wrong("values", {"x[i] > limit": "half(x[i]) > half(limit)"}),
    "NaN is above": Wrong("values", {"x[i] > limit": "!(x[i] <= limit)"}),
    "what equals the limit": Wrong("values", {"x[i] > limit": "x[i] >= limit"}),
    "a byte": Wrong("values", {"int count": "signed char count"}),
    "stops at 4096": Wrong("values", {"++count": "count += count < 4096"}),
    "one too many": Wrong("out of bounds", {"i < n": "i <= n"}),
    "onto yesterday's": Wrong("uninitialised|values", {"*out = count": "*out += count"}),
}
