"""A product of matrices by wmma: a step of the course."""

import numpy as np

from helpers.exercises.for_judges import *


def drawn(rng):
    return rng.integers(((5, 17, 17), (130, 33, 2)), ((60, 60, 60), (200, 50, 9))).tolist()


def launch(rng, size):
    m, n, k = size
    a, b = operands(rng, m, n, k, np.float16)
    return product_launch(a, b, (-(-n // 16), -(-m // 64)), 128)


JUDGE = Judge(
    launch=launch,
    sizes=((16, 16, 16), (1, 1, 1), (71, 20, 33), (3, 5, 0), (50, 24, 40)),
    drawn=drawn,
    large=((30, 20, 33_003), (70_003, 5, 3)),
    far=lambda rng: far_product(rng, 8192, 64, lambda m, n: (n // 16, m // 64), 128, of=np.float16),
    ours="gemm/fragments.cu",
    counted=(64, 64, 64),
    budget={"hmma": 128},
    limits={"instructions": 4},
    idea={"hmma": (128, "Let the warps multiply: wmma::mma_sync.")},
    advice={
        "race": "Each warp has a tile of its own: put __syncwarp() between what its lanes write and"
        " what others of them read."
    },
    rate=Rate((64, 64, 4096), 0, {"cuBLAS": "gemm 4096 float16"}),
    survivors={
        "if (line": "what is gathered in shared memory first is the same",
        "top > m": "a warp past the last row stores nothing",
        "blockIdx.z": "blockIdx.z is 0: batches are not asked for",
        "i += 31": "some elements are gathered twice",
        "__launch_bounds__": "no more threads than these are launched",
    },
)
