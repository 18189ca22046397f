"""re^2 + im^2 of interleaved pairs."""

import numpy as np

from helpers import checks
from helpers.exercises.launches import In, Launch, Out, Wrong, blocks_for, numbers


def launch(rng, n):
    z = numbers(rng, n, 2)
    squares = (z.astype(float) ** 2).sum(1)
    # two products and a sum, each rounded once at most
    out = Out(squares, checks.gamma(2, np.float32) * squares)
    return Launch([In(z), out, np.int64(n)], grid=blocks_for(n), block=256)


COUNTED = 1 << 15
BUDGET = {"ld.sectors": 8192, "ld.requests": 1024, "st.sectors": 4096}

WRONG = {
    "zeros": Wrong("values", {"p.x * p.x + p.y * p.y": "0"}),
    "the real part only": Wrong("values", {"p.x * p.x + p.y * p.y": "p.x * p.x"}),
    "not squared": Wrong("values", {"p.x * p.x + p.y * p.y": "p.x + p.y"}),
    "two loads": Wrong(
        "counters",
        "long long i = blockIdx.x * 256LL + threadIdx.x; if (i >= n) return;"
        " float a = ((volatile const float *)z)[2 * i], b = ((volatile const float *)z)[2 * i + 1];"
        " out[i] = a * a + b * b;",
    ),
    "planes": Wrong(
        "values|out of bounds",
        {"float2 p = reinterpret_cast<const float2 *>(z)[i];": "float2 p = {z[i], z[n + i]};"},
    ),
    "no guard": Wrong("out of bounds", {"if (i >= n) return;": ""}),
    "pairs out of step": Wrong(
        "misaligned|values|out of bounds",
        {"reinterpret_cast<const float2 *>(z)[i]": "reinterpret_cast<const float2 *>(z + i)[0]"},
    ),
    "one too many": Wrong("out of bounds", {"i >= n": "i > n"}),
}
