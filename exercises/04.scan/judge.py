"""Inclusive scans of warps."""

import numpy as np

from helpers import checks
from helpers.exercises import launches
from helpers.exercises.launches import In, Launch, Out, Wrong, numbers

SIZES = 32, 64, 96, 512, 1024


def drawn(rng):
    return launches.drawn(rng, step=256)


def launch(rng, n):
    x = numbers(rng, n)
    rows = x.reshape(-1, 32).astype(float)
    tolerance = checks.gamma(5, np.float32) * np.abs(rows).cumsum(1)
    return Launch(
        [In(x), Out(rows.cumsum(1).ravel(), tolerance.ravel())],
        grid=-(-n // 256),
        block=min(n, 256),
    )


COUNTED = 1 << 12
BUDGET = {"ld.requests": 128, "ld.sectors": 512, "st.sectors": 512}

STEP = "float before = __shfl_up_sync(0xffffffff, sum, by);\n        if (lane >= by) sum += before;"
WRONG = {
    "no guard": Wrong("values", {"if (lane >= by) sum": "sum"}),
    "the shuffle in the if": Wrong(
        "inactive|values", {STEP: "if (lane >= by) sum += __shfl_up_sync(0xffffffff, sum, by);"}
    ),
    "down": Wrong("values", {"__shfl_up_sync": "__shfl_down_sync"}),
    "one step too few": Wrong("values", {"by < 32": "by < 16"}),
    "steps of one": Wrong("values|counters", {"by *= 2": "++by"}),
    "not the element itself": Wrong("values", {"out[i] = sum": "out[i] = sum - x[i]"}),
    "zeros": Wrong("values", {"out[i] = sum": "out[i] = 0"}),
    "only the total": Wrong(
        "values", {"out[i] = sum": "out[i] = __shfl_sync(0xffffffff, sum, 31)"}
    ),
    "by hand": Wrong(
        "counters",
        "long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; float sum = 0; for (long long k = i / 32 * 32; k <= i; ++k) sum += x[k]; out[i] = sum;",
    ),
}

SURVIVORS = {
    "by <= 32": "no lane is 32 or more",
    "by < 33": "no lane is 32 or more",
}
