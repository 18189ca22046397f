"""Floored remainders of integers."""

import numpy as np

from helpers.exercises.for_judges import *

LEAST, MOST = np.iinfo(np.int32).min, np.iinfo(np.int32).max


def pairs(rng, n):
    """Of all sizes and signs, multiples and the outermost numbers among them."""
    a, b = (rng.integers(LEAST, MOST, n, np.int32, endpoint=True) for _ in "ab")
    a >>= rng.integers(0, 31, n, np.int32)
    b >>= rng.integers(0, 31, n, np.int32)
    edges = np.array([LEAST, LEAST + 1, MOST - 1, MOST, 0, 1, -1], np.int32)
    a[::5], b[1::7] = rng.choice(edges, a[::5].size), rng.choice(edges, b[1::7].size)
    b[b == 0] = 3
    a[::3] -= np.fmod(a[::3], b[::3])
    b[(a == LEAST) & (b == -1)] = 1  # their quotient is no int
    return a, b


def launch(rng, n):
    a, b = pairs(rng, n)
    out = Out(np.mod(a, b), dtype=np.int32)
    return Launch([In(a), In(b), out, np.int64(n)], blocks_for(n), 256)


def explain(launch, out, got):
    """Whether only those are wrong for which a sum or a product wraps around."""
    a, b = (argument.values.astype(np.int64) for argument in launch.arguments[:2])
    r, is_wrong = np.fmod(a, b), got != out.expected
    for value, advice in (
        (r + b, "r + b wraps where it does not fit an int: add b only where r needs it."),
        (r * b, "r · b wraps where it does not fit an int: compare the signs themselves."),
    ):
        wraps = (value < LEAST) | (value > MOST)
        if is_wrong.sum() > 1 and not (is_wrong & ~wraps).any():
            return advice
    return None


JUDGE = Judge(
    launch=launch,
    far=lambda rng: far_elements(launch(rng, 512 + 77), (1 << 32) + 77),
    spare=128,
    counted=1 << 14,
    budget={"ld.sectors": 4096, "st.sectors": 2048},
    inputs=same_place,
    explain=explain,
    survivors={
        "r <= 0": "where it counts, r is not 0",
        "r < 1": "where it counts, r is not 0",
        "b[i] <= 0": "no b is 0",
        "b[i] < 1": "no b is 0",
    },
)
