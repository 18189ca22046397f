"""Sums over the middle axis: a step of the course."""

import numpy as np

from helpers import checks
from helpers.exercises.for_judges import *


def drawn(rng):
    return rng.integers(((2, 2, 9), (2, 2, 1500)), ((9, 200, 300), (4, 20, 2500))).tolist()


def launch(rng, size):
    outer, reduce, inner = size
    x = numbers(rng, *size) * scales(rng, outer, 1, inner)
    x[:, -1:, rng.random(inner) < 0.1] = np.inf
    out = Out(x.sum(1, dtype=float), checks.sum_tolerance(x, axis=1))
    arguments = [In(x), out, *map(np.int64, size)]
    what = f"{outer} x {reduce:,} x {inner:,}"
    return Launch(arguments, (blocks_for(inner), outer), 256, what=what)


def operated(rng):
    outer, reduce, inner = size = 2, 33, 300
    x = rng.integers(-99, 99, size).astype(np.float32)  # so that nothing is rounded
    out = Out((3 * x - np.arange(reduce)[:, None]).max(1) + reduce)
    arguments = [In(x), out, *map(np.int64, size)]
    return Launch(arguments, (blocks_for(inner), outer), 256)


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
    arguments = [read, out, np.int64(outer), np.int64(reduce), np.int64(inner)]
    return Launch(arguments, grid, 256, what=what, blocks=blocks)


JUDGE = Judge(
    launch=launch,
    sizes=(
        (1, 1, 1),
        (3, 5, 7),
        (2, 33, 300),
        (5, 1, 31),
        (1, 100, 257),
        (4, 9, 1),
        (1, 70_003, 2),
        (300, 2, 3),
        (2, 3, 0),
        (2, 0, 3),
    ),
    drawn=drawn,
    far=far,
    spare=128,
    ours="higherdim/columns.cu",
    undefined=BY_ATOMICS,
    counted=(4, 16, 512),
    budget={"ld.sectors": 4096, "st.sectors": 256},
    limits={
        "ldl.sectors": (8192,),
        "stl.sectors": (8192,),
    },  # partial sums in an array are as right
    checks=[
        Operator(
            (  # the greatest of 3 x - row, and that plus reduce
                "struct Own : Operator<Acc> { __device__ Acc initial() const { return -INFINITY; }"
                " __device__ Acc from(T x, long long i) const { return 3 * x - i; }"
                " __device__ Acc operator()(Acc a, Acc b) const { return a > b ? a : b; }"
                " __device__ Acc finish(Acc a, long long n) const { return a + n; } }; using Op"
                " = Own;"
            ),
            operated,
        )
    ],
)
