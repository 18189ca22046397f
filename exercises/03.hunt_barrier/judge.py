"""Greatest elements of blocks: no thread leaves before the last barrier."""

import numpy as np

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
    far_totals,
    numbers,
)

# elements, and about what they are: what stands in for the missing ones must not be the greatest
SIZES = (
    *((1, -10), (31, -1e30), (32, 10), (33, -np.inf), (255, -1e-30)),
    *((257, -10), (257, -np.inf), (1009, 0), (1009, -1e30), (0, 0)),
)


def drawn(rng):
    return (int(rng.integers(34, 1001)), -5000), (int(rng.integers(2561, 5121)), rng.normal())


def launch(rng, size):
    n, about = size
    spread = numbers(rng, n) * (abs(about) / 9 or 1) if np.isfinite(about) else 0
    x = np.full(n, about + spread, np.float32)
    rows = np.full(256 * blocks_for(n), -np.inf, np.float32)
    rows[:n] = x
    arguments = [In(x), Out(rows.reshape(-1, 256).max(1)), np.int64(n)]
    return Launch(arguments, blocks_for(n), 256, what=f"n = {n:,}, about {about:.4g}")


def far(rng):
    x = far_numbers(rng)
    expected = far_totals(x, lambda v: [v.max()], none=-np.inf)
    return far_launch([x, Far(2**25, np.float32, expected=expected), np.int64(FAR)])


COUNTED = 1 << 14, -10
BUDGET = {"ld.sectors": (2048, 2560), "barriers": (4608, 9216), "lds.wavefronts": (1600, 2432)}
WITHOUT = {r"\b(membar|fence)\b": "Threads of a block need a barrier, no fence."}

WRONG = {
    "a fence as well": Wrong(
        "membar|fence", {"__syncthreads();": "__threadfence(); __syncthreads();"}
    ),
    "zero for the missing": Wrong("values", {"-INFINITY": "0.f"}),
    "the least float for the missing": Wrong("values", {"-INFINITY": "-3.402823466e38f"}),
    "-1000 for the missing": Wrong("values", {"-INFINITY": "-1000.f"}),
    "one thread compares": Wrong(
        "wavefronts",
        {
            "for (int half = 128; half > 0; half /= 2) {": "if (tid == 0) for (int k = 1; k < 256; ++k)"
            " s[0] = fmaxf(s[0], s[k]); for (int half = 0; half > 0; half /= 2) {"
        },
    ),
    "bits for numbers": Wrong(
        "values",
        {
            "fmaxf(s[tid], s[tid + half])": "__uint_as_float("
            "min(__float_as_uint(s[tid]), __float_as_uint(s[tid + half])))"
        },
    ),
    "an int": Wrong("fault|values|sanitizer|launch", {"long long i": "int i"}),
    "an unsigned int": Wrong("values", {"long long i": "unsigned i"}),
    "no guard": Wrong("out of bounds", {"i < n ? x[i] : -INFINITY": "x[i]"}),
    "they leave after the fetch": Wrong(
        "divergent|uninitialised",
        {"    __syncthreads();\n\n": "    __syncthreads();\n    if (i >= n) return;\n"},
    ),
    "slots left unwritten": Wrong(
        "uninitialised", {"s[tid] = i < n ? x[i] : -INFINITY;": "if (i < n) s[tid] = x[i];"}
    ),
    "a sum": Wrong("values", {"fmaxf(s[tid], s[tid + half])": "s[tid] + s[tid + half]"}),
    "no barrier in the loop": Wrong("race", {"        __syncthreads();\n": ""}),
    "the least": Wrong("values", {"fmaxf": "fminf", "-INFINITY": "INFINITY"}),
    "zeros": Wrong("values", {"= s[0];": "= 0;"}),
}

SURVIVORS = {
    "tid == 1": "another thread writes the same, after the same barrier",
}
