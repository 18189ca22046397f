"""What lies where in a swizzled box."""

from functools import partial

import numpy as np

from helpers import tensormap
from helpers.exercises.launches import Boxes, In, Launch, Out, Wrong, eighths

SIZES = 1, 8, 32, 33, 100, 257


def drawn(rng):
    return int(rng.integers(34, 300)), int(rng.integers(600, 900))


def launch(rng, rows):
    x = eighths(rng, 1, rows, 32)
    weights = eighths(rng, 32)
    boxes = Boxes([(In(x), partial(tensormap.tiled, box=(1, 32, 32), swizzle=128))])
    arguments = [boxes, In(weights), Out(x[0] @ weights), np.int32(rows)]
    return Launch(arguments, -(-rows // 32), 32, what=f"{rows} rows")


LARGE = (70_003,)
COUNTED = 1024
BUDGET = {"lds.conflicts": 0, "ld.sectors": 256}
LIMITS = {"instructions": None}  # of who waits

WRONG = {
    "not swizzled": Wrong("values", {"(chunk ^ row % 8)": "chunk"}),
    "by four rows": Wrong("values", {"row % 8": "row % 4"}),
    "every eighth row": Wrong("values", {"row % 8": "row / 8"}),
    "turned, not swizzled": Wrong("values", {"(chunk ^ row % 8)": "(chunk + row) % 8"}),
    "added up as a number": Wrong("values|out of bounds", {"(chunk ^ row % 8)": "(chunk + row % 8)"}),
    "backwards": Wrong("values", {"chunk ^ row % 8": "7 - chunk ^ row % 8"}),
}  # fmt: skip

SURVIVORS = {
    "threadIdx.x == 1": "another thread copies",
}
