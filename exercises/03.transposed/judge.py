"""A transpose through tiles."""

import numpy as np

from helpers.exercises.for_judges import *


def drawn(rng):
    few, many = rng.integers(2, 100, 2), rng.integers(130, 200, 2)
    return tuple(map(int, few)), tuple(map(int, many))


def launch(rng, size):
    x = planted(rng, numbers(rng, *size), *SPECIAL)
    return _launch([In(x), Out(x.T.copy(), bits=True)], *size)


def seen():
    photo = cat(90, 110)
    out = Out(photo.T.copy(), bits=True)
    return Seen(photo, _launch([In(photo), out], *photo.shape), photo.T.shape)


def _launch(arrays, rows, columns, **more):
    grid = -(-columns // 32), -(-rows // 32)
    arguments = [*arrays, np.int32(rows), np.int32(columns)]
    return Launch(arguments, grid, (32, 8), what=f"{rows:,} x {columns:,}", **more)


def far(rng):
    """The last tile of a matrix of more than 2**32 elements, 8 x 9 of it inside the matrix."""
    rows, columns = 2**17 + 8, 2**15 + 9
    tile = numbers(rng, 8, 9)
    pieces = {(rows - 8 + k) * columns + columns - 9: tile[k] for k in range(8)}
    expected = {(columns - 9 + k) * rows + rows - 8: tile[:, k] for k in range(9)}
    count, last = rows * columns, 1025 * 4097 - 1
    arrays = [Far(count, np.float32, pieces), Far(count, np.float32, expected=expected)]
    return _launch(arrays, rows, columns, blocks=[range(last, last + 1)])


JUDGE = Judge(
    launch=launch,
    sizes=((1, 1), (32, 32), (31, 33), (1, 257), (65, 7), (100, 130)),
    drawn=drawn,
    far=far,
    counted=(128, 256),
    budget={"ld.sectors": 4096, "st.sectors": 4096, "lds.conflicts": 0, "sts.conflicts": 0},
    seen=seen,
)
