"""Online softmax of rows with -inf in them, and of short rows."""

import numpy as np

from helpers import checks
from helpers.exercises.launches import In, Launch, Out, Wrong, numbers

SIZES = (3, 32), (1, 1), (3, 31), (4, 33), (2, 200)


def launch(rng, size):
    batch, hidden = size
    x = numbers(rng, batch, hidden) * np.float32(30)
    x[rng.random(x.shape) < 0.3] = -np.inf
    x[:, rng.integers(hidden)] = 5
    out = Out(checks.softmax(x), 2 * checks.softmax_tolerance(x))
    return Launch([In(x), out, np.int64(hidden)], batch, 32, what=f"{batch} rows of {hidden}")


COUNTED = 16, 1024
BUDGET = {"ld.sectors": 4096, "st.sectors": 2048}

GUARDS = "if (b.sum == 0) return a;\n    if (a.sum == 0) return b;\n"
WRONG = {
    "the wrong ones": Wrong(
        "values", {GUARDS: "if (b.sum == 0) return b;\n    if (a.sum == 0) return a;\n"}
    ),
    "not rescaled": Wrong("values", {"a.sum * expf(a.peak - peak)": "a.sum"}),
    "NaN to 0": Wrong(
        "values",
        {
            "expf(x[start + i] - row.peak) / row.sum": "fmaxf(0.f, expf(x[start + i] - row.peak) / row.sum)",
            GUARDS: "",
        },
    ),
    "the maximum only": Wrong("values", {"a.sum * expf(a.peak - peak) + ": ""}),
    "one step too few": Wrong("values", {"mask = 16": "mask = 8"}),
}

SURVIVORS = {
    "mask = 17": "17, 8, 4, 2 and 1 lead from each lane to all others, too",
    "row = {0, 0}": "a pair whose sum is 0 counts nothing, whatever its peak",
}
