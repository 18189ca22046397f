"""A product of a matrix in int8, with a scale for each row, and one vector."""

import numpy as np

from helpers.exercises.for_judges import *


def drawn(rng):
    return [(int(rng.integers(89, 140)), 4 * int(rng.integers(1, 40))) for _ in range(2)]


def launch(rng, size):
    n, k = size
    w, x = rng.integers(-127, 128, (n, k), np.int8), numbers(rng, k)
    if k >= 1 << 15:  # a sum of one sign, whose every part shows beside its roundings
        w, x = np.abs(w), np.abs(x)
    of_rows = scales(rng, n)
    return thin([In(w), In(x), In(of_rows)], w, x, of_rows)


def explain(launch, out, got):
    w, x, of_rows = (a.values.astype(float) for a in launch.arguments[:3])
    with np.errstate(all="ignore"):
        for made, words in (
            (w @ x, "Multiply each row's sum by its scale."),
            (w % 256 @ x * of_rows, "Weights have a sign: see the bytes as signed char."),
            (w @ x * of_rows[0], "Each row has its own scale, scales[row]."),
        ):
            known = np.isfinite(made) & np.isfinite(got)
            if known.sum() > 3 and np.allclose(made[known], got[known], 1e-3, 0):
                return words
        sums, right = (
            s[(s != 0) & (np.abs(s) < 1e5)] for s in (got / of_rows, out.expected / of_rows)
        )
    if sums.size and _is_whole(sums).all() and not _is_whole(right).all():
        return "Each row's sum is a whole number, and x has fractions: add up in float."
    return None


def _is_whole(sums):
    return np.abs(sums - np.rint(sums)) <= 1e-6 * np.abs(sums)


JUDGE = Judge(
    launch=launch,
    sizes=((1, 4), (7, 132), (9, 128), (33, 12), (8, 1004), (5, 0)),
    drawn=drawn,
    large=((33_000, 4), (1, 40_000)),
    far=lambda rng: far_rows(launch(rng, (24, 1024)), 4_310_001, 8),
    counted=(64, 2048),
    budget={"ld.requests": 64 * 33, "ld.sectors": 64 * (64 + 256) + 64},
    limits={"barriers": None, "instructions": 2},
    advice={"ld.requests": "Load four weights at a time: a char4 has 4 bytes, a float4 has 16."},
    explain=explain,
    survivors={"lane != 0": "all lanes have the sum", "lane == 1": "all lanes have the sum"},
)
