"""Long rows times rows, whose sums need floats."""

import numpy as np

from helpers.exercises.for_judges import *


def launch(rng, size):
    blocks, k = size
    a, b = (numbers(rng, rows, k, dtype=np.float16) for rows in (16 * blocks, 8))
    a[::3], b[::2] = abs(a[::3]), abs(b[::2])
    a[1::3] *= 64
    if blocks > 1:
        a[-1, 0] = np.nan
    arguments = [In(a), In(b), product(a, b.T), np.int32(k)]
    return Launch(arguments, blocks, 32, what=several(16 * blocks, "row", k))


def explain(launch, out, got):
    a, b = (argument.values for argument in launch.arguments[:2])
    a, b = ((x.view(np.uint16).astype(np.uint32) << 16).view(np.float32) for x in (a, b))
    with np.errstate(all="ignore"):
        if np.allclose(a.astype(float) @ b.T, got.reshape(len(a), -1), 1e-3, 1e-3, True):
            return "Your product reads the halves as bfloat16: its last argument names the type."
    return None


JUDGE = Judge(
    launch=launch,
    sizes=((1, 16), (2, 48), (1, 4096)),
    drawn=lambda rng: [(int(rng.integers(3, 5)), 160), (11, 16 * int(rng.integers(3, 9)))],
    large=((2, 40_000),),
    far=lambda rng: far_rows(launch(rng, (1, 1024)), 4_200_000, 16),
    explain=explain,
    counted=(4, 64),
    budget={},
    idea={"hmma": (16, "Let the tensor cores multiply.")},
)
