"""Launch any step of elementwise/, between guards."""

import numpy as np

from helpers import checks, elementwise, shapes, sources
from helpers.elementwise import NO_NUMBERS

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


def step(name, a, b, out_dtype=None, held=NO_NUMBERS, block=256, **choices):
    """What a step of elementwise/ makes of a and b."""
    out = checks.Guarded(shapes.broadcast(a.shape, b.shape), out_dtype or a.dtype)
    arrays = [checks.Guarded(x.shape, x.dtype).set(x).array for x in (a, b)]
    choices |= {"T": a.dtype, "Out": out.dtype}
    run, told, shape = elementwise.prepare(name, *arrays, out.array, held, block, **choices)
    run(*told, **shape)
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
    tables = [elementwise.strides(*3 * [logical]), elementwise.strides(walk, walk, (0, 1, 0, 0))]
    stored = a.transpose(0, 2, 3, 1)
    arrays = [checks.Guarded(x.shape, x.dtype).set(x).array for x in (stored, b)]
    out = checks.Guarded(stored.shape, a.dtype)
    arguments = *arrays, out.array, np.int64(a.size), *tables, NO_NUMBERS
    run = sources.kernel("elementwise/nhwc.cu")
    run(*arguments, grid=(-(-a.size // 64), 1), block=(64, 1, 1))
    return out.get().transpose(0, 3, 1, 2)
