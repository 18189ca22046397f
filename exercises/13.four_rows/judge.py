"""A product of matrices, four elements of a column to a thread."""

import numpy as np

from helpers.exercises.for_judges import *


def drawn(rng):
    low = (2, 65, 2), (150, 5, 250), (20, 700, 50)
    return rng.integers(low, ((70, 200, 40), (200, 60, 300), (40, 900, 60))).tolist()


def launch(rng, size):
    m, n, k = size
    a, b = operands(rng, m, n, k)
    return product_launch(a, b, (-(-n // 64), -(-m // 4)), 64, size_type=np.int32)


JUDGE = Judge(
    launch=launch,
    sizes=(
        (4, 64, 16),
        (1, 1, 1),
        (6, 65, 3),
        (3, 7, 40),
        (9, 100, 17),
        (64, 2, 5),
        (1030, 3, 2),
        (2, 16_500, 1),
        (5, 3, 0),
    ),
    drawn=drawn,
    large=((70_003, 2, 3), (2, 70_003, 2), (2, 3, 70_003)),
    counted=(32, 128, 32),
    budget={"ld.requests": 5120, "ld.sectors": 8192, "st.sectors": 512},
    rate=Rate((64, 64, 4096), 0, {"cuBLAS": "gemm 4096 float32"}),
    survivors={"r <= 4": "sum[4] is undefined, and what nvcc makes of it stores nothing"},
)
