"""Softmax of rows in two passes: a step of the course."""

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

OURS = "softmax/online.cu"
SIZES = (1, 1), (3, 31), (4, 129), (12, 200), (2, 1009)

drawn = drawn_rows


def launch(rng, size):
    batch, hidden = size
    x = numbers(rng, batch, hidden) * np.float32(30)
    x[rng.random(x.shape) < 0.2] = -np.inf
    x[:, rng.integers(hidden)] = 5
    x[1::3] -= np.float32(2000)
    with_nan(rng, x[2::4], 128)
    x[3::8] = -np.inf
    x[5::8, rng.integers(hidden)] = np.inf
    out = Out(checks.softmax(x), 2 * checks.softmax_tolerance(x))
    arguments = [In(x), out, np.int64(batch), np.int64(hidden)]
    return Launch(arguments, batch, 128, what=f"{batch} rows of {hidden}")


def far(rng):
    return far_rows(launch(rng, (5, 65_600)), 65_700)


COUNTED = 16, 1024
BUDGET = {"ld.sectors": 4096, "st.sectors": 2048}

MERGE = "row = op(row, op.from(x[start + i], i));"
WRONG = {
    "three passes": Wrong(
        "sectors loaded",
        {
            MERGE: "row.peak = max(row.peak, x[start + i]);",
            "row = block_reduce(row, op);": "row.peak = block_reduce(row.peak, Max<Acc>());"
            " for (long long i = tid; i < hidden; i += threads) row.sum += exp(x[start + i] - row.peak);"
            " row.sum = block_reduce(row.sum, Sum<Acc>());",
        },
    ),
    "merged without a guard": Wrong(
        "values",
        {
            MERGE: "{ Acc v = x[start + i], peak = max(row.peak, v);"
            " row = {peak, row.sum * exp(row.peak - peak) + exp(v - peak)}; }"
        },
    ),
    "NaN left out": Wrong("values", {MERGE: f"if (x[start + i] == x[start + i]) {MERGE}"}),
    "a thread's own pair": Wrong("values", {"row = block_reduce(row, op);": ""}),
    "without the maximum": Wrong("values", {" - row.peak": ""}),
    "not divided": Wrong("values", {" / row.sum": ""}),
    "an int for the place": Wrong(
        "65,700 rows",
        {
            "long long start = blockIdx.x * hidden,": "int start = blockIdx.x * (int)hidden; long long"
        },
    ),
}
