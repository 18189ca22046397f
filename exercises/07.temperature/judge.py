"""Softmax at a temperature."""

import numpy as np

from helpers import checks
from helpers.exercises.launches import In, Launch, Out, Wrong, drawn_rows, far_rows, numbers

SIZES = (1, 1), (3, 31), (4, 128), (5, 129), (2, 1009)

drawn = drawn_rows


def launch(rng, size):
    batch, hidden = size
    t = np.float32(10 ** (-2 if batch % 2 else 2) * rng.uniform(0.3, 3))
    x = numbers(rng, batch, hidden) * t * 10 ** rng.uniform(0, 1.5, (batch, 1)).astype(np.float32)
    x[::2] -= x[::2].max(1, keepdims=True) + 1000 * t  # no element above 0
    scaled = x.astype(float) / t
    # the division by t is one more rounding of the exponent
    tolerance = 2 * checks.softmax_tolerance((x / t).astype(np.float32))
    y = checks.softmax(scaled)
    rounding = 4 * checks.roundoff("float32") * np.abs(scaled).max(1, keepdims=True)
    out = Out(y, tolerance + rounding * y)
    what = f"{batch} rows of {hidden}, t = {t:.6g}"
    return Launch([In(x), out, t, np.int64(hidden)], batch, 128, what=what)


def far(rng):
    return far_rows(launch(rng, (5, 65_600)), 65_700)


COUNTED = 16, 1024
BUDGET = {"ld.sectors": 6144, "st.sectors": 2048}
WARPS = 1.5

SUM = "sum += expf((x[start + i] - peak) / t);"
WRONG = {
    "one warp adds up, the others wait": Wrong(
        "one warp",
        {
            "for (long long i = tid; i < hidden; i += threads) sum": "if (tid < 32) for (long long i = tid; i < hidden; i += 32) sum"
        },
    ),
    "no temperature": Wrong("values", {" / t)": ")"}),
    "times t": Wrong("values", {"/ t)": "* t)"}),
    "a tenth or more": Wrong("values", {"/ t)": "/ fmaxf(t, 0.1f))"}),
    "ten or less": Wrong("values", {"/ t)": "/ fminf(t, 10.f))"}),
    "the maximum of 0 and the row's": Wrong("values", {"peak = -INFINITY": "peak = 0"}),
    "no more than 1024 columns": Wrong("values", {"i < hidden": "i < hidden && i < 1024"}),
    "an int for the place": Wrong(
        "65,700 rows",
        {
            "long long start = blockIdx.x * hidden,": "int start = blockIdx.x * (int)hidden; long long"
        },
    ),
    "in one place only": Wrong("values", {SUM: "sum += expf(x[start + i] - peak);"}),
    "without the maximum": Wrong("values", {"- peak) / t": ") / t"}),
    "the maximum is not divided": Wrong(
        "values", {"(x[start + i] - peak) / t": "x[start + i] / t - peak"}
    ),
    "not divided by the sum": Wrong("values", {") / sum;": ");"}),
    "a thread's own sum": Wrong("values", {"sum = block_reduce(sum, Sum<float>());": ""}),
    "zeros": Wrong("values", {"y[start + i] = expf": "y[start + i] = 0 * expf"}),
}
