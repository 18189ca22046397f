"""A product of matrices with 64 sums to a thread: a step of the course."""

import numpy as np

from helpers.exercises.for_judges import *

SIDE = 128


def drawn(rng):
    return rng.integers(((5, 129, 9), (200, 65, 2)), ((90, 200, 40), (300, 90, 9))).tolist()


def launch(rng, size):
    m, n, k = size
    a, b = operands(rng, m, n, k)
    return product_launch(a, b, (-(-n // SIDE), -(-m // SIDE)), (16, 16))


def explain(launch, out, got):
    row, column = np.indices(np.shape(out.expected)) % SIDE // 16
    with np.errstate(invalid="ignore"):
        wrong = ~(np.abs(got.reshape(row.shape) - out.expected) <= out.tolerance)
    if np.array_equal(wrong, row != column):
        return (
            "Rows and columns are exchanged in a thread's sums: p's place comes first in sum[r][s]."
        )
    return None


JUDGE = Judge(
    launch=launch,
    sizes=((33, 40, 17), (1, 1, 1), (130, 3, 8), (3, 5, 0)),
    drawn=drawn,
    large=((140, 300, 200), (4, 8, 33_000)),
    far=lambda rng: far_product(rng, 8192, SIDE, lambda m, n: (n // SIDE, m // SIDE), (16, 16)),
    ours="gemm/registers.cu",
    counted=(128, 256, 32),
    budget={"lds.wavefronts": 8192, "ld.sectors": 2048, "st.sectors": 4096},
    limits={"instructions": 2, "barriers": 1},
    idea={"lds.wavefronts": (1024, "Multiply from the tiles in shared memory, not from a and b.")},
    shared_bytes=17_000,  # two pairs of tiles
    rate=Rate((128, 256, 4096), 0, {"cuBLAS": "gemm 4096 float32"}),
    explain=explain,
    advice={
        "double write": "Is the column inside the matrix, too, not only the row? Past the last"
        " column, the next row begins."
    },
    survivors={
        "-= blockIdx.z": "blockIdx.z is 0: batches are not asked for",
        "row * k + i_a]) : Acc(1)": "the other tile has a 0 wherever the depth ends",
        "i_b * n + column]) : Acc(1)": "the same",
        "[SIDE + 3]": "a few more wavefronts, where tiles are written",
    },
)
