"""Launch any step of gemm/, between guards."""

import numpy as np

from helpers import autoinit, checks, sources, tensormap  # noqa: F401  (autoinit first)

import pycuda.driver as cuda  # isort: skip

WIDE = {"float16": "float32"}
TILES = {  # rows and columns of a block
    "naive": (16, 16), "shared": (32, 32), "wrong_barrier": (32, 32), "registers": (128, 128),
    "packed": (128, 128), "warps": (256, 128), "fragments": (64, 16),
    "fragments_shared": (64, 64), "mma": (64, 64),
    "boxes": (64, 128), "producer": (128, 256), "multicast": (128, 256),
}  # fmt: skip
THREADS = {
    "shared": (32, 32, 1), "wrong_barrier": (32, 32, 1), "packed": (256, 1, 1),
    "warps": (256, 1, 1), "fragments": (128, 1, 1), "fragments_shared": (128, 1, 1),
    "mma": (128, 1, 1),
}  # fmt: skip


def numbers(*shape, dtype="float32", seed=0):
    """Random negatives and non-integers, so that a wrong index or rounding shows."""
    return np.random.default_rng([seed, *shape]).standard_normal(shape).astype(dtype)


def step(name, a, b, run=None, **choices):
    """What a step makes of a[batch, m, k] and b[batch, k, n]. run(kernel, *arguments, grid=,
    block=, shared=): another way to launch it."""
    (batch, m, k), n = a.shape, b.shape[-1]
    c = checks.Guarded((batch, m, n), a.dtype)
    wide = WIDE.get(a.dtype.name, a.dtype.name)
    arguments = [checks.Guarded(x.shape, x.dtype).set(x).array for x in (a, b)]
    arguments += [c.array, *map(np.int64, (m, n, k))]
    down, across = (-(-size // side) for size, side in zip((m, n), TILES[name]))
    grid = across, down, batch
    shared = 0
    if name in ("packed", "warps"):
        packs = {"A_PACK": 1, "B_PACK": 1, "C_PACK": 1} if name == "packed" else {}
        choices = {"Out": a.dtype} | packs | choices
        arguments.append(np.array([k, n, m * k, k * n], np.int64))
        grid = across * down, 1, batch
    kernel = sources.kernel(f"gemm/{name}.cu", T=a.dtype, Acc=wide, **choices)
    if name == "warps":
        shared = WARPS_DEEP * 2 * (256 + 128 + 8) * np.dtype(wide).itemsize
        kernel.set_attribute(cuda.function_attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES, shared)
    launched = {"grid": grid, "block": THREADS.get(name, (16, 16, 1)), "shared": shared}
    if run:
        return run(kernel, *arguments, **launched)
    kernel(*arguments, **launched)
    return c.get()


WARPS_DEEP = 16
DEEP, LINE, GROUP, PATCH_BYTES = 64, 128, 128, 16 * 64 * 4


def by_boxes(name, a, b, run=None, tile=None, stages=4):
    """What a step of Hopper's makes of halves a[m, k] and b[k, n], whose rows are multiples of 16
    bytes. run(kernel, *arguments, grid=, block=, shared=): another way to launch it."""
    (m, k), n, (rows, columns) = a.shape, b.shape[1], tile or TILES[name]
    c = checks.Guarded((m, n), a.dtype)
    on_gpu = [checks.Guarded((1, *x.shape), x.dtype).set(x[None]).array for x in (a, b)]
    maps = tensormap.packed(*(tensormap.tiled(x, (1, lines, DEEP))
                              for x, lines in zip(on_gpu, (rows, DEEP))))  # fmt: skip
    choices = {"ROWS": rows, "COLUMNS": columns, "C_PACK": 8}
    down, across = -(-m // rows), -(-n // columns)
    if name == "boxes":
        stages, block = 1, GROUP
    else:
        choices["STAGES"], block = stages, GROUP + rows // 64 * GROUP
    down += down % 2 if name == "multicast" else 0
    shared = stages * (rows + columns) * LINE + rows // 16 * PATCH_BYTES
    kernel = sources.kernel(f"gemm/{name}.cu", **choices)
    kernel.set_attribute(cuda.function_attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES, shared)
    told = maps, c.array, *map(np.int64, (m, n)), np.int32(-(-k // DEEP))
    launch = {"grid": (down, across, 1), "block": (block, 1, 1), "shared": shared}
    if run:
        return run(kernel, *told, **launch)
    kernel(*told, **launch)
    return c.get()
