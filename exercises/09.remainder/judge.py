"""Floored remainders of integers."""

import numpy as np

from helpers.exercises.launches import (
    Far,
    In,
    Launch,
    Out,
    Wrong,
    blocks_for,
    elementwise,
    near,
    pieces,
)

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


def far(rng):
    n = (1 << 32) + 77
    blocks, i = near(n, n - 1)
    a, b = pairs(rng, i.size)
    read = [Far(n, "i4", pieces(i, values)) for values in (a, b)]
    out = Far(n, "i4", expected=pieces(i, np.mod(a, b)))
    arguments = [*read, out, np.int64(n)]
    return Launch(arguments, blocks_for(n), 256, what=f"n = {n:,}", blocks=blocks)


SPARE = 128
inputs = elementwise
COUNTED = 1 << 14
BUDGET = {"ld.sectors": 4096, "st.sectors": 2048}

TEST = "r != 0 && (r < 0) != (b[i] < 0)"
WRONG = {
    "blocks of 256": Wrong(
        "blocks of 128", {"blockIdx.x * (long long)blockDim.x": "blockIdx.x * 256LL"}
    ),
    "zeros": Wrong("values", {"out[i] = r": "out[i] = 0 * r"}),
    "the sign of a": Wrong("values", {TEST: "false"}),
    "of a positive divisor": Wrong("values", {TEST: "r < 0"}),
    "zero, too": Wrong("values", {"r != 0 && ": ""}),
    "never negative": Wrong("values", {"? r + b[i] : r": "? abs(r + b[i]) : abs(r)"}),
    "minus": Wrong("values", {"r + b[i]": "r - b[i]"}),
    "plus b, and again": Wrong(
        "values", {TEST: "true", "? r + b[i] : r": "? (r + b[i]) % b[i] : 0"}
    ),
    "the sign of a product": Wrong("values", {TEST: "r != 0 && r * b[i] < 0"}),
    "in floats": Wrong("values", {"int r = a[i] % b[i]": "float r = fmodf(a[i], b[i])"}),
    "the quotient in floats": Wrong(
        "values", {"a[i] % b[i]": "a[i] - b[i] * (int)floorf((float)a[i] / b[i])"}
    ),
    "in 16 bits": Wrong("values", {"int r": "short r"}),
    "places in 32 bits": Wrong("4,294,967", {"out[i] = r": "out[(int)i] = r"}),
    "no guard": Wrong("out of bounds", {"if (i >= n) return;": ""}),
    "a guard for the last block": Wrong(
        "blocks of 128", {"i >= n": "blockIdx.x == gridDim.x - 1 && i >= n"}
    ),
    "magnitudes": Wrong("values", {"a[i] % b[i]": "abs(a[i]) % abs(b[i])"}),
}

SURVIVORS = {
    "r <= 0": "where it counts, r is not 0",
    "r < 1": "where it counts, r is not 0",
    "b[i] <= 0": "no b is 0",
    "b[i] < 1": "no b is 0",
}
