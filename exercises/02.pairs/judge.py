"""re^2 + im^2 of interleaved pairs."""

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
    z = planted(rng, numbers(rng, n, 2), np.inf, -np.inf, np.nan, 0, 1e12, -1e-12)
    squares = (z.astype(float) ** 2).sum(1)
    return Launch([In(z), Out(squares, _tolerance(squares)), np.int64(n)], blocks_for(n), 256)


def _tolerance(squares):
    """Two products and a sum, each rounded once at most."""
    return np.where(np.isfinite(squares), checks.gamma(2, np.float32) * squares, 0)


def far(rng):
    parts = far_numbers(rng), far_numbers(rng)
    pieces = {at: np.stack([z.pieces[at] for z in parts], 1) for at in parts[0].pieces}
    z = Far(2 * FAR, np.float32, {2 * at: values.ravel() for at, values in pieces.items()})
    squares = far_results(Far(FAR, np.float32, pieces), lambda v: (v.astype(float) ** 2).sum(1))
    tolerance = max(_tolerance(np.asarray(s)).max() for s in squares.values())
    out = Far(FAR, np.float32, expected=squares, tolerance=tolerance)
    return far_launch([z, out, np.int64(FAR)])


SPARE = 128
COUNTED = 1 << 15
BUDGET = {"ld.sectors": 8192, "ld.requests": 1024, "st.sectors": 4096}

WRONG = {
    "zeros": Wrong("values", {"p.x * p.x + p.y * p.y": "0"}),
    "the real part only": Wrong("values", {"p.x * p.x + p.y * p.y": "p.x * p.x"}),
    "not squared": Wrong("values", {"p.x * p.x + p.y * p.y": "p.x + p.y"}),
    "two loads": Wrong(
        "counters",
        "long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; if (i >= n) return;"
        " float a = ((volatile const float *)z)[2 * i], b = ((volatile const float *)z)[2 * i + 1];"
        " out[i] = a * a + b * b;",
    ),
    "by atomics": Wrong(
        "atomics|inputs",
        {
            "float2 p = reinterpret_cast<const float2 *>(z)[i];": "float *w = (float *)z + 2 * i;"
            " float2 p = {atomicAdd(w, 0.f), atomicAdd(w + 1, 0.f)};"
        },
    ),
    "an int": Wrong("fault|values|sanitizer|launch", {"long long i": "int i"}),
    "an unsigned int": Wrong("values", {"long long i": "unsigned i"}),
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
