"""Results by boxes, from two patches in turn."""

import numpy as np

from helpers.exercises.launches import BY_STAGES, Launch, Wrong, boxed_product

SIZES = (1, 8, 8, 1), (128, 256, 64, 1), (150, 264, 136, 2), (300, 520, 72, 2)
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


LARGE = ((1500, 264, 8, 3),)
COUNTED = 384, 1024, 256, 5
SHARED_BYTES = SHARED + 1024
BUDGET = {"ld.sectors": 0, "st.sectors": 0, "sts.conflicts": 0, "hmma": 1536}
LIMITS = {"instructions": None}  # of who waits
EVEN = False
PACE = 1.5
GROUP, PUT = r"\bcp\.async\.bulk\.commit_group\b", r"\bst\.shared\b"
BETWEEN = {
    (GROUP, PUT): (
        r"\bcp\.async\.bulk\.wait_group\.read\s+[1-9]",
        "One box may be on its way while the other patch is written: wait_for_stores<1>().",
    )
}

FREE = "        wait_for_stores<1>();\n        __syncwarp();\n"
SHOWN = "        show_stores();\n        __syncwarp();\n        if"
LAST = "    wait_for_stores<0>();\n"
WRONG = {
    "written while it is copied": Wrong("race|bulk|copy", {"        wait_for_stores<1>();\n": ""}),
    "waits too late": Wrong("race|bulk|copy", {"wait_for_stores<1>": "wait_for_stores<2>"}),
    "waits for all": Wrong("some path", {"wait_for_stores<1>": "wait_for_stores<0>"}),
    "only one lane knows that it is free": Wrong("race", {FREE: "        wait_for_stores<1>();\n"}),
    "stores not shown": Wrong("proxy|race", {"        show_stores();\n": ""}),
    "stored before all have written": Wrong("race|syncwarp", {SHOWN: "        show_stores();\n        if"}),
    "one lane after the other": Wrong("race|bulk|copy", {"if (lane == 0) store_box": "if (lane == box) store_box"}),
    "all lanes store": Wrong("clock", {"if (lane == 0) store_box": "store_box"}),
    "no swizzle": Wrong("values", {"(chunk ^ row % 8)": "chunk"}),
    "swizzled by the lane": Wrong("values", {"(chunk ^ row % 8)": "(chunk ^ lane % 8)"}),
    "the first box again": Wrong("values", {"left + box * 64": "left"}),
    "the block ends first": Wrong("unfinished|bulk|copy|race", {LAST: ""}),
    "by lanes after all": Wrong("parameters|values|sectors", {"store_box(map, left + box * 64, top, 0, __cvta_generic_to_shared(patch));": ";"}),
}  # fmt: skip

SURVIVORS = BY_STAGES | {
    "lane == 1": "another lane stores them all",
}
