"""Tiles that are copied while others are added, waited for by groups."""

import numpy as np

from helpers import checks
from helpers.exercises.for_judges import *


def launch(rng, size):
    blocks, tiles = size
    x = numbers(rng, blocks, tiles, 128)
    if blocks > 1:
        x[-1, :, 3] = np.nan
    sums = x[:, :, ::-1].sum(1, dtype=float)
    out = Out(sums, checks.gamma(tiles, np.float32) * np.abs(x[:, :, ::-1]).sum(1, dtype=float))
    what = f"{blocks} x {several(tiles, 'tile')}"
    return Launch([In(x), out, np.int32(tiles)], blocks, 128, what=what)


JUDGE = Judge(
    launch=launch,
    sizes=((1, 1), (2, 2), (1, 3), (2, 7), (1, 4)),
    drawn=lambda rng: rng.integers(((2, 5), (11, 2)), ((4, 12), (14, 5))).tolist(),
    large=((3, 300),),
    far=lambda rng: far_rows(launch(rng, (2, 3)), 2**25 + 3),
    counted=(4, 12),
    budget={"ld.sectors": (768, 800)},
    limits=None,
    # one tile under way, or none, takes 1.4 times as long
    checks=[
        PtxHas(
            {
                r"cp\.async\.c[ag]": "Copy the tiles asynchronously.",
                r"cp\.async\.(wait_group\s+[1-9]|mbarrier)": "If you wait for all groups, no"
                " tile is in flight: leave the last"
                " ones out, wait_for_groups<STAGES"
                " - 2>().",
            }
        ),
        Pace(1.2),
    ],
    advice={
        "race": "wait_for_groups<n>() counts groups, not tiles: with n = STAGES - 2, the oldest has"
        " come. Does every thread close one in each turn, even if there is no tile left to fetch?"
        " Close an empty one, too, before the loop and in it. Then let all threads meet before any"
        " of them reads or fetches."
    },
    survivors={"STAGES = 4": "room for one tile more, of which three are under way"},
)
