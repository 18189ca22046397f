"""What lies where in a swizzled box."""

from functools import partial

import numpy as np

from helpers import tensormap
from helpers.exercises.for_judges import *

FEW, CHUNK = 9, 5  # rows of launches that read one chunk alone


def launch(rng, rows):
    x = eighths(rng, 1, rows, 32)
    weights = eighths(rng, 32)
    if rows < FEW:  # so that it shows what was read
        weights[np.arange(32) // 4 != CHUNK] = 0
    if rows > 32:
        x[0, 1, 3] = np.nan
    boxes = Boxes([(In(x), partial(tensormap.tiled, box=(1, 32, 32), swizzle=128))])
    arguments = [boxes, In(weights), Out(x[0] @ weights), np.int32(rows)]
    return Launch(arguments, -(-rows // 32), 32, what=several(rows, "row"))


def explain(launch, out, got):
    x, weights = launch.arguments[0].of[0][0].values[0], launch.arguments[1].values
    rows, column = np.arange(len(x))[:, None], np.arange(32)
    chunk, within = column // 4, column % 4
    if len(x) < FEW:
        return _read_instead(x, weights[chunk == CHUNK], out, got)
    for wrong, words in (
        (chunk, "as if chunks lay in their order"),
        ((chunk + rows) % 8, "as if chunks were turned round by addition"),
    ):
        place = (wrong ^ rows % 8) * 4 + within  # of what lies there
        if np.array_equal(got, np.take_along_axis(x, place, 1) @ weights):
            return f"You read {words}: the map swizzles by `chunk ^ row % 8`."
    for chunk in range(8):
        rest = np.arange(32) // 4 != chunk
        if np.array_equal(got, x[:, rest] @ weights[rest], equal_nan=True):
            return (
                f"Numbers {4 * chunk} to {4 * chunk + 3} of each row are left out: a row has eight"
                " chunks."
            )
    return None


def _read_instead(x, weights, out, got):
    """Which chunk of which row was read as the first wrong one; past the rows there are zeros."""
    row = int(np.argmax(got != out.expected))
    sums = x.reshape(len(x), 8, 4) @ weights
    found = [f"chunk {n} of row {at}" for at, n in np.argwhere(sums == got[row])]
    found += ["a row past the last"] * int(got[row] == 0)
    if not found:
        return None
    return (
        f"place({row}, {CHUNK}) leads to {found[0]}: the map swizzles by `chunk ^ row % 8` within"
        " the eight chunks of each row."
    )


JUDGE = Judge(
    launch=launch,
    sizes=(1, 8, 32, 33, 100, 257),
    drawn=lambda rng: (int(rng.integers(34, 300)), int(rng.integers(600, 900))),
    large=(70_003,),
    counted=1024,
    budget={"lds.conflicts": 0, "ld.sectors": 256},
    limits={"instructions": None},  # of who waits
    explain=explain,
    survivors={"threadIdx.x == 1": "another thread copies"},
)
