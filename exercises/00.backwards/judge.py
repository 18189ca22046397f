"""out is x, the last element first."""

import numpy as np

from helpers.exercises.for_judges import *


def launch(rng, n):
    x = planted(rng, numbers(rng, n), *SPECIAL)
    return Launch([In(x), Out(x[::-1], bits=True), np.int64(n)], grid=blocks_for(n), block=256)


def far(rng):
    x = far_numbers(rng)
    first, _, last = x.pieces.values()
    x.pieces[FAR - 17 * 256] = numbers(rng, 256)  # for block 16
    out = Far(FAR, np.float32, expected={0: last[::-1], 16 * 256: [0], PAST: first[::-1]})
    return far_launch([x, out, np.int64(FAR)])


JUDGE = Judge(
    launch=launch,
    far=far,
    spare=256,
    counted=1 << 16,
    budget={"ld.sectors": 8192, "st.sectors": 8192},
    inputs=lambda launch, place: [launch.arguments[0].values[-1 - place]],
)
