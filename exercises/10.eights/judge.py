"""a s + b of halves, in packs of eight. The product may be rounded to float before the sum, or not."""

import numpy as np

from helpers.exercises.launches import (
    Far,
    In,
    Launch,
    Out,
    Wrong,
    blocks_for,
    elementwise,
    near,
    numbers,
    pieces,
    planted,
)

SIZES = 1, 7, 8, 9, 31, 2048, 2051, 4103, 0


def drawn(rng):
    return rng.integers((70, 22_000), (700, 30_000)).tolist()


def once(a, b, s):
    """What lies between the results of all ways to round once, and how far they are from it."""
    exact = a.astype("g") * s + b
    ways = exact.astype(float), exact.astype("f4"), a.astype("f4") * s + b.astype("f4")
    ways = [way.astype("f2").astype(float) for way in ways]
    low, high = np.min(ways, 0), np.max(ways, 0)
    return (low + high) / 2, (high - low) / 2


def factors(rng, n):
    """a, b and s for which rounding to half in between gives other results, mostly."""
    s = np.float32(rng.choice([-1, 1]) * 10 ** rng.uniform(-1, 1))
    a, b = ((numbers(rng, 16, n) * 2 ** rng.uniform(-12, 9, (16, n))).astype("f2") for _ in "ab")
    right = once(a, b, s)[0]
    twice = (a.astype("f4") * s).astype("f2") + b, (a.astype("f4") * np.half(s) + b).astype("f2")
    best = np.sum([right != other for other in twice], 0).argmax(0)[None]
    return *(np.take_along_axis(pool, best, 0)[0] for pool in (a, b)), s


def launch(rng, n):
    a, b, s = factors(rng, n)
    a, b = planted(rng, a, np.inf, -65504, 6e-8), planted(rng, b, np.nan, 65504, 65504)
    with np.errstate(over="ignore", invalid="ignore"):
        out = Out(*once(a, b, s), dtype=np.float16)
    grid = blocks_for(-(-n // 8))
    return Launch([In(a), In(b), out, s, np.int64(n)], grid, 256)


def far(rng):
    n = (1 << 32) + 77
    blocks, i = near(n, n - 1, block=8 * 256)
    a, b, s = factors(rng, i.size)
    read = [Far(n, "f2", pieces(i, values)) for values in (a, b)]
    right, tolerance = once(a, b, s)
    out = Far(n, "f2", expected=pieces(i, right), tolerance=tolerance)
    arguments = [*read, out, s, np.int64(n)]
    return Launch(arguments, blocks_for(n, 8 * 256), 256, what=f"n = {n:,}", blocks=blocks)


SPARE = 128
inputs = elementwise
COUNTED = (1 << 16) + 3
BUDGET = {"ld.requests": 518, "st.requests": 259, "ld.sectors": 8198, "st.sectors": 4099}

ONE = "half(float(p.element[k]) * s + float(q.element[k]))"
LAST = "half(float(a[k]) * s + float(b[k]))"
WRONG = {
    "blocks of 256": Wrong(
        "blocks of 128", {"blockIdx.x * (long long)blockDim.x": "blockIdx.x * 256LL"}
    ),
    "one at a time": Wrong(
        "counters",
        "long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x, all = gridDim.x * (long long)blockDim.x;"
        " for (; i < n; i += all) out[i] = half(float(a[i]) * s + float(b[i]));",
    ),
    "in halves": Wrong(
        "values", {ONE: "__hadd_rn(__hmul_rn(p.element[k], half(s)), q.element[k])"}
    ),
    "the product rounded to half": Wrong(
        "values", {ONE: "__hadd(half(float(p.element[k]) * s), q.element[k])"}
    ),
    "s rounded to half": Wrong("values", {ONE: "__hfma(p.element[k], half(s), q.element[k])"}),
    "the last few in halves": Wrong("values", {LAST: "__hadd(half(float(a[k]) * s), b[k])"}),
    "a quarter": Wrong("values", {" * s": " * 0.25f"}),
    "a thousand at most": Wrong("values", {ONE: f"__hmin({ONE}, half(1000.f))"}),
    "places in 32 bits": Wrong("n = 4,294,967", {"out[k] =": "out[(int)k] ="}),
    "guard in 32 bits": Wrong("n = 4,294,967", {"i < n / 8": "i < (int)n / 8"}),
    "whole packs only": Wrong("values", {"k < n;": "k < n / 8 * 8;"}),
    "rounded up": Wrong("out of bounds", {"i < n / 8": "i < (n + 7) / 8"}),
    "seven of eight": Wrong("values", {"k < 8; ++k": "k < 7; ++k"}),
    "the first of each eight": Wrong("values", {"float(p.element[k])": "float(p.element[0])"}),
    "no guard": Wrong("out of bounds", {"i < n / 8": "true"}),
    "a + b": Wrong("values", {" * s": ""}),
    "zeros": Wrong("values", {ONE: "half(0.f)"}),
}
