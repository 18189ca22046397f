"""Log-softmax, where a softmax would be 0."""

import numpy as np

from helpers import checks
from helpers.exercises.launches import In, Launch, Out, Wrong, numbers

SIZES = (1, 1), (3, 31), (4, 128), (5, 129), (2, 1009)


def launch(rng, size):
    batch, hidden = size
    x = numbers(rng, batch, hidden)
    x[::2] = 100 * x[::2] - 300  # far apart, and none above 0; in the other rows the sum counts
    drop = x.astype(float) - x.max(1, keepdims=True)
    log_sum = np.log(np.exp(drop).sum(1, keepdims=True))
    expected = drop - log_sum
    u = checks.roundoff("float32")
    # x - peak, the sum (relative error: that of exp and of the additions), its logarithm, the last -
    of_sum = checks.gamma(hidden + 16, "float32") + u * np.abs(np.where(drop > -104, drop, 0)).max(
        1, keepdims=True
    )
    tolerance = 2 * u * (np.abs(drop) + np.abs(expected)) + of_sum + 4 * u * log_sum
    return Launch(
        [In(x), Out(expected, tolerance), np.int64(hidden)],
        batch,
        128,
        what=f"{batch} rows of {hidden}",
    )


COUNTED = 16, 1024
BUDGET = {"ld.sectors": 6144, "st.sectors": 2048}

LAST = "x[start + i] - peak - rest"
WRONG = {
    "log of the softmax": Wrong("values", {LAST: "logf(expf(x[start + i] - peak) / sum)"}),
    "without the maximum": Wrong("values", {LAST: "x[start + i] - rest"}),
    "without the sum": Wrong("values", {LAST: "x[start + i] - peak"}),
    "plus": Wrong("values", {LAST: "x[start + i] - peak + rest"}),
    "the sum itself": Wrong("values", {"logf(sum)": "sum"}),
    "the softmax": Wrong("values", {LAST: "expf(x[start + i] - peak) / sum"}),
    "zeros": Wrong("values", {LAST: "0"}),
    "in another base": Wrong("values", {"logf(sum)": "log2f(sum)"}),
}
