"""A count that must not round."""

import numpy as np

from helpers.exercises.for_judges import *


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


JUDGE = Judge(
    launch=launch,
    sizes=(1, 33, 1009, 10007, 70_001, 0),
    far=far,
    counted=1 << 10,
    budget={"ld.requests": (1024, 1280), "st.requests": 1},
)
