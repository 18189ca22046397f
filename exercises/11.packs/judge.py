"""im2col of a row, four columns per thread."""

import numpy as np

from helpers.exercises.for_judges import *


def columns(x):
    padded = np.pad(x, 1)
    return np.stack([padded[k : k + x.size] for k in range(3)])


def launch(rng, width):
    x = planted(rng, numbers(rng, width), np.inf, np.nan)
    out = Out(columns(x) if width else np.empty((3, 0), np.float32))
    arguments = [In(x), out, np.int64(width)]
    return Launch(arguments, blocks_for(width // 4), 256, what=f"a row of {width:,}")


def far(rng):
    """Three rows that have more elements than an int can count."""
    width = (1 << 31) + 960
    blocks = blocks_for(width // 4)
    first = (blocks - 1) * 1024
    x = numbers(rng, width - first + 1)
    made = columns(x)[:, 1:]
    expected = {k * width + first: made[k] for k in range(3)}
    out = Far(3 * width, "f4", expected=expected)
    arguments = [Far(width, "f4", {first - 1: x}), out, np.int64(width)]
    what = f"a row of {width:,}"
    return Launch(arguments, blocks, 256, what=what, blocks=[range(blocks - 1, blocks)])


def beside(launch, places, got):
    x = launch.arguments[0].values
    of = [place // x.size + place % x.size - 1 for place in places]
    return {"pixel": [x[n] if 0 <= n < x.size else 0 for n in of]}


REQUESTS = 128  # of a load or store of the counted launch: warps


JUDGE = Judge(
    launch=launch,
    sizes=(4, 8, 32, 36, 124, 128, 256, 1012, 0),
    drawn=lambda rng: [4 * int(rng.integers(*span)) for span in ((9, 250), (2561, 5121))],
    large=(280_000,),
    far=far,
    spare=128,
    counted=1 << 14,
    budget={
        "ld.requests": 6 * REQUESTS,
        "st.requests": 3 * REQUESTS,
        "st.sectors": 3 * (1 << 14) // 8,
        "ldl.sectors": 0,
    },
    limits={"ld.sectors": 1.2},
    beside=beside,
)
