"""Greatest elements of blocks: no thread leaves before the last barrier."""

import numpy as np

from helpers.exercises.launches import In, Launch, Out, Wrong, blocks_for, numbers


def launch(rng, n):
    x = numbers(rng, n) - np.float32(10)  # a zero would be the greatest
    rows = np.full(256 * blocks_for(n), -np.inf, np.float32)
    rows[:n] = x
    out = Out(rows.reshape(-1, 256).max(1))
    return Launch([In(x), out, np.int64(n)], grid=blocks_for(n), block=256)


COUNTED = 1 << 14
BUDGET = {"ld.sectors": 2048, "lds.conflicts": 0, "barriers": (4608, 5120), "st.requests": 64}

WRONG = {
    "zero for the missing": Wrong("values", {"-INFINITY": "0.f"}),
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
