"""Results by boxes, from two patches in turn."""

import numpy as np

from helpers.exercises.for_judges import *

SHARED = 4 * (128 + 256) * 128 + 8 * 4096


def drawn(rng):
    m, n, k = (int(x) for x in rng.integers((130, 33, 9), (300, 70, 20)))
    return [(m, 8 * n, 8 * k, int(rng.integers(1, 4))), (520, 264, 8, 2)]


def launch(rng, size):
    m, n, k, blocks = size
    boxes, _ = boxed_product(rng, m, n, k, rows=128, is_stored=True)
    numbers = map(np.int32, (-(-m // 128), -(-n // 256), -(-k // 64)))
    what = f"{m} x {k} times {k} x {n} by {blocks}"
    return Launch([boxes, *numbers], blocks, 384, SHARED, what=what)


def explain(launch, out, got):
    expected = np.asarray(out.expected)
    line, column = np.indices(expected.shape)
    turned = column // 64 * 64 + (column // 8 % 8 ^ line % 8) * 8 + column % 8
    is_there = turned < expected.shape[1]
    made = expected[line, np.where(is_there, turned, 0)]
    got = got.reshape(expected.shape)
    if expected.shape[1] > 8 and np.allclose(got[is_there], made[is_there], 1e-2, 1e-2):
        return "The map of c is swizzled: chunk c of a patch's row r lies at chunk c ^ r % 8."
    return None


JUDGE = Judge(
    launch=launch,
    sizes=((1, 8, 8, 1), (128, 256, 64, 1), (150, 264, 136, 2), (140, 520, 72, 2)),
    drawn=drawn,
    large=((1500, 8, 8, 3),),
    counted=(384, 1024, 256, 5),
    budget={"ld.sectors": 0, "st.sectors": 0, "sts.conflicts": 0, "hmma": 1536},
    limits={"instructions": None},  # of who waits
    shared_bytes=SHARED + 1024,
    even=False,
    checks=[
        PtxHas(  # who stores no box need not wait
            {
                r"\bcp\.async\.bulk\.wait_group(\.read)?\s+[1-9]": "One box may be in flight"
                " while the other patch is"
                " written:"
                " wait_for_stores<1>()."
            }
        ),
        Pace(1.5),
    ],
    explain=explain,
    advice={
        "double write": "Two boxes cover the same elements of c: store_box takes the column of a"
        " box's corner first, then its row, and each warp has rows of its own.",
        "race": "Has the box in this patch been read? Groups belong to a lane: one lane stores"
        " all boxes, waits with wait_for_stores<1>(), since two patches take turns, and"
        " then the warp meets (__syncwarp) before it writes there.",
    },
    survivors=BY_STAGES | {"lane == 1": "another lane stores them all"},
)
