"""Sums over the middle axis."""

import numpy as np

from helpers import checks
from helpers.exercises.launches import (
    Far,
    In,
    Launch,
    Out,
    Wrong,
    blocks_for,
    near,
    numbers,
    scales,
    strewn,
)

SIZES = (
    (1, 1, 1), (3, 5, 7), (2, 33, 300), (5, 1, 31), (1, 100, 257), (4, 9, 1), (1, 70_003, 2),
    (300, 2, 3), (2, 3, 0), (2, 0, 3),
)  # fmt: skip


def drawn(rng):
    return rng.integers(((2, 2, 9), (2, 2, 1500)), ((9, 200, 300), (4, 20, 2500))).tolist()


def launch(rng, size):
    outer, reduce, inner = size
    x = numbers(rng, *size) * scales(rng, outer, 1, inner)
    x[:, -1:, rng.random(inner) < 0.1] = np.inf
    out = Out(x.sum(1, dtype=float), checks.sum_tolerance(x, axis=1))
    arguments = [In(x), out, np.int64(reduce), np.int64(inner)]
    what = f"{outer} x {reduce:,} x {inner:,}"
    return Launch(arguments, (blocks_for(inner), outer), 256, what=what)


def far(rng):
    outer, reduce, inner = 2, 2, (1 << 31) + 77
    (few,), i = near(inner, inner - 1)
    rows = np.arange(outer * reduce).reshape(outer, reduce, 1)
    read, x = strewn(rng, outer * reduce * inner, rows * inner + i)
    sums, tolerance = x.sum(1, dtype=float), checks.sum_tolerance(x, axis=1).max()
    expected = {o * inner + int(i[0]): sums[o] for o in range(outer)}
    out = Far(outer * inner, "f4", expected=expected, tolerance=tolerance)
    grid = blocks_for(inner), outer
    blocks = [range(o * grid[0] + few.start, o * grid[0] + few.stop) for o in range(outer)]
    what = f"{outer} x {reduce} x {inner:,}"
    arguments = [read, out, np.int64(reduce), np.int64(inner)]
    return Launch(arguments, grid, 256, what=what, blocks=blocks)


SPARE = 128
COUNTED = 4, 16, 512
BUDGET = {"ld.sectors": 4096, "st.sectors": 256}
LIMITS = {"ldl.sectors": (8192,), "stl.sectors": (8192,)}  # partial sums in an array are as right

WRONG = {
    "the first row, and then the others": Wrong(
        "out of bounds",
        {
            "float sum = 0;\n    for (long long r = 0": "float sum = x[o * reduce * inner + i]; for (long long r = 1"
        },
    ),
    "zeros": Wrong("values", {"= sum;": "= 0;"}),
    "the last axis": Wrong(
        "values|out of bounds", {"(o * reduce + r) * inner + i": "(o * inner + i) * reduce + r"}
    ),
    "one slice": Wrong("values", {"(o * reduce + r)": "r"}),
    "slices one after the other in the output": Wrong(
        "values|out of bounds|double|race", {"out[o * inner + i]": "out[o * reduce + i]"}
    ),
    "every slice to the first": Wrong("values|double|race", {"out[o * inner + i]": "out[i]"}),
    "one row too many": Wrong("out of bounds|values", {"r < reduce": "r <= reduce"}),
    "row 0 only": Wrong("values", {"r < reduce": "r < 1"}),
    "the middle in 16 bits": Wrong("time|fault", {"long long r = 0": "unsigned short r = 0"}),
    "places in 32 bits": Wrong(
        "2 x 2 x 2,147", {"(o * reduce + r) * inner + i": "int((o * reduce + r) * inner + i)"}
    ),
    "results in 32 bits": Wrong(
        "2 x 2 x 2,147", {"out[o * inner + i]": "out[unsigned(o * inner + i)]"}
    ),
    "fifty moves for a sum": Wrong(
        "counters",
        {
            "sum += x[(o * reduce + r) * inner + i];": "{ for (int k = 0; k < 50; ++k)"
            ' asm volatile("mov.f32 %0, %0;" : "+f"(sum)); sum += x[(o * reduce + r) * inner + i]; }'
        },
    ),
    "each element fetched by an atomic": Wrong(
        "counters|inputs|race",
        {
            "x[(o * reduce + r) * inner + i]": "atomicAdd((float *)x + (o * reduce + r) * inner + i, 0.f)"
        },
    ),
    "outer steps of inner": Wrong("values|out of bounds", {"(o * reduce + r)": "(o + r)"}),
}
