"""Inclusive scans of warps."""

import numpy as np

from helpers import checks
from helpers.exercises.for_judges import *


def launch(rng, n):
    x = numbers(rng, n)
    x[7::96] = np.inf  # in every third group
    rows = x.reshape(-1, 32).astype(float)
    size = np.abs(rows).cumsum(1)
    tolerance = checks.gamma(5, np.float32) * np.where(np.isfinite(size), size, 0)
    return Launch(
        [In(x), Out(rows.cumsum(1).ravel(), tolerance.ravel())],
        grid=-(-n // 256) if n != 384 else 3,
        block=min(n, 256) if n != 384 else 128,
    )


JUDGE = Judge(
    launch=launch,
    sizes=(32, 64, 96, 384, 512, 1024),
    drawn=lambda rng: (3 * 256, int(rng.choice(range(11, 31, 2))) * 256),
    far=lambda rng: far_elements(launch(rng, 512), 2**31 + 256),
    counted=1 << 12,
    budget={"ld.requests": 128, "ld.sectors": 512, "st.sectors": 512, "shuffles": (640, 1280)},
    idea={"shuffles": (640, "Five steps, a shuffle each.")},
    without={
        r"\.shared\b": "Let the lanes exchange by shuffles: no shared memory is needed.",
        r"\bactivemask\b": "__activemask() says who happens to be here, not who is to come.",
    },
    survivors={"by <= 32": "no lane is 32 or more", "by < 33": "no lane is 32 or more"},
)
