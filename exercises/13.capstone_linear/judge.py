"""A linear layer, as fast as the learner can make it."""

import numpy as np

from helpers.exercises.for_judges import *


def drawn(rng):
    sizes = rng.integers(((5, 33, 3), (300, 140, 1)), ((200, 150, 10), (400, 200, 3)))
    return (sizes * (1, 1, 4)).tolist()


def launch(rng, size, rows, columns, threads):
    m, n, k = size
    (x, across), bias = operands(rng, m, n, k), numbers(rng, n)
    w = np.ascontiguousarray(across.T)
    out = product(x, across, bias=bias, roundings=k + 2)
    arguments = [In(x), In(w), In(bias), out, *map(np.int32, size)]
    grid = -(-n // columns), -(-m // rows)
    return Launch(arguments, grid, threads, what=f"{m} x {k} times ({n} x {k})ᵀ")


def far(rng, rows, columns, threads):
    """The last block of x, w and y that have more elements than an int can count each."""

    def grid(m, n):
        return -(-n // columns), -(-m // rows)

    how = {"size_type": np.int32, "wide": columns, "turned": True}
    launch = far_product(rng, 8192, rows, grid, threads, **how)
    launch.arguments.insert(2, In(np.zeros(launch.arguments[4], np.float32)))  # the bias
    return launch


JUDGE = Judge(
    launch=launch,
    sizes=((33, 40, 20), (1, 1, 4), (70, 3, 64), (5, 130, 12), (6, 7, 0)),
    drawn=drawn,
    large=((70, 301, 20), (4, 8, 33_000)),
    far=far,
    choices=("ROWS", "COLUMNS", "THREADS"),
    counted=(256, 256, 128),
    budget={"ld.sectors": (32_800, 300_000)},
    limits=None,  # what counts is the clock
    shared_bytes=49_152,
    rate=Rate((256, 256, 4096), 35, {"cuBLAS": "gemm 4096 b transposed float32"}),
    survivors={
        "first <= k": "one turn more, of zeros",
        "now = 1": "it begins with the other pair of tiles",
        "[3][DEEP]": "a larger array",
        "sum[8][9]": "a larger array",
    },
)
