"""What lies where in a swizzled box."""

from functools import partial

import numpy as np

from helpers import tensormap
from helpers.exercises.judges import Judge
from helpers.exercises.launches import Boxes, In, Launch, Out
from helpers.exercises.values import eighths


def drawn(rng):
    return int(rng.integers(34, 300)), int(rng.integers(600, 900))


def launch(rng, rows):
    x = eighths(rng, 1, rows, 32)
    weights = eighths(rng, 32)
    boxes = Boxes([(In(x), partial(tensormap.tiled, box=(1, 32, 32), swizzle=128))])
    arguments = [boxes, In(weights), Out(x[0] @ weights), np.int32(rows)]
    return Launch(arguments, -(-rows // 32), 32, what=f"{rows} rows")


JUDGE = Judge(
    launch=launch,
    sizes=(1, 8, 32, 33, 100, 257),
    drawn=drawn,
    large=(70_003,),
    counted=1024,
    budget={"lds.conflicts": 0, "ld.sectors": 256},
    limits={"instructions": None},  # of who waits
    survivors={
        "threadIdx.x == 1": "another thread copies",
    },
)
