"""A product of halves by tensor cores, of the learner's own design."""

import numpy as np

from helpers.exercises.for_judges import *


def drawn(rng):
    m, n, k = rng.integers((65, 9, 9), (90, 18, 25))
    return [(int(m), 8 * int(n), 8 * int(k)), (500, 24, 16)]


def launch(rng, size, rows, columns, threads):
    m, n, k = size
    a, b = operands(rng, m, n, k, np.float16)
    grid = -(-n // columns), -(-m // rows)
    return product_launch(a, b, grid, threads, size_type=np.int32)


def far(rng, rows, columns, threads):
    def grid(m, n):
        return -(-n // columns), -(-m // rows)

    return far_product(rng, 8192, rows, grid, threads, of=np.float16, size_type=np.int32)


def explain(launch, out, got):
    m, n, k = map(int, launch.arguments[3:6])
    if k and max(m, n, k) < 64:  # of 64 x 64 x 64, the first launch, all was right
        return (
            "Whole tiles are right. Past the edges of a and b a tile must hold 0, which"
            " copy_async(to, from, 0) writes, and nothing is stored past the edges of c."
        )
    return None


JUDGE = Judge(
    launch=launch,
    sizes=((64, 64, 64), (2, 8, 8), (1, 8, 8), (71, 40, 136), (3, 8, 0)),
    drawn=drawn,
    large=((140, 304, 200), (4, 8, 40_000)),
    far=far,
    choices=("ROWS", "COLUMNS", "THREADS"),
    counted=(128, 128, 128),
    budget={
        "ld.sectors": (4096, 5000),
        "hmma": 1024,
        "lds.wavefronts": (2048, 2600),
        "lds.conflicts": 0,
        "sts.conflicts": 0,
    },
    limits=None,  # the statement has the whole budget
    idea={"hmma": (1024, "Let the tensor cores multiply: multiply_add.")},
    shared_bytes=3 << 14,
    explain=explain,
    rate=Rate((128, 128, 4096), 170, {"cuBLAS": "gemm 4096 float16"}),
    survivors={
        "first <= k": "one tile more, of zeros",
        "CHUNK : 1": "past an edge, the lower byte of a half meets another: too small to see",
        "x / 7": "x is 0 or 32",
        "STAGES = 3": "room for one tile more",
        "65 * LINE": "a larger array",
    },
)
