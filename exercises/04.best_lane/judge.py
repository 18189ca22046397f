"""The first greatest of each warp."""

import numpy as np

from helpers.exercises.for_judges import *


def launch(rng, n):
    rows = varied(rng, n // 32, 32)
    return Launch(
        [In(rows.ravel()), Out(rows.argmax(1), dtype=np.int32)],
        grid=-(-n // 256) if n != 384 else 3,
        block=min(n, 256) if n != 384 else 128,
    )


def far(rng):
    n, last = 2**31 + 256, 2**31 + 64
    row = varied(rng, 1, 32)[0]
    out = Far(n // 32, np.int32, {}, {last // 32: [row.argmax()]})
    arguments = [Far(n, np.float32, {last: row}), out]
    return Launch(
        arguments, n // 256, 256, what=f"n = {n:,}", blocks=[range(n // 256 - 1, n // 256)]
    )


def beside(launch, places, got):
    """The element of the lane that was found, and of the right one."""
    rows, right = launch.arguments[0].values.reshape(-1, 32), launch.arguments[1].expected
    return {
        "x there": [rows[g, got[g]] if 0 <= got[g] < 32 else np.nan for g in places],
        "greatest": [rows[g, right[g]] for g in places],
    }


JUDGE = Judge(
    launch=launch,
    sizes=(32, 64, 96, 384, 512, 1024),
    drawn=lambda rng: (3 * 256, int(rng.choice(range(11, 31, 2))) * 256),
    undefined={"NaN": "no comparison with it is true, so the order of the lanes decides"},
    far=far,
    counted=1 << 12,
    budget={"ld.sectors": 512, "st.sectors": 128, "shuffles": (1280, 1536)},
    idea={"shuffles": (640, "Let the lanes exchange what they have by shuffles.")},
    without={
        r"\.shared\b": "Let the lanes exchange by shuffles: no shared memory is needed.",
        r"\bactivemask\b": "__activemask() says who happens to be here, not who is to come.",
    },
    beside=beside,
    survivors={
        "place <= where": "no two lanes have the same place",
        "mask = 17": "17, 8, 4, 2 and 1 lead from each lane to all others, too",
        "% 32 != 0": "all lanes of the warp have the same result",
        "== 1)": "all lanes of the warp have the same result",
        "% 31 == 0": "there is one in each warp, and all of its lanes have the same result",
        "% 33 == 0": "there is one in each warp, and all of its lanes have the same result",
        "threadIdx.y": "all lanes of the warp have the same result",
        "if (!(threadIdx.x % 32": "all lanes of the warp have the same result",
    },
)
