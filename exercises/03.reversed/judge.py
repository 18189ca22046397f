"""Stretches of 256 turned around through shared memory."""

import numpy as np

from helpers.exercises.for_judges import *


def drawn(rng):
    few, many = rng.integers((34, 2561), (1001, 5121))
    return (int(few), False), (int(many), True)


def launch(rng, size):
    n, in_place = size
    x = planted(rng, numbers(rng, n), *SPECIAL)
    turned = np.concatenate([x[:0], *(x[k : k + 256][::-1] for k in range(0, n, 256))])
    out = Out(turned, bits=True, initial=x if in_place else None)
    arguments = [out if in_place else In(x), out, np.int64(n)]
    what = f"n = {n:,}, in place" if in_place else f"n = {n:,}"
    return Launch(arguments, blocks_for(n), 256, what=what)


def far(rng):
    x = far_numbers(rng)
    out = Far(FAR, np.float32, expected=far_results(x, lambda v: v[::-1]))
    out.expected[256 - 77] = out.expected.pop(0)  # zeros follow the first 77
    return far_launch([x, out, np.int64(FAR)])


JUDGE = Judge(
    launch=launch,
    sizes=(
        *((1, False), (31, False), (32, False), (33, True), (255, True), (257, False)),
        *((1009, False), (1009, True), (0, False)),
    ),
    drawn=drawn,
    far=far,
    counted=(1 << 14, False),
    budget={"ld.sectors": 2048, "st.sectors": 2048, "lds.wavefronts": 512, "sts.wavefronts": 512},
)
