"""A sum by one atomic per element: a step of the course."""

import numpy as np

from helpers import checks
from helpers.exercises.distant import FAR, PAST, far_launch, far_numbers
from helpers.exercises.judges import Judge
from helpers.exercises.launches import Far, In, Launch, Out, blocks_for
from helpers.exercises.values import numbers


def launch(rng, n):
    x = numbers(rng, n)
    total = Out(np.array([x.sum(dtype=float)]), checks.sum_tolerance(x), initial=np.zeros(1))
    return Launch([In(x), total, np.int64(n)], blocks_for(n), 256)


def far(rng):
    x = far_numbers(rng)
    seen = np.concatenate([x.pieces[0], x.pieces[PAST]])
    tolerance = float(checks.sum_tolerance(seen))
    out = Far(1, np.float32, expected={0: [seen.sum(dtype=float)]}, tolerance=tolerance)
    return far_launch([x, out, np.int64(FAR)])


JUDGE = Judge(
    launch=launch,
    sizes=(1, 33, 256, 1009, 0),
    far=far,
    spare=128,
    ours="reduce/atomic.cu",
    counted=1 << 14,
    budget={"ld.sectors": 2048, "atomics": 512, "atomics.sectors": 16384},
    idea={"atomics": (512, "Let each thread add its element by an atomic of its own.")},
)
