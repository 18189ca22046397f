"""Every rank reads all arrays, and adds in one order."""

import numpy as np

from helpers.exercises.launches import (
    FAR,
    PAST,
    SIZES,
    Far,
    In,
    Launch,
    Out,
    Wrong,
    blocks_for,
    drawn,
    elementwise,
    far_launch,
    far_numbers,
    numbers,
    scales,
)  # fmt: skip

__all__ = ["SIZES", "drawn"]


def launch(rng, n):
    ranks = [numbers(rng, n) * scales(rng, n) for _ in range(4)]
    a, b, c, d = ranks
    a[:1], b[:2], d[1:2], c[2:3] = 3e38, 3e38, np.inf, np.nan
    out = Out(a + b + c + d, bits=True)
    return Launch([*map(In, ranks), out, np.int64(n)], blocks_for(n), 256, what=f"n = {n}")


def far(rng):
    ranks = [far_numbers(rng) for _ in range(4)]
    a, b, c, d = (rank.pieces for rank in ranks)
    expected = {at: a[at] + b[at] + c[at] + d[at] if at in (0, PAST) else [0] for at in a}
    return far_launch([*ranks, Far(FAR, np.float32, {}, expected), np.int64(FAR)])


inputs = elementwise
LARGE = (70_003,)
COUNTED = 1 << 14
BUDGET = {"ld.sectors": (8192, 8192), "st.sectors": (2048, 2048)}
ROUNDING = "Add a, b, c and d in this order: another rounds otherwise."

SUM = "a[i] + b[i] + c[i] + d[i]"
WRONG = {
    "one rank is missing": Wrong("values", {SUM: "a[i] + b[i] + c[i]"}),
    "its own array first": Wrong("values", {SUM: "c[i] + a[i] + b[i] + d[i]"}),
    "two pairs": Wrong("values", {SUM: "(a[i] + b[i]) + (c[i] + d[i])"}),
    "in doubles": Wrong("values", {SUM: "(double)a[i] + b[i] + c[i] + d[i]"}),
    "NaN left out": Wrong("values", {"out[i] = a[i] + b[i] + c[i] + d[i]": "out[i] = fminf(a[i] + b[i] + c[i] + d[i], INFINITY)"}),
    "a mean": Wrong("values", {SUM: f"({SUM}) / 4"}),
    "no guard": Wrong("out of bounds", {"if (i < n) ": ""}),
    "the last element": Wrong("values", {"i < n": "i < n - 1"}),
    "an int for the place": Wrong("n = 2,148,", {"long long i": "int i"}),
    "each rank twice": Wrong("counters", {SUM: "a[i] + b[i] + c[i] + d[i] + 0 * *(volatile const float *)(a + n - 1 - i)"}),
}  # fmt: skip
