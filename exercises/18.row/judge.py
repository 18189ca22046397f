"""A product of a matrix and one vector, in halves."""

import numpy as np

from helpers.exercises.for_judges import *

KIND = "float16"


def drawn(rng):
    return [(int(rng.integers(89, 140)), 8 * int(rng.integers(1, 40))) for _ in range(2)]


def launch(rng, size):
    n, k = size
    w, x = numbers(rng, n, k, dtype=KIND), numbers(rng, k, dtype=KIND)
    if k >= 1 << 15:  # a sum of one sign, whose every part shows beside its roundings
        w, x = np.abs(w), np.abs(x)
    return thin([In(w), In(x)], w, x)


JUDGE = Judge(
    launch=launch,
    sizes=((1, 8), (7, 264), (9, 256), (70, 40), (8, 1016), (5, 0)),
    drawn=drawn,
    large=((33_000, 8), (1, 40_000)),
    far=lambda rng: far_rows(launch(rng, (24, 1024)), 4_310_001, 8),
    counted=(64, 2048),
    budget={"ld.requests": 2 * 64 * 8, "ld.sectors": 2 * 64 * 128},
    limits={"barriers": None},
    advice={"ld.requests": "Load eight halves at a time: a uint4 has 16 bytes."},
    survivors={"lane != 0": "all lanes have the sum", "lane == 1": "all lanes have the sum"},
)
