"""A product of matrices by tiles of warps, with fragments one step ahead: a step of the course."""

from dataclasses import replace

import numpy as np

from helpers.exercises.for_judges import *

SHARED = 2 * 16 * (256 + 128 + 8) * 4


def _blocks(m, n):
    return -(-n // 128) * -(-m // 256)


def drawn(rng):
    sizes = rng.integers(((5, 33, 5), (300, 20, 1)), ((90, 50, 10), (600, 70, 5)))
    return (sizes * (1, 4, 4)).tolist()


def far(rng):
    def strides(n, k):
        return np.array([k, n, 0, 0], np.int64)

    return replace(far_product(rng, 8192, 256, _blocks, 256, strides), shared=SHARED)


JUDGE = Judge(
    launch=lambda rng, size: packed_launch(rng, size, 256, 16, SHARED),
    sizes=((33, 40, 20), (1, 4, 4), (260, 8, 36), (5, 12, 100, 3), (3, 8, 0)),
    drawn=drawn,
    large=((4, 8, 33_000),),
    far=far,
    ours="gemm/warps.cu",
    counted=(256, 128, 256, 2),
    budget={"lds.wavefronts": 2 * 8 * 129 * 16, "ld.sectors": 12_288, "barriers": 2 * 9 * 8},
    limits={"instructions": 1.5},
    shared_bytes=SHARED,
    rate=Rate((256, 128, 4096), 45, {"cuBLAS": "gemm 4096 float32"}),
    checks=[
        FETCHED_AHEAD,
        TakenAhead(
            64,
            "Take the numbers of step i + 1 into `p[(i + 1) % 2]` and `q[(i + 1) % 2]` before you"
            " multiply the numbers of step i: a product that waits for its own numbers has nothing"
            " to do meanwhile.",
        ),
    ],
    advice={
        "race": "In each turn, put the next tiles into the other pair, not the one that is"
        " being read. Let all threads meet once between `put` and the first read of that"
        " pair: before the loop, and in its last step.",
        "lds.wavefronts": "Arrange a warp's lanes in four rows of eight: then they read four"
        " packs of a and eight of b at a time. In another order they read"
        " more.",
    },
    survivors={
        "__launch_bounds__": "no result depends on how many blocks a multiprocessor holds",
        "blockIdx.z": "it is 0: batches are not asked for",
    },
)
