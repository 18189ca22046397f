"""Every rank reads all arrays, and adds in one order."""

import numpy as np

from helpers.exercises.for_judges import *


def launch(rng, n):
    ranks = [numbers(rng, n) * scales(rng, n) for _ in range(4)]
    a, b, c, d = ranks
    a[:1], b[:2], d[1:2], c[2:3] = 3e38, 3e38, np.inf, np.nan
    a[3:5], d[4:5], a[5:6] = np.inf, -np.inf, np.nan
    for rank in ranks:
        rank[6:7], rank[7:8] = -0.0, 1e-40
    out = Out(a + b + c + d, bits=True)
    return Launch([*map(In, ranks), out, np.int64(n)], blocks_for(n), 256, what=f"n = {n}")


def far(rng):
    ranks = [far_numbers(rng) for _ in range(4)]
    a, b, c, d = (rank.pieces for rank in ranks)
    expected = {at: a[at] + b[at] + c[at] + d[at] if at in (0, PAST) else [0] for at in a}
    return far_launch([*ranks, Far(FAR, np.float32, {}, expected), np.int64(FAR)])


JUDGE = Judge(
    launch=launch,
    large=(70_003,),
    far=far,
    undefined={"subnormal": "some are, of each rank"},
    counted=1 << 14,
    budget={"ld.sectors": (8192, 8192), "st.sectors": (2048, 2048)},
    inputs=same_place,
    rounding="Add a, b, c and d in this order: another order rounds differently.",
)
