"""out = 2 x, an element a thread."""

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
    elementwise,
    far_launch,
    far_numbers,
    far_results,
    numbers,
    planted,
)


def launch(rng, n):
    x = planted(rng, numbers(rng, n), *SPECIAL)
    return Launch([In(x), Out(2 * x), np.int64(n)], grid=blocks_for(n), block=256)


def far(rng):
    x = far_numbers(rng)
    out = Far(FAR, np.float32, expected=far_results(x, lambda v: 2 * v))
    return far_launch([x, out, np.int64(FAR)])


SPARE = 256
inputs = elementwise
COUNTED = 1 << 16
BUDGET = {"ld.sectors": 8192, "st.sectors": 8192}

ALL = "for (long long i = threadIdx.x; i < n; i += blockDim.x) out[i] = 2 * x[i];"
WRONG = {
    "zeros": Wrong("values", {"2 * x[i]": "0"}),
    "nothing written": Wrong("values", {"out[i] = 2 * x[i]": "return"}),
    "yesterday's output": Wrong("values", {"2 * x[i]": "out[i]"}),
    "element 0 only": Wrong("values", {"i < n": "i == 0 && n"}),
    "no guard": Wrong("out of bounds", {"if (i < n) ": ""}),
    "one too many": Wrong("out of bounds", {"i < n": "i <= n"}),
    "whole blocks only": Wrong("values", {"i < n": "i < n / 256 * 256"}),
    "the first block only": Wrong("values", {"blockIdx.x * (long long)blockDim.x + ": ""}),
    "adds in place of doubling": Wrong("values", {"2 * x[i]": "2 + x[i]"}),
    "in place": Wrong("sanitizer|inputs|values", {"out[i] = 2 * x[i]": "((float *)x)[i] *= 2"}),
    "one block does all": Wrong("counters: one of 256", f"if (blockIdx.x == 0) {ALL}"),
    "every block does all": Wrong("double write|counters", ALL),
    "fetched before the guard": Wrong(
        "out of bounds",
        {"if (i < n) out[i] = 2 * x[i]": "float v = x[i]; if (i < n) out[i] = 2 * v"},
    ),
    "an int": Wrong("fault|values|sanitizer|launch", {"long long i": "int i"}),
    "an unsigned int": Wrong("values", {"long long i": "unsigned i"}),
    "n as an int": Wrong("values", {"i < n": "i < (int)n"}),
    "8 blocks": Wrong("double|race|values", {"blockIdx.x *": "blockIdx.x % 8 *"}),
    "NaN lost": Wrong("values", {"2 * x[i]": "x[i] > 0 || x[i] < 0 ? 2 * x[i] : 0"}),
    "a wait": Wrong(
        "instructions",
        {"if (i < n)": "for (long long t = clock64(); clock64() - t < 20000;); if (i < n)"},
    ),
    "strided": Wrong(
        "counters: sectors",
        "long long t = blockIdx.x * (long long)blockDim.x + threadIdx.x,"
        " all = gridDim.x * (long long)blockDim.x, i = t % 256 * (all / 256) + t / 256;"
        " if (i < n) out[i] = 2 * x[i];",
    ),
}
