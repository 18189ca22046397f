"""out is x, the last element first."""

import numpy as np

from helpers.exercises.launches import (
    FAR,
    PAST,
    SPECIAL,
    Far,
    In,
    Launch,
    Out,
    Wrong,
    blocks_for,
    far_launch,
    far_numbers,
    numbers,
    planted,
)


def launch(rng, n):
    x = planted(rng, numbers(rng, n), *SPECIAL)
    return Launch([In(x), Out(x[::-1], bits=True), np.int64(n)], grid=blocks_for(n), block=256)


def far(rng):
    x = far_numbers(rng)
    first, _, last = x.pieces.values()
    x.pieces[FAR - 17 * 256] = numbers(rng, 256)  # for block 16
    out = Far(FAR, np.float32, expected={0: last[::-1], 16 * 256: [0], PAST: first[::-1]})
    return far_launch([x, out, np.int64(FAR)])


SPARE = 256


def inputs(launch, place):
    return [launch.arguments[0].values[-1 - place]]


COUNTED = 1 << 16
BUDGET = {"ld.sectors": 8192, "st.sectors": 8192}

WRONG = {
    "zeros": Wrong("values", {"x[n - 1 - i]": "0"}),
    "forwards": Wrong("values", {"n - 1 - i": "i"}),
    "one off": Wrong("out of bounds", {"n - 1 - i": "n - i"}),
    "no guard": Wrong("out of bounds", {"if (i < n) ": ""}),
    "turned within blocks": Wrong(
        "values|out of bounds", {"n - 1 - i": "blockIdx.x * 256 + 255 - threadIdx.x"}
    ),
    "half of it": Wrong("values", {"i < n": "i < n / 2"}),
    "an int": Wrong("fault|values|sanitizer|launch", {"long long i": "int i"}),
    "an unsigned int": Wrong("values", {"long long i": "unsigned i"}),
    "stored by atomics": Wrong(
        "atomics", {"out[i] = x[n - 1 - i]": "atomicExch(out + i, x[n - 1 - i])"}
    ),
    "through local memory": Wrong(
        "local memory",
        {"if (i < n) out[i] =": "volatile float kept[64]; if (i < n) out[i] = kept[i % 64] ="},
    ),
    "one block does all": Wrong(
        "counters",
        "for (long long i = threadIdx.x; blockIdx.x == 0 && i < n; i += 256) out[i] = x[n - 1 - i];",
    ),
}
