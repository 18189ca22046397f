"""Sums of warps, the last of which is not whole."""

import numpy as np

from helpers import checks
from helpers.exercises.launches import In, Launch, Out, Wrong, blocks_for, numbers


def launch(rng, n):
    x = numbers(rng, n)
    rows = np.zeros(-(-n // 32) * 32, np.float32)
    rows[:n] = x
    rows = rows.reshape(-1, 32)
    out = Out(rows.sum(1, dtype=float), checks.sum_tolerance(rows, axis=1, chain=5))
    return Launch([In(x), out, np.int64(n)], grid=blocks_for(n), block=256)


COUNTED = 1 << 14
BUDGET = {"ld.sectors": 2048, "st.sectors": 512}

WRONG = {
    "they leave first": Wrong("inactive", {"for (int by": "if (i >= n) return;\n    for (int by"}),
    "a mask of who is there": Wrong(
        "inactive|values",
        {
            "for (int by": "if (i >= n) return;\n    unsigned there = __activemask();\n    for (int by",
            "0xffffffff, sum": "there, sum",
        },
    ),
    "no guard to load": Wrong("out of bounds", {"i < n ? x[i] : 0.f": "x[i]"}),
    "no guard to store": Wrong("out of bounds", {" && i < n) out": ") out"}),
    "one step too few": Wrong("values", {"by = 16": "by = 8"}),
    "up": Wrong("values", {"__shfl_down_sync": "__shfl_up_sync"}),
    "zeros": Wrong("values", {"out[i / 32] = sum": "out[i / 32] = 0"}),
    "one for the missing": Wrong("values", {": 0.f": ": 1.f"}),
}
