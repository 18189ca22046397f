"""Products of floats by tf32, in three parts."""

import numpy as np

from helpers.exercises.distant import far_rows
from helpers.exercises.judges import Judge
from helpers.exercises.launches import In, Launch, Out, several
from helpers.exercises.values import numbers


def drawn(rng):
    return [(int(rng.integers(3, 6)), 8 * int(rng.integers(5, 12))), (11, 16)]


def launch(rng, size):
    n, k = size
    a, b = numbers(rng, n, 16, k), numbers(rng, n, k, 8)
    if k > 1000:  # what is left out of a sum in which nothing cancels shows
        a, b = abs(a), abs(b)
    if n > 1:
        a[-1, 5, 3] = np.nan
    sums, sizes = (f(a).astype(float) @ f(b).astype(float) for f in (np.array, np.abs))
    # left out: rest times rest, below 2^-20, and of each rest what is past its own 10 bits, below
    # 2^-21; cut off in each of 3 k / 8 sums: below 11 parts of 2^-24.
    out = Out(sums, (2.0**-20 + 2 * 2.0**-21 + 3 * k / 8 * 11 * 2.0**-24) * sizes)
    return Launch([In(a), In(b), out, np.int32(k)], n, 32, what=f"{several(n, 'product')}, k = {k}")


def far(rng):
    return far_rows(launch(rng, (5, 64)), 34_000_000)


JUDGE = Judge(
    launch=launch,
    sizes=((1, 8), (2, 40)),
    drawn=drawn,
    large=((3, 40_000),),
    undefined={
        "inf": "what is left of an infinity is a NaN",
    },
    far=far,
    counted=(8, 32),
    budget={"hmma": 96},
    limits={"instructions": 4},
    idea={
        "hmma": (
            96,
            "One product of truncated numbers has three digits. What did truncation leave out?",
        )
    },
    advice={
        "hmma": "Three products are enough: which of pq, ps, rq and rs is too small to matter?"
    },
    without={
        r"\bfma\b|\bmul\.(rn\.)?f32\b": "Let the tensor cores multiply: subtract, and call"
        " multiply."
    },
)
