"""A judge of its own for the first exercise, and what verdicts on its texts say."""

import numpy as np
import pytest

from helpers import autoinit, exercises
from helpers.exercises import launches, values
from helpers.exercises.judges import Judge

# beside a real GPU xray wants a kernel's source, and its driver maps more memory than is allowed
software = pytest.mark.skipif(not autoinit.is_software, reason="about the software GPU")
FIRST = "00.double"


def twice(rng, n):
    x = values.numbers(rng, n)
    out = launches.Out(2 * x)
    return launches.Launch([launches.In(x), out, np.int64(n)], max(1, -(-n // 256)), 256)


# what the judge of the first exercise says at the least
PLAIN = Judge(launch=twice, counted=1 << 16, budget={"ld.sectors": 8192, "st.sectors": 8192})


def changed(old, new):
    return exercises.solution(FIRST).replace(old, new)


def reasons(verdict):
    return [str(reason) for reason in verdict.reasons]


def codes(verdict):
    return [reason.code for reason in verdict.reasons]
