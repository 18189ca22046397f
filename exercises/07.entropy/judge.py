"""Cross-entropy of rows."""

import numpy as np

from helpers import checks
from helpers.exercises.launches import In, Launch, Out, Wrong, numbers

SIZES = (1, 1), (3, 31), (4, 128), (5, 129), (2, 1009)


def launch(rng, size):
    batch, hidden = size
    x = numbers(rng, batch, hidden) * np.float32(40)
    x[::2] -= 300  # no element above 0
    label = rng.integers(0, hidden, batch, np.int32)
    drop = x.astype(float) - x.max(1, keepdims=True)
    log_sum = np.log(np.exp(drop).sum(1))
    own = drop[np.arange(batch), label]
    u = checks.roundoff("float32")
    of_sum = checks.gamma(hidden + 16, "float32") + u * np.abs(np.where(drop > -104, drop, 0)).max(
        1
    )
    out = Out(log_sum - own, 3 * u * (np.abs(own) + log_sum) + of_sum + 4 * u * log_sum)
    return Launch(
        [In(x), In(label), out, np.int64(hidden)], batch, 128, what=f"{batch} rows of {hidden}"
    )


COUNTED = 16, 1024
BUDGET = {"ld.sectors": (4128, 4200), "st.sectors": 16}

WRONG = {
    "without the maximum": Wrong("values", {"expf(x[start + i] - peak)": "expf(x[start + i])"}),
    "the label's score forgotten": Wrong("values", {"- (x[start + label[blockIdx.x]] - peak)": ""}),
    "the wrong sign": Wrong(
        "values",
        {
            "logf(sum) - (x[start + label[blockIdx.x]] - peak)": "x[start + label[blockIdx.x]] - peak - logf(sum)"
        },
    ),
    "row 0's label": Wrong("values", {"label[blockIdx.x]": "label[0]"}),
    "row 0's scores": Wrong("values", {"x[start + label[blockIdx.x]]": "x[label[blockIdx.x]]"}),
    "classes from 1": Wrong(
        "values|out of bounds", {"x[start + label[blockIdx.x]]": "x[start + label[blockIdx.x] - 1]"}
    ),
    "a thread's own sum": Wrong("values", {"sum = block_reduce(sum, Sum<float>());": ""}),
    "log of the softmax": Wrong(
        "values",
        {
            "logf(sum) - (x[start + label[blockIdx.x]] - peak)": "-logf(expf(x[start + label[blockIdx.x]] - peak) / sum)"
        },
    ),
    "zeros": Wrong("values", {"loss[blockIdx.x] = logf(sum)": "loss[blockIdx.x] = 0 * logf(sum)"}),
}

SURVIVORS = {
    "tid == 1": "all threads have what block_reduce returns",
}
