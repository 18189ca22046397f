"""out = min(x, most), by the guard of an article: `index > num`."""

import numpy as np

from helpers.exercises.launches import (
    FAR,
    Far,
    In,
    Launch,
    Out,
    Wrong,
    blocks_for,
    elementwise,
    far_launch,
    far_numbers,
    far_results,
    numbers,
    planted,
)


def launch(rng, n):
    most = np.float32(rng.normal())
    x = planted(rng, numbers(rng, n), np.inf, -np.inf, most, 1e38)
    out = Out(np.minimum(x, most))
    return Launch([In(x), out, most, np.int64(n)], grid=blocks_for(n), block=256)


def far(rng):
    x, most = far_numbers(rng), np.float32(rng.uniform(0, 1))
    out = Far(FAR, np.float32, expected=far_results(x, lambda v: np.minimum(v, most)))
    return far_launch([x, out, most, np.int64(FAR)])


SPARE = 128
inputs = elementwise
COUNTED = 1 << 16
BUDGET = {"ld.sectors": (8192, 10240), "st.sectors": (8192, 10240)}

WRONG = {
    "no guard": Wrong("out of bounds", {"if (i >= n) return;": ""}),
    "one too few": Wrong("values|out of bounds", {"i >= n": "i >= n - 1"}),
    "whole blocks only": Wrong("values", {"i >= n": "i >= n / 256 * 256"}),
    "zeros": Wrong("values", {"value > most ? most : value": "0"}),
    "not bounded": Wrong("values", {"value > most ? most : value": "value"}),
    "the thread for a guard": Wrong("out of bounds", {"i >= n": "threadIdx.x >= n"}),
    "fetched before the guard": Wrong(
        "out of bounds",
        {"if (i >= n) return;\n    float value = x[i];": "float value = x[i]; if (i >= n) return;"},
    ),
    "the last one fetched again": Wrong(
        "out of bounds",
        {
            "if (i >= n) return;": "",
            "= x[i]": "= x[i < n ? i : n - 1]",
            "out[i] =": "if (i < n) out[i] =",
        },
    ),
    "an int for a guard": Wrong("fault|values|sanitizer|launch", {"i >= n": "(int)i >= (int)n"}),
    "most of its own": Wrong("values", {"> most ? most": "> 0.5f ? 0.5f"}),
}

SURVIVORS = {
    "value >= most": "where they are equal, both are right",
}
