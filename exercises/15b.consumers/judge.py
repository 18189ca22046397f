"""A product by a producer and two warpgroups that share a tile of b."""

import numpy as np

from helpers.exercises.for_judges import *

SHARED = 4 * (128 + 256) * 128 + 8 * 4096


def drawn(rng):
    m, n, k = rng.integers((130, 9, 34), (300, 30, 60))
    return [(int(m), 8 * int(n), 8 * int(k)), (400, 520, 72)]


def launch(rng, size):
    m, n, k = size
    boxes, out = boxed_product(rng, m, n, k, rows=128)
    arguments = [boxes, out, *map(np.int64, (m, n)), np.int32(-(-k // 64))]
    grid = -(-m // 128), -(-n // 256)
    return Launch(arguments, grid, 384, SHARED, what=f"{m} x {k} times {k} x {n}")


def explain(launch, out, got):
    a, b = (array.values[0].astype(float) for array, _ in launch.arguments[0].of[:2])
    last = (a.shape[1] - 1) // 64 * 64
    with np.errstate(invalid="ignore"):
        alone = a[:, last:] @ b[last:]
    if last and np.allclose(got.reshape(alone.shape), alone, 1e-2, 1e-2):
        return (
            "Only the last step's products are there: let multiply_stage add in every step"
            " except the first."
        )
    return None


JUDGE = Judge(
    launch=launch,
    sizes=((1, 8, 8), (128, 256, 64), (129, 264, 328), (70, 24, 584)),
    drawn=drawn,
    large=((100, 40, 4136),),
    counted=(256, 512, 512),
    budget={"ld.sectors": 0, "hmma": 1024},
    limits={"instructions": None},  # of who waits
    shared_bytes=SHARED + 1024,
    even=False,
    explain=explain,
    survivors=BY_STAGES,
)
