"""A box that one thread copies."""

from functools import partial

import numpy as np

from helpers import tensormap
from helpers.exercises.launches import Boxes, In, Launch, Out, Wrong, eighths

SIZES = (1, 4), (32, 32), (33, 36), (70, 100), (31, 128)


def drawn(rng):
    return [(int(rng.integers(1, 200)), 4 * int(rng.integers(1, 60))) for _ in "ab"]


def launch(rng, size):
    rows, columns = size
    x = eighths(rng, 1, rows, columns)
    down, across = -(-rows // 32), -(-columns // 32)
    whole = np.zeros((32 * down, 32 * across))
    whole[:rows, :columns] = x[0]
    sums = whole.reshape(down, 32, across, 32).sum((1, 3))
    boxes = Boxes([(In(x), partial(tensormap.tiled, box=(1, 32, 32), swizzle=0))])
    return Launch([boxes, Out(sums)], (across, down), 32, what=f"{rows} x {columns}")


LARGE = ((1060, 300), (33, 36_000))
COUNTED = 256, 256
BUDGET = {"ld.sectors": 0}
LIMITS = {"instructions": None}  # of who waits

COPY = "        copy_box(to, maps.of[0], blockIdx.x * 32, blockIdx.y * 32, 0, barrier);\n"
WRONG = {
    "nobody waits": Wrong("race", {"    wait_for(barrier, 0);\n": ""}),
    "one thread waits": Wrong("race", {"    wait_for(barrier, 0);\n": "    if (threadIdx.x == 0) wait_for(barrier, 0);\n"}),
    "the other phase": Wrong("race|fault", {"wait_for(barrier, 0)": "wait_for(barrier, 1)"}),
    "half of the bytes": Wrong("race|launch|fault", {"sizeof tile": "sizeof tile / 2"}),
    "more bytes than come": Wrong("bytes|time|fault", {"sizeof tile)": "2 * sizeof tile)"}),
    "rows and columns swapped": Wrong("values", {"blockIdx.x * 32, blockIdx.y * 32": "blockIdx.y * 32, blockIdx.x * 32"}),
    "boxes for bytes": Wrong("values", {"blockIdx.x * 32, blockIdx.y": "blockIdx.x * 128, blockIdx.y"}),
    "the barrier may not be begun": Wrong("race|uninit|missing", {"    __syncthreads();\n": ""}),
    "every thread copies": Wrong("race|launch|fault|double|time", {"if (threadIdx.x == 0) {": "{"}),
}  # fmt: skip

SURVIVORS = {
    "threadIdx.x == 1": "another thread copies",
}
