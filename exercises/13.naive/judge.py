"""A product of matrices, a thread for each element: a step of the course."""

from helpers.exercises.for_judges import *

BLOCK = 32, 8


def drawn(rng):
    return rng.integers(((20, 33, 33), (150, 65, 2)), ((60, 60, 90), (200, 90, 9))).tolist()


def launch(rng, size):
    m, n, k, *block = size
    block = tuple(block) or BLOCK
    a, b = operands(rng, m, n, k)
    return product_launch(a, b, (-(-n // block[0]), -(-m // block[1])), block)


def far(rng):
    return far_product(rng, 8704, BLOCK[1], lambda m, n: (n // BLOCK[0], m // BLOCK[1]), BLOCK)


JUDGE = Judge(
    launch=launch,
    sizes=((3, 5, 7), (1, 1, 1), (20, 33, 2, 16, 16), (5, 3, 0)),
    drawn=drawn,
    large=((3, 2, 70_003), (70_003, 3, 2), (3, 70_003, 2)),
    far=far,
    ours="gemm/naive.cu",
    counted=(64, 64, 64),
    budget={"ld.sectors": 40_960, "st.sectors": 512},
    rate=Rate((64, 64, 4096), 0, {"cuBLAS": "gemm 4096 float32"}),
    survivors={"-= blockIdx.z": "blockIdx.z is 0: batches are not asked for"},
)
