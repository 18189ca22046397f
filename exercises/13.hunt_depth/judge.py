"""A product by tiles, of any depth."""

import numpy as np

from helpers.exercises.for_judges import *


def drawn(rng):
    low = (5, 5, 5), (110, 2, 300), (2, 600, 60)
    return rng.integers(low, ((50, 50, 50), (140, 16, 350), (16, 700, 80))).tolist()


def launch(rng, size):
    m, n, k = size
    a, b = operands(rng, m, n, k)
    return product_launch(a, b, (-(-n // 16), -(-m // 16)), (16, 16), size_type=np.int32)


JUDGE = Judge(
    launch=launch,
    sizes=((16, 16, 32), (1, 1, 1), (20, 33, 17), (16, 16, 5), (3, 40, 50), (47, 2, 16), (3, 5, 0)),
    drawn=drawn,
    large=((16, 40, 1303), (1, 2, 33_003), (33_003, 2, 1), (2, 33_003, 1)),
    counted=(64, 64, 40),
    budget={},
    limits=dict.fromkeys(FACTORS.keys() - {"ld.sectors"}),  # cost is not judged, but tiles are
    idea={
        "lds.wavefronts": (2304, "Multiply from the tiles in shared memory, not from a and b."),
        "barriers": (
            384,
            "One thread writes what others read from the tiles: that takes barriers.",
        ),
    },
    survivors={
        "first <= k": "one turn more, of zeros",
        "a[row * k + first + x] : 1": "the other tile has a 0 wherever the depth ends",
        "b[(first + y) * n + column] : 1": "the other tile has a 0 wherever the depth ends",
        "[17][16], tile_b": "a larger array",
        "tile_a[16][17]": "a larger array",
    },
)
