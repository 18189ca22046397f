"""A tile whose chunks lie so that ldmatrix has no conflicts."""

import numpy as np

from helpers.exercises.launches import In, Launch, Out, Wrong

SIZES = 1, 2


def drawn(rng):
    return int(rng.integers(3, 6)), int(rng.integers(11, 15))


def launch(rng, n):
    """A warp has tiles [lower, row, step, right, pair of halves], and a register of its fragments,
    [step, right, lower], has a row's four pairs in four lanes."""
    x = rng.integers(0, 1 << 32, (n, 4, 2, 8, 4, 2, 4), np.uint32)
    fragments = x.transpose(0, 1, 4, 5, 2, 3, 6)
    out = Out(fragments.reshape(-1), dtype=np.uint32)
    return Launch([In(x.reshape(-1)), out], n, 128, what=f"{n} tiles")


LARGE = (300,)
COUNTED = 4
BUDGET = {
    "lds.conflicts": 0,
    "sts.conflicts": 0,
    "lds.wavefronts": 256,
    "sts.wavefronts": 256,
    "shared": 8192,
}
LEAVE = "Leave the kernel as it is: only place(line, chunk) is asked for."
IDEA = {"lds.wavefronts": (256, LEAVE), "sts.wavefronts": (256, LEAVE)}
TEXT = {r"place\(i / CHUNKS, i % CHUNKS\)": LEAVE, r"load_matrices<false>\(p": LEAVE}

WRONG = {
    "four places only": Wrong("conflicts", {"line % CHUNKS": "line % 4"}),
    "another every eight lines": Wrong("conflicts", {"line % CHUNKS": "line / 8 % 8"}),
    "two chunks in one place": Wrong("double write|values|race", {"chunk ^ line % CHUNKS": "chunk & line % CHUNKS"}),
    "padding": Wrong("out of bounds|shared", {"line * LINE + (chunk ^ line % CHUNKS)": "line * (LINE + CHUNK) + chunk"}),
    "padding with room for it": Wrong(
        "shared",
        {"tile[LINES * LINE]": "tile[LINES * (LINE + 16)]", "line * LINE + (chunk ^ line % CHUNKS)": "line * (LINE + CHUNK) + chunk"},
    ),
    "past the end": Wrong("out of bounds|values|race", {"(chunk ^ line % CHUNKS)": "(chunk + line % CHUNKS)"}),
    "by columns of chunks": Wrong("conflicts", {"line * LINE + (chunk ^ line % CHUNKS) * CHUNK": "chunk * LINES * CHUNK + line * CHUNK"}),
}  # fmt: skip
