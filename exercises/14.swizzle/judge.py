"""A tile whose chunks lie so that ldmatrix has no conflicts."""

import numpy as np

from helpers.exercises.for_judges import *


def launch(rng, n):
    """A warp has tiles [lower, row, step, right, pair of halves], and a register of its fragments,
    [step, right, lower], has a row's four pairs in four lanes."""
    x = rng.integers(0, 1 << 32, (n, 4, 2, 8, 4, 2, 4), np.uint32)
    fragments = x.transpose(0, 1, 4, 5, 2, 3, 6)
    out = Out(fragments.reshape(-1), dtype=np.uint32)
    return Launch([In(x.reshape(-1)), out], n, 128, what=several(n, "tile"))


LEAVE = "Leave the kernel as it is: write only place(line, chunk)."


JUDGE = Judge(
    launch=launch,
    sizes=(1, 2),
    drawn=lambda rng: (int(rng.integers(3, 6)), int(rng.integers(11, 15))),
    large=(300,),
    counted=4,
    budget={
        "lds.conflicts": 0,
        "sts.conflicts": 0,
        "lds.wavefronts": 256,
        "sts.wavefronts": 256,
        "shared": 8192,
    },
    idea={"lds.wavefronts": (256, LEAVE), "sts.wavefronts": (256, LEAVE)},
    advice={
        "double write": "Two chunks of a line go to one place: eight chunks need eight places.",
        "shared": "A line has 128 bytes, without padding: change the order of its chunks instead.",
    },
    checks=[
        TextHas({r"place\(i / CHUNKS, i % CHUNKS\)": LEAVE, r"load_matrices<false>\(p": LEAVE})
    ],
)
