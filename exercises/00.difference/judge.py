"""out[i] = x[i + 1] - x[i]."""

import numpy as np

from helpers.exercises.launches import (
    FAR,
    SPECIAL,
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
    x = planted(rng, numbers(rng, n), *SPECIAL)
    if n > 3:
        x[1:3] = np.inf  # whose difference is NaN
    return Launch([In(x), Out(_steps(x)), np.int64(n)], grid=blocks_for(n), block=256)


def _steps(x):
    with np.errstate(invalid="ignore"):
        return np.diff(x)


def far(rng):
    x = far_numbers(rng)
    out = Far(FAR - 1, np.float32, expected=far_results(x, _steps))
    return far_launch([x, out, np.int64(FAR)])


SPARE = 128
COUNTED = 1 << 16
# Neighbouring threads share sectors: x[i + 1] takes one more a warp than x[i], which takes 4.
BUDGET = {"ld.sectors": 18431, "st.sectors": 8192}

WRONG = {
    "zeros": Wrong("values", {"x[i + 1] - x[i]": "0"}),
    "the wrong way round": Wrong("values", {"x[i + 1] - x[i]": "x[i] - x[i + 1]"}),
    "the guard of n elements": Wrong("out of bounds", {"i + 1 < n": "i < n"}),
    "no guard": Wrong("out of bounds", {"if (i + 1 < n) ": ""}),
    "one too few": Wrong("values", {"i + 1 < n": "i + 2 < n"}),
    "unsigned guard": Wrong(
        "out of bounds", {"i + 1 < n": "(unsigned long long)i < (unsigned long long)n - 1"}
    ),
    "fetched before the guard": Wrong(
        "out of bounds",
        {
            "if (i + 1 < n)": "float a = x[i], b = x[i + 1]; if (i + 1 < n)",
            "x[i + 1] - x[i];": "b - a;",
        },
    ),
    "an int": Wrong("fault|values|sanitizer|launch", {"long long i": "int i"}),
    "an unsigned int": Wrong("values", {"long long i": "unsigned i"}),
    "no step between equals": Wrong(
        "values", {"x[i + 1] - x[i]": "x[i + 1] == x[i] ? 0 : x[i + 1] - x[i]"}
    ),
    "not across blocks": Wrong("values", {"i + 1 < n": "i + 1 < n && threadIdx.x < 255"}),
    "one block does all": Wrong(
        "counters",
        "for (long long i = threadIdx.x; !blockIdx.x && i + 1 < n; i += blockDim.x)"
        " out[i] = x[i + 1] - x[i];",
    ),
}
