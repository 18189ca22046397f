"""Scores go from one product of tensor cores into the next, in registers."""

import numpy as np

from helpers.checks import gamma, roundoff, tensor_roundings
from helpers.exercises.for_judges import *


def launch(rng, n):
    q, k, v = (numbers(rng, n, 16, wide, dtype=np.float16) for wide in (16, 16, 8))
    q *= rng.choice([1, 500], q.shape[:2])[..., None]
    if n > 1:
        q[-1, 5] = 60_000 * (np.arange(16) == 0)  # scores beyond halves
        q[-1, [1, 9], 0] = np.nan
    exact = q.astype(float) @ k.swapaxes(1, 2)
    size = np.abs(q).astype(float) @ np.abs(k).swapaxes(1, 2)
    off = 2 * gamma(tensor_roundings(16), np.float32) + roundoff("float16")
    with np.errstate(over="ignore", invalid="ignore"):
        sums = np.where(np.isinf(exact.astype(np.float16)), np.inf * exact, exact) @ v
    out = Out(sums, ((np.abs(exact) * off + size * gamma(40, np.float32)) @ np.abs(v)) + 1e-6)
    return Launch([In(q), In(k), In(v), out], n, 32, what=several(n, "unit"))


def explain(launch, out, got):
    q, k, v = (argument.values[0].astype(float) for argument in launch.arguments[:3])
    scores, right = q @ k.T, np.reshape(out.expected, (-1, 16, 8))[0]
    got = got.reshape(-1, 16, 8)[0]
    if np.allclose(got, right, 1e-2, 1e-2 * np.abs(right).max()):
        return "Round each score to the nearest half: to ∞ where it is beyond 65,504."
    as_halves = (scores.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    for made, words in (
        (as_halves.view(np.float16).astype(float), "The products take p as halves, not bfloat16."),
        (np.maximum(scores, 0), "Scores below 0 are lost: store them as they are."),
    ):
        with np.errstate(all="ignore"):
            if np.allclose(made @ v, got, 1e-2, 1e-2 * np.abs(made @ v).max()):
                return words
    return misplaced(scores, v, got, ("score", None)) or (
        "A register of p takes two neighbouring scores of a row as halves, the first in its"
        " lower half: both from the same `score[t]`, numbers 0 and 1, or 2 and 3."
    )


JUDGE = Judge(
    launch=launch,
    sizes=(1, 3),
    drawn=lambda rng: (int(rng.integers(5, 9)), int(rng.integers(12, 20))),
    large=(300,),
    far=lambda rng: far_rows(launch(rng, 5), 34_000_000),
    counted=16,
    budget={"hmma": 48},
    limits={"instructions": 1.25},
    idea={"hmma": (48, "Let the warp multiply: multiply_add.")},
    without={
        r"\bshfl\b": "Each lane already has what it needs, without a shuffle.",
        r"\.shared\b": "Each lane already has what it needs, without shared memory.",
    },
    explain=explain,
)
