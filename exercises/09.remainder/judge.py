"""Floored remainders of integers."""

import numpy as np

from helpers.exercises.launches import In, Launch, Out, Wrong, blocks_for


def launch(rng, n):
    a, b = rng.integers(-20, 20, n, np.int32), rng.integers(1, 9, n, np.int32)
    b *= rng.choice(np.array([-1, 1], np.int32), n)
    out = Out(np.mod(a, b), dtype=np.int32)
    return Launch([In(a), In(b), out, np.int64(n)], blocks_for(n), 256)


SIZES = 31, 32, 33, 255, 257, 1009, 0
COUNTED = 1 << 14
BUDGET = {"ld.sectors": 4096, "st.sectors": 2048}

TEST = "r != 0 && (r < 0) != (b[i] < 0)"
WRONG = {
    "zeros": Wrong("values", {"out[i] = r": "out[i] = 0 * r"}),
    "the sign of a": Wrong("values", {TEST: "false"}),
    "of a positive divisor": Wrong("values", {TEST: "r < 0"}),
    "zero, too": Wrong("values", {"r != 0 && ": ""}),
    "never negative": Wrong("values", {"? r + b[i] : r": "? abs(r + b[i]) : abs(r)"}),
    "minus": Wrong("values", {"r + b[i]": "r - b[i]"}),
    "no guard": Wrong("out of bounds", {"if (i >= n) return;": ""}),
    "magnitudes": Wrong("values", {"a[i] % b[i]": "abs(a[i]) % abs(b[i])"}),
}

SURVIVORS = {
    "r <= 0": "where it counts, r is not 0",
    "r < 1": "where it counts, r is not 0",
    "b[i] <= 0": "no b is 0",
    "b[i] < 1": "no b is 0",
}
