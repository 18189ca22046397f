"""Launch any step of gemm/, between guards."""

import numpy as np

from helpers import checks, sources

WIDE = {"float16": "float32"}
TILES = {  # rows and columns of a block
    "naive": (16, 16), "shared": (32, 32), "wrong_barrier": (32, 32), "registers": (128, 128),
    "packed": (128, 128), "fragments": (64, 16), "fragments_shared": (64, 64), "mma": (64, 64),
}  # fmt: skip
THREADS = {
    "shared": (32, 32, 1), "wrong_barrier": (32, 32, 1), "packed": (256, 1, 1),
    "fragments": (128, 1, 1), "fragments_shared": (128, 1, 1), "mma": (128, 1, 1),
}  # fmt: skip


def numbers(*shape, dtype="float32", seed=0):
    """Random negatives and non-integers, so that a wrong index or rounding shows."""
    return np.random.default_rng([seed, *shape]).standard_normal(shape).astype(dtype)


def step(name, a, b, **choices):
    """What a step makes of a[batch, m, k] and b[batch, k, n]."""
    (batch, m, k), n = a.shape, b.shape[-1]
    c = checks.Guarded((batch, m, n), a.dtype)
    wide = WIDE.get(a.dtype.name, a.dtype.name)
    arguments = [checks.Guarded(x.shape, x.dtype).set(x).array for x in (a, b)]
    arguments += [c.array, *map(np.int64, (m, n, k))]
    down, across = (-(-size // side) for size, side in zip((m, n), TILES[name]))
    grid = across, down, batch
    if name == "packed":
        choices = {"Out": a.dtype, "A_PACK": 1, "B_PACK": 1, "C_PACK": 1} | choices
        arguments.append(np.array([k, n, m * k, k * n], np.int64))
        grid = across * down, 1, batch
    kernel = sources.kernel(f"gemm/{name}.cu", T=a.dtype, Acc=wide, **choices)
    kernel(*arguments, grid=grid, block=THREADS.get(name, (16, 16, 1)))
    return c.get()
