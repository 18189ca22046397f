"""Online softmax of rows with -inf in them, and of short rows."""

import numpy as np

from helpers import checks
from helpers.exercises.launches import (
    In,
    Launch,
    Out,
    Wrong,
    drawn_rows,
    far_rows,
    numbers,
    with_nan,
)

SIZES = (3, 32), (1, 1), (12, 31), (4, 33), (12, 70), (2, 200)

drawn = drawn_rows


def launch(rng, size):
    batch, hidden = size
    x = numbers(rng, batch, hidden) * np.float32(30)
    x[4::8] = np.round(x[4::8] / 60)  # many are 0
    x[rng.random(x.shape) < 0.3] = -np.inf
    x[:, rng.integers(hidden)] = 5
    x[1::4] = np.float32(-1e30) * rng.integers(2, 5, x[1::4].shape)
    with_nan(rng, x[2::4], 32)
    x[3::8] = -np.inf
    x[7::8] = np.finfo(np.float32).min
    x[5::8, rng.integers(hidden)] = np.inf  # less itself it is NaN
    out = Out(checks.softmax(x), 2 * checks.softmax_tolerance(x))
    return Launch([In(x), out, np.int64(hidden)], batch, 32, what=f"{batch} rows of {hidden}")


def far(rng):
    return far_rows(launch(rng, (5, 65_600)), 65_700)


COUNTED = 16, 1024
BUDGET = {"ld.sectors": 4096, "st.sectors": 2048}

PEAK = "fmaxf(LEAST, fmaxf(a.peak, b.peak));"
PLAIN = "fmaxf(a.peak, b.peak);"
GUARDS = "if (b.sum == 0) return a;\n    if (a.sum == 0) return b;"
NOTHING = "if (peak == -INFINITY) return {peak, 0};"
WRONG = {
    "the wrong ones": Wrong(
        "values", {PEAK: f"{PLAIN}\n    if (b.sum == 0) return b;\n    if (a.sum == 0) return a;"}
    ),
    "nothing where the maximum is -inf, which a NaN beside it is, too": Wrong(
        "values",
        {PEAK: f"{PLAIN}\n    {NOTHING}"},
    ),
    "-1e30 for nothing": Wrong("values", {PEAK: PLAIN, "row = {-INFINITY": "row = {-1e30f"}),
    "-1e38 for nothing": Wrong("values", {"-3.402823466e38f": "-1e38f"}),
    "-1000 for nothing": Wrong("values", {PEAK: PLAIN, "row = {-INFINITY": "row = {-1000.f"}),
    "NaN left out": Wrong(
        "values",
        {
            "{value, value == -INFINITY ? 0.f : 1.f}": "{value == value ? value : -INFINITY, value > -INFINITY ? 1.f : 0.f}"
        },
    ),
    "NaN and zero alike": Wrong(
        "values", {PEAK: f"{PLAIN}\n    {GUARDS}".replace("b.sum == 0", "!(b.sum > 0)")}
    ),
    "an int for the place": Wrong(
        "65,700 rows",
        {
            "long long start = blockIdx.x * hidden,": "int start = blockIdx.x * (int)hidden; long long"
        },
    ),
    "equal peaks are not subtracted": Wrong(
        "values",
        {
            "expf(a.peak - peak)": "(a.peak == peak ? 1 : expf(a.peak - peak))",
            "expf(b.peak - peak)": "(b.peak == peak ? 1 : expf(b.peak - peak))",
        },
    ),
    "infinity is a large number": Wrong(
        "values", {"float value = x[start + i]": "float value = fminf(x[start + i], 3.4e38f)"}
    ),
    "not rescaled": Wrong("values", {"a.sum * expf(a.peak - peak)": "a.sum"}),
    "NaN to 0": Wrong(
        "values",
        {
            "expf(x[start + i] - row.peak) / row.sum": "fmaxf(0.f, expf(x[start + i] - row.peak) / row.sum)",
            PEAK: PLAIN,
        },
    ),
    "the maximum only": Wrong("values", {"a.sum * expf(a.peak - peak) + ": ""}),
    "one step too few": Wrong("values", {"mask = 16": "mask = 8"}),
}

SURVIVORS = {
    "{-INFINITY, 1}": "-inf less a peak that is finite has the power 0, whatever it is multiplied by",
    "? 1.f : 1.f": "the same",
    "mask = 17": "17, 8, 4, 2 and 1 lead from each lane to all others, too",
}
