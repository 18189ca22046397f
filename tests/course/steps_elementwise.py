"""Launch any step of elementwise/, between guards."""

from math import prod

import numpy as np

from helpers import checks, shapes, sources

NO_NUMBERS = np.int8(0)
SCHEMES = {
    "same": ((8, 3, 4, 5), (8, 3, 4, 5)),
    "one_scalar": ((8, 3, 4, 5), ()),
    "one_dimension": ((8, 3, 4, 5), (4, 5)),
    "one_not_broadcast": ((8, 3, 4, 5), (3, 1, 1)),
    "one_broadcast": ((8, 3, 4, 5), (8, 1, 4, 5)),
    "strided": ((8, 3, 1, 5), (1, 3, 4, 1)),
}


def numbers(*shape, dtype="float32", seed=0):
    """Random negatives and non-integers, so that a wrong index or rounding shows."""
    random = np.random.default_rng([seed, *shape])
    if np.dtype(dtype).kind == "f":
        return random.standard_normal(shape).astype(dtype)
    if dtype == "bool":
        return random.integers(0, 2, shape).astype(bool)
    return random.integers(-100, 100, shape).astype(dtype)


def strides_of(a, b, target):
    """The struct Strides of strides.cuh, and the merged shape."""
    walks = [
        shapes.broadcast_strides(x.shape, shapes.contiguous_strides(x.shape), target)
        for x in (a, b)
    ]
    shape, *walks = shapes.merge(target, shapes.contiguous_strides(target), *walks)
    words = [len(shape)]
    for walk in walks:
        words += [*walk, *[0] * (shapes.MOST_DIMENSIONS - len(walk))]
    return np.array(words, np.int64), shape


def dividers(shape):
    """The struct Sizes of strided_fast.cu."""
    words = np.zeros((shapes.MOST_DIMENSIONS, 3), np.uint32)
    for row, size in zip(words, shape):
        row[:] = size, *shapes.magic(size)
    return words


def step(name, a, b, out_dtype=None, held=NO_NUMBERS, block=256, **choices):
    """What a step of elementwise/ makes of a and b."""
    target = shapes.broadcast(a.shape, b.shape)
    out = checks.Guarded(target, out_dtype or a.dtype)
    n, rest = prod(target), []
    if name in SCHEMES and name not in ("same", "strided"):
        found = shapes.scheme(a.shape, b.shape)
        assert found.kernel == name
        rest = [*map(np.int64, found.sizes), np.int32(found.first_shorter)]
    elif name in ("strided", "strided_fast", "packed_strided"):
        table, merged = strides_of(a, b, target)
        rest = [table, dividers(merged)] if name == "strided_fast" else [table]
    run = sources.kernel(f"elementwise/{name}.cu", T=a.dtype, Out=out.dtype, **choices)
    arrays = [checks.Guarded(x.shape, x.dtype).set(x).array for x in (a, b)]
    grid = -(-n // (block * choices.get("PACK", 1))), 1
    run(*arrays, out.array, np.int64(n), *rest, held, grid=grid, block=(block, 1, 1))
    return out.get()


def half2_add(a, b):
    """What half2_add.cu makes of a and b."""
    out = checks.Guarded(a.shape, a.dtype)
    arrays = [checks.Guarded(x.shape, x.dtype).set(x).array for x in (a, b)]
    run = sources.kernel("elementwise/half2_add.cu")
    run(*arrays, out.array, np.int64(a.size), grid=(-(-a.size // 512), 1), block=(64, 1, 1))
    return out.get()


def nhwc(a, b):
    """What nhwc.cu makes of images a[n, c, h, w] and a number b[c] for each channel, of which a and
    the result lie in memory as n, h, w, c."""
    n, c, h, w = a.shape
    logical, walk = shapes.contiguous_strides(a.shape), (h * w * c, 1, w * c, c)
    logical, memory = (
        np.concatenate([[4], *(np.append(steps, (0, 0, 0)) for steps in walks)])
        for walks in ((logical, logical, logical), (walk, walk, (0, 1, 0, 0)))
    )
    stored = a.transpose(0, 2, 3, 1)
    arrays = [checks.Guarded(x.shape, x.dtype).set(x).array for x in (stored, b)]
    out = checks.Guarded(stored.shape, a.dtype)
    arguments = *arrays, out.array, np.int64(a.size), logical, memory, NO_NUMBERS
    run = sources.kernel("elementwise/nhwc.cu")
    run(*arguments, grid=(-(-a.size // 64), 1), block=(64, 1, 1))
    return out.get().transpose(0, 3, 1, 2)
