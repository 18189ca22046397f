"""Stretches of 256 turned around through shared memory."""

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

SIZES = (
    *((1, False), (31, False), (32, False), (33, True), (255, True), (257, False)),
    *((1009, False), (1009, True), (0, False)),
)


def drawn(rng):
    few, many = rng.integers((34, 2561), (1001, 5121))
    return (int(few), False), (int(many), True)


def launch(rng, size):
    n, in_place = size
    x = planted(rng, numbers(rng, n), *SPECIAL)
    turned = np.concatenate([x[:0], *(x[k : k + 256][::-1] for k in range(0, n, 256))])
    out = Out(turned, bits=True, initial=x if in_place else None)
    arguments = [out if in_place else In(x), out, np.int64(n)]
    what = f"n = {n:,}, in place" if in_place else f"n = {n:,}"
    return Launch(arguments, blocks_for(n), 256, what=what)


def far(rng):
    x = far_numbers(rng)
    out = Far(FAR, np.float32, expected=far_results(x, lambda v: v[::-1]))
    out.expected[256 - 77] = out.expected.pop(0)  # zeros follow the first 77
    return far_launch([x, out, np.int64(FAR)])


COUNTED = 1 << 14, False
BUDGET = {"ld.sectors": 2048, "st.sectors": 2048, "lds.wavefronts": 512, "sts.wavefronts": 512}

WRONG = {
    "no barrier": Wrong("race|syncwarp", {"    __syncthreads();\n": ""}),
    "a barrier in the if": Wrong(
        "divergent",
        {"s[t] = x[first + t];\n    __syncthreads();": "{ s[t] = x[first + t]; __syncthreads(); }"},
    ),
    "whole blocks only": Wrong("uninitialised|values", {"count - 1 - t": "255 - t"}),
    "not turned": Wrong("values|counters", {"s[count - 1 - t]": "s[t]"}),
    "one off": Wrong("out of bounds|uninitialised|values", {"count - 1 - t": "count - t"}),
    "without shared memory": Wrong(
        "race|syncwarp",
        {"s[count - 1 - t]": "x[first + count - 1 - t]"},
    ),
    "shared memory for show": Wrong(
        "race|syncwarp|values",
        {
            "s[count - 1 - t]": "x[first + count - 1 - t] + 0 * s[t]",
            "s[t] = x[first + t]": "s[t] = t",
        },
    ),
    "ten barriers": Wrong(
        "barriers", {"__syncthreads();": "for (int k = 0; k < 10; ++k) __syncthreads();"}
    ),
    "an int": Wrong("fault|values|sanitizer|launch", {"long long first": "int first"}),
    "an unsigned int": Wrong("values", {"long long first": "unsigned first"}),
    "zeros": Wrong("values", {"= s[count - 1 - t]": "= 0"}),
    "no guard to load": Wrong("out of bounds", {"if (t < count) s[t]": "s[t]"}),
    "no guard to store": Wrong("out of bounds", {"if (t < count) out": "out"}),
}
