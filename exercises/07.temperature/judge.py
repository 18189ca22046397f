"""Softmax at a temperature."""

import numpy as np

from helpers import checks
from helpers.exercises.launches import In, Launch, Out, Wrong, numbers

SIZES = (1, 1), (3, 31), (4, 128), (5, 129), (2, 1009)


def launch(rng, size):
    batch, hidden = size
    t = np.float32(rng.choice([0.25, 3.0]))
    x = numbers(rng, batch, hidden) * np.float32(30)
    x[::2] -= 300  # no element above 0
    scaled = x.astype(float) / t
    # the division by t is one more rounding of the exponent
    tolerance = 2 * checks.softmax_tolerance((x / t).astype(np.float32))
    out = Out(checks.softmax(scaled), tolerance)
    what = f"{batch} rows of {hidden}, t = {t}"
    return Launch([In(x), out, t, np.int64(hidden)], batch, 128, what=what)


COUNTED = 16, 1024
BUDGET = {"ld.sectors": 6144, "st.sectors": 2048}

SUM = "sum += expf((x[start + i] - peak) / t);"
WRONG = {
    "no temperature": Wrong("values", {" / t)": ")"}),
    "times t": Wrong("values", {"/ t)": "* t)"}),
    "in one place only": Wrong("values", {SUM: "sum += expf(x[start + i] - peak);"}),
    "without the maximum": Wrong("values", {"- peak) / t": ") / t"}),
    "the maximum is not divided": Wrong(
        "values", {"(x[start + i] - peak) / t": "x[start + i] / t - peak"}
    ),
    "not divided by the sum": Wrong("values", {") / sum;": ");"}),
    "a thread's own sum": Wrong("values", {"sum = block_reduce(sum, Sum<float>());": ""}),
    "zeros": Wrong("values", {"y[start + i] = expf": "y[start + i] = 0 * expf"}),
}
