"""Cross-entropy of rows."""

import numpy as np

from helpers import checks
from helpers.exercises.launches import In, Launch, Out, Wrong, drawn_rows, far_rows, numbers

SIZES = (1, 1), (3, 31), (4, 128), (5, 129), (2, 1009)

drawn = drawn_rows


def launch(rng, size):
    batch, hidden = size
    x = numbers(rng, batch, hidden) * 10 ** rng.uniform(0, 4.5, (batch, 1)).astype(np.float32)
    x += rng.uniform(-3000, 3000, (batch, 1)).astype(np.float32)
    x[::2] -= x[::2].max(1, keepdims=True) + 9  # no element above 0
    label = rng.integers(0, hidden, batch, np.int32)
    label[-1] = hidden - 1 - label[-1] // 8
    drop = x.astype(float) - x.max(1, keepdims=True)
    log_sum = np.log(np.exp(drop).sum(1))
    own = drop[np.arange(batch), label]
    u = checks.roundoff("float32")
    of_sum = checks.gamma(hidden + 16, "float32") + u * np.abs(np.where(drop > -104, drop, 0)).max(
        1
    )
    out = Out(
        log_sum - own, 3 * u * (np.abs(own) + log_sum + np.abs(x).max(1)) + of_sum + 4 * u * log_sum
    )
    return Launch(
        [In(x), In(label), out, np.int64(hidden)], batch, 128, what=f"{batch} rows of {hidden}"
    )


def far(rng):
    return far_rows(launch(rng, (5, 65_600)), 65_700)


COUNTED = 16, 1024
BUDGET = {"ld.sectors": (4128, 4200), "st.sectors": 16}
WARPS = 1.5

WRONG = {
    "one warp adds up, the others wait": Wrong(
        "one warp",
        {
            "for (long long i = tid; i < hidden; i += threads) sum": "if (tid < 32) for (long long i = tid; i < hidden; i += 32) sum"
        },
    ),
    "without the maximum": Wrong("values", {"expf(x[start + i] - peak)": "expf(x[start + i])"}),
    "the label's score forgotten": Wrong("values", {"- (x[start + label[blockIdx.x]] - peak)": ""}),
    "the wrong sign": Wrong(
        "values",
        {
            "logf(sum) - (x[start + label[blockIdx.x]] - peak)": "x[start + label[blockIdx.x]] - peak - logf(sum)"
        },
    ),
    "the maximum of 0 and the row's": Wrong("values", {"peak = -INFINITY": "peak = 0"}),
    "losses of 1000 at most": Wrong(
        "values",
        {
            "= logf(sum) - (x[start + label[blockIdx.x]] - peak)": "= fminf(1000.f, logf(sum) - (x[start + label[blockIdx.x]] - peak))"
        },
    ),
    "a label of 10 bits": Wrong("values", {"label[blockIdx.x]]": "label[blockIdx.x] % 1024]"}),
    "no more than 1024 classes": Wrong("values", {"i < hidden": "i < hidden && i < 1024"}),
    "every thread looks": Wrong("race|double|counters", {"if (tid == 0) loss": "loss"}),
    "an int for the place": Wrong(
        "65,700 rows",
        {
            "long long start = blockIdx.x * hidden,": "int start = blockIdx.x * (int)hidden; long long"
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
