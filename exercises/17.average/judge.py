"""A step of gradient descent that leaves all ranks with the same bits."""

import numpy as np

from helpers.exercises.distant import FAR, PAST, far_launch, far_numbers
from helpers.exercises.judges import Judge
from helpers.exercises.launches import In, Launch, Out, blocks_for, same_place
from helpers.exercises.values import numbers, planted, scales


def launch(rng, n):
    ranks = [numbers(rng, n) * scales(rng, n) for _ in range(4)]
    a, b, c, d = ranks
    planted(rng, a, 3e30, -3e30, np.inf, np.nan)
    w, rate = numbers(rng, n), np.float32(rng.uniform(0.01, 0.9))
    out = Out(w - rate * ((a + b + c + d) / np.float32(4)), initial=w, bits=True)
    return Launch([*map(In, ranks), out, np.int64(n), rate], blocks_for(n), 256, what=f"n = {n}")


def far(rng):
    *ranks, w = (far_numbers(rng) for _ in range(5))
    rate = np.float32(rng.uniform(0.01, 0.9))
    a, b, c, d = (rank.pieces for rank in ranks)
    w.expected = {
        at: old - rate * ((a[at] + b[at] + c[at] + d[at]) / np.float32(4))
        if at in (0, PAST)
        else old
        for at, old in w.pieces.items()
    }
    return far_launch([*ranks, w, np.int64(FAR), rate])


JUDGE = Judge(
    launch=launch,
    large=(70_003,),
    far=far,
    counted=1 << 14,
    budget={"ld.sectors": (10240, 10240), "st.sectors": (2048, 2048)},
    inputs=same_place,
    rounding=(
        "Round the product with the rate by itself, `__fmul_rn`, and add in the order a, b, c, d."
    ),
)
