"""Means of five neighbours through shared memory."""

import numpy as np

from helpers import checks
from helpers.exercises.launches import (
    FAR,
    Far,
    In,
    Launch,
    Out,
    Wrong,
    blocks_for,
    far_launch,
    far_numbers,
    far_results,
    numbers,
    planted,
)


def launch(rng, n):
    x = numbers(rng, n)
    if n > 33:
        x[[0, -1]] = np.inf, -np.inf  # times 0 they are no zeros
        x = planted(rng, x, np.nan)
    return Launch([In(x), Out(*_means(x)), np.int64(n)], grid=blocks_for(n), block=256)


def _means(x):
    """The means of five, and how far off each may be."""
    windows = np.lib.stride_tricks.sliding_window_view(np.pad(x, (2, 3)).astype(float), 5)[: x.size]
    means = windows.sum(1) / 5
    return means, np.where(
        np.isfinite(means), checks.gamma(6, np.float32) * np.abs(windows).sum(1) / 5, 0
    )


def far(rng):
    x = far_numbers(rng)
    out = Far(FAR, np.float32, expected=far_results(x, lambda v: _means(v)[0]))
    out.tolerance = max(_means(v)[1].max() for v in x.pieces.values())
    return far_launch([x, out, np.int64(FAR)])


COUNTED = 1 << 14
# threads that fetch their own element first, and the ends apart, ask for 2174, but take longer
BUDGET = {"ld.sectors": (2686, 2700), "st.sectors": 2048}
SHARED = "Each element is wanted by five threads: pass it through shared memory."
IDEA = {"lds.wavefronts": (512, SHARED)}

WRONG = {
    "five loads": Wrong(
        "sectors loaded",
        "long long i = blockIdx.x * 256LL + threadIdx.x; float sum = 0;"
        " for (int k = -2; k < 3; ++k) sum += at(x, i + k, n); if (i < n) out[i] = sum / 5;",
    ),
    "by atomics": Wrong(
        "atomics|inputs",
        {"x[i] : 0.f": "atomicAdd((float *)x + i, 0.f) : 0.f"},
    ),
    "the ends times 0": Wrong(
        "values",
        {
            "0 <= i && i < n ? x[i] : 0.f": "n ? x[min(max(i, 0ll), n - 1)] * (0 <= i && i < n) : 0.f"
        },
    ),
    "an int": Wrong("fault|values|sanitizer|launch", {"long long first": "int first"}),
    "an unsigned int": Wrong("values", {"long long first": "unsigned first"}),
    "no barrier": Wrong("race|syncwarp", {"    __syncthreads();\n": ""}),
    "no neighbours past the block": Wrong(
        "uninitialised|values",
        {"if (t < 4)": "if (t < 2)"},
    ),
    "zeros past the block": Wrong("values", {"at(x, first + t + 254, n)": "0"}),
    "one off": Wrong("values|out of bounds|uninitialised", {"s[t + k]": "s[t + k + 1]"}),
    "not divided": Wrong("values", {"sum / 5": "sum"}),
    "four of five": Wrong("values", {"k < 5": "k < 4"}),
    "no guard": Wrong("out of bounds", {"if (first + t < n) out": "out"}),
    "no ends": Wrong("out of bounds", {"0 <= i && i < n ? x[i] : 0.f": "x[i]"}),
}
