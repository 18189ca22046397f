"""Scores of queries and keys, scaled: a step of the course."""

import numpy as np

from helpers.exercises.launches import In, Launch, Out, Wrong, far_rows, numbers, product

OURS = "attention/scores.cu"
SIZES = (1, 1, 1, 1), (3, 17, 33, 5), (2, 16, 40, 32)


def drawn(rng):
    return rng.integers(
        ((2, 18, 35, 3), (2, 90, 60, 1)), ((5, 40, 90, 40), (4, 120, 90, 20))
    ).tolist()


def launch(rng, size, causal=False):
    units, queries, keys, length = size
    q, k = numbers(rng, units, queries, length), numbers(rng, units, keys, length)
    if queries > 2:
        q[-1, 2, 0], k[0, -1, 0] = np.nan, np.inf
    scale = np.float32(rng.uniform(0.1, 0.4))
    dots = product(q, k.swapaxes(1, 2), roundings=length + 3)
    hidden = causal & (np.arange(keys) > np.arange(queries)[:, None])
    out = Out(np.where(hidden, -np.inf, scale * dots.expected), scale * dots.tolerance)
    arguments = [In(q), In(k), out, *map(np.int64, (queries, keys, length)), scale]
    what = f"{units} x {queries} queries, {keys} keys of {length}"
    return Launch(arguments, (-(-keys // 16), -(-queries // 16), units), (16, 16), what=what)


OTHERWISE = {"CAUSAL": 1}


def otherwise(rng):
    return launch(rng, (2, 30, 41, 6), causal=True)


def far(rng):
    return far_rows(launch(rng, (2, 270, 270, 270)), 60_000)


LARGE = ((20, 3, 5, 2),)
COUNTED = 2, 64, 64, 32
BUDGET = {"st.sectors": 1024}

GUARD = "if (query >= queries || key >= keys) return;"
WRONG = {
    "not scaled": Wrong("values", {"T(sum * scale)": "T(sum)"}),
    "each product is scaled by the root": Wrong("values", {"T(sum * scale)": "T(sum * sqrtf(scale))"}),
    "no guard for queries": Wrong("out of bounds|values", {GUARD: "if (key >= keys) return;"}),
    "no guard for keys": Wrong("out of bounds|values", {GUARD: "if (query >= queries) return;"}),
    "the first unit's keys": Wrong("values", {"(blockIdx.z * keys + key) * size": "key * size"}),
    "keys down their columns": Wrong(
        "values|out of bounds", {"Acc(k[i])": "Acc(k[i * keys])", "keys + key) * size": "keys * size + key)"}
    ),
    "queries and keys swapped": Wrong(
        "values|double write", {"queries + query) * keys + key]": "queries + key) * keys + query]"}
    ),
    "hidden keys have a score": Wrong("choice", {"hidden ? T(-INFINITY) : ": ""}),
    "hidden keys have a low score": Wrong("choice", {"T(-INFINITY)": "T(-1e30f)"}),
    "the first element twice": Wrong("values", {"Acc sum = 0": "Acc sum = Acc(q[0]) * Acc(k[0])"}),
}  # fmt: skip
