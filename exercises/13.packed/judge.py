"""A product of matrices by packs, with two tiles in turn: a step of the course."""

import numpy as np

from helpers.exercises.for_judges import *


def drawn(rng):
    sizes = rng.integers(((5, 33, 3), (200, 20, 1)), ((90, 50, 10), (300, 30, 3)))
    return (sizes * (1, 4, 4)).tolist()


def far(rng):
    def strides(n, k):
        return np.array([k, n, 0, 0], np.int64)

    return far_product(rng, 8192, 128, lambda m, n: n // 128 * (m // 128), 256, strides)


JUDGE = Judge(
    launch=lambda rng, size: packed_launch(rng, size, 128, 8),
    sizes=((33, 40, 20), (1, 4, 4), (130, 8, 24), (5, 12, 20, 1), (3, 8, 0)),
    drawn=drawn,
    large=((140, 300, 200), (4, 8, 33_000)),
    far=far,
    ours="gemm/packed.cu",
    counted=(128, 256, 32),
    budget={
        "lds.wavefronts": 6144,
        "ld.requests": 128,
        "ld.sectors": 2048,
        "barriers": (2 * 8 * 4, 2 * 8 * 5),
    },
    limits={"instructions": 1.5},
    shared_bytes=17_000,
    rate=Rate((128, 256, 4096), 0, {"cuBLAS": "gemm 4096 float32"}),
    checks=[FETCHED_AHEAD],
    advice={
        "lds.wavefronts": "Read four floats at a time from shared memory, a Quad: float by float,"
        " the same bytes take more wavefronts.",
        "race": "In each turn, use the other pair of tiles (`now ^= 1`), and put one barrier"
        " between `put` and the products: a thread that overwrites a pair has then passed"
        " the barrier of the turn in between.",
    },
    survivors={
        "__launch_bounds__": "no result depends on how many blocks a multiprocessor holds",
        "blockIdx.z": "it is 0: batches are not asked for",
        "gridDim.y - blockIdx.y": "the grid has one row: k is not split",
    },
)
