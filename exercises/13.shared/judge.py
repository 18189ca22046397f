"""A product of matrices by tiles in shared memory: a step of the course."""

from helpers.exercises.for_judges import *


def drawn(rng):
    return rng.integers(((5, 33, 33), (300, 65, 2)), ((60, 60, 90), (350, 90, 9))).tolist()


def launch(rng, size):
    m, n, k = size
    a, b = operands(rng, m, n, k)
    return product_launch(a, b, (-(-n // 32), -(-m // 32)), (32, 32))


JUDGE = Judge(
    launch=launch,
    sizes=((33, 40, 17), (1, 1, 1), (40, 3, 70), (3, 5, 0)),
    drawn=drawn,
    large=((20, 30, 70_003), (70_003, 3, 2)),
    far=lambda rng: far_product(rng, 8192, 32, lambda m, n: (n // 32, m // 32), (32, 32)),
    ours="gemm/shared.cu",
    counted=(64, 64, 64),
    budget={"ld.sectors": 2048, "st.sectors": 512, "barriers": 4 * 2 * 2 * 32},
    limits={
        "lds.wavefronts": 1.7
    },  # each number by itself: 2 for a multiply-add, where ours has 1.25
    idea={"lds.wavefronts": (4096, "Multiply from the tiles in shared memory, not from a and b.")},
    rate=Rate((64, 64, 4096), 0, {"cuBLAS": "gemm 4096 float32"}),
    survivors={
        "-= blockIdx.z": "blockIdx.z is 0: batches are not asked for",
        "first + x]) : Acc(1)": "the other tile has a 0 wherever the depth ends",
        "+ column]) : Acc(1)": "the other tile has a 0 wherever the depth ends",
    },
)
