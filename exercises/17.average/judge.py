"""A step of gradient descent that leaves all ranks with the same bits."""

import numpy as np

from helpers.exercises.launches import (
    FAR,
    PAST,
    SIZES,
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
    planted,
    scales,
)  # fmt: skip

__all__ = ["SIZES", "drawn"]


def launch(rng, n):
    ranks = [numbers(rng, n) * scales(rng, n) for _ in range(4)]
    a, b, c, d = ranks
    planted(rng, a, 3e30, -3e30, np.inf, np.nan)
    w, rate = numbers(rng, n), np.float32(rng.uniform(0.01, 0.9))
    out = Out(w - rate * ((a + b + c + d) / np.float32(4)), initial=w, bits=True)
    return Launch([*map(In, ranks), out, np.int64(n), rate], blocks_for(n), 256, what=f"n = {n}")


inputs = elementwise


def far(rng):
    *ranks, w = (far_numbers(rng) for _ in range(5))
    rate = np.float32(rng.uniform(0.01, 0.9))
    a, b, c, d = (rank.pieces for rank in ranks)
    w.expected = {
        at: old - rate * ((a[at] + b[at] + c[at] + d[at]) / np.float32(4))
        if at in (0, PAST)
        else old
        for at, old in w.pieces.items()
    }
    return far_launch([*ranks, w, np.int64(FAR), rate])


LARGE = (70_003,)
COUNTED = 1 << 14
BUDGET = {"ld.sectors": (10240, 10240), "st.sectors": (2048, 2048)}
ROUNDING = (
    "Round the product with the rate by itself, `__fmul_rn`, and add in the order a, b, c, d."
)

SUM = "(a[i] + b[i] + c[i] + d[i]) / 4"
WRONG = {
    "fused": Wrong("values", {f"__fmul_rn(rate, {SUM})": f"rate * ({SUM})"}),
    "a sum for a mean": Wrong("values", {") / 4": ")"}),
    "each rank's own step": Wrong("values", {SUM: "a[i]"}),
    "one rank is missing": Wrong("values", {" + d[i]": ""}),
    "another order": Wrong("values", {SUM: "(d[i] + c[i] + b[i] + a[i]) / 4"}),
    "the rate in each term": Wrong("values", {f"__fmul_rn(rate, {SUM})": "(rate * a[i] + rate * b[i] + rate * c[i] + rate * d[i]) / 4"}),
    "uphill": Wrong("values", {"w[i] -=": "w[i] +="}),
    "no guard": Wrong("out of bounds", {"if (i < n) ": ""}),
}  # fmt: skip
