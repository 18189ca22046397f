"""The first greatest of each warp."""

import numpy as np

from helpers.exercises import launches
from helpers.exercises.launches import In, Launch, Out, Wrong

SIZES = 32, 64, 96, 512, 1024


def drawn(rng):
    return launches.drawn(rng, step=256)


def launch(rng, n):
    rows = rng.integers(-9, 0, (n // 32, 32)).astype(np.float32)  # with equals
    return Launch(
        [In(rows.ravel()), Out(rows.argmax(1), dtype=np.int32)],
        grid=-(-n // 256),
        block=min(n, 256),
    )


COUNTED = 1 << 12
BUDGET = {"ld.sectors": 512, "st.sectors": 128}

WRONG = {
    "any of equals": Wrong("values", {"|| (other == best && place < where)": ""}),
    "the last of equals": Wrong("values", {"place < where": "place > where"}),
    "the least": Wrong("values", {"other > best": "other < best"}),
    "the value alone": Wrong("values", {"best = other, where = place": "best = other"}),
    "one step too few": Wrong("values", {"mask = 16": "mask = 8"}),
    "the shuffle in the if": Wrong(
        "inactive|values",
        {
            "int place = __shfl_xor_sync(0xffffffff, where, mask);\n": "",
            "(other == best && place < where)) best = other, where = place;": "(other == best)) best = other, where = __shfl_xor_sync(0xffffffff, where, mask);",
        },
    ),
    "down, and not all know": Wrong("values", {"best, mask)": "best, mask / 2)"}),
    "zeros": Wrong("values", {"= where;": "= 0;"}),
}

SURVIVORS = {
    "place <= where": "no two lanes have the same place",
    "mask = 17": "17, 8, 4, 2 and 1 lead from each lane to all others, too",
    "% 32 != 0": "all lanes of the warp have the same result",
    "== 1)": "all lanes of the warp have the same result",
    "% 31 == 0": "there is one in each warp, and all of its lanes have the same result",
    "% 33 == 0": "there is one in each warp, and all of its lanes have the same result",
    "threadIdx.y": "all lanes of the warp have the same result",
    "if (!(threadIdx.x % 32": "all lanes of the warp have the same result",
}
