"""Results by boxes, from two patches in turn."""

import numpy as np

from helpers.exercises.extra_checks import Pace, PtxHas
from helpers.exercises.judges import Judge
from helpers.exercises.launches import Launch
from helpers.exercises.products import BY_STAGES, boxed_product

SHARED = 4 * (128 + 256) * 128 + 8 * 4096


def drawn(rng):
    m, n, k = (int(x) for x in rng.integers((130, 33, 9), (400, 90, 20)))
    return [(m, 8 * n, 8 * k, int(rng.integers(1, 4))), (520, 296, 72, 2)]


def launch(rng, size):
    m, n, k, blocks = size
    boxes, _ = boxed_product(rng, m, n, k, rows=128, is_stored=True)
    numbers = map(np.int32, (-(-m // 128), -(-n // 256), -(-k // 64)))
    what = f"{m} x {k} times {k} x {n} by {blocks}"
    return Launch([boxes, *numbers], blocks, 384, SHARED, what=what)


JUDGE = Judge(
    launch=launch,
    sizes=((1, 8, 8, 1), (128, 256, 64, 1), (150, 264, 136, 2), (300, 520, 72, 2)),
    drawn=drawn,
    large=((1500, 264, 8, 3),),
    counted=(384, 1024, 256, 5),
    budget={"ld.sectors": 0, "st.sectors": 0, "sts.conflicts": 0, "hmma": 1536},
    limits={"instructions": None},  # of who waits
    shared_bytes=SHARED + 1024,
    even=False,
    checks=[
        PtxHas(  # who stores no box need not wait
            {
                r"\bcp\.async\.bulk\.wait_group(\.read)?\s+[1-9]": "One box may be on its way"
                " while the other patch is written: wait_for_stores<1>()."
            }
        ),
        Pace(1.5),
    ],
    survivors=BY_STAGES
    | {
        "lane == 1": "another lane stores them all",
    },
)
