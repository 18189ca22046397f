"""Attention of split keys: the parts become one."""

import numpy as np

from helpers.checks import gamma, roundoff
from helpers.exercises.for_judges import *


def launch(rng, size):
    splits, rows, length = size
    parts = numbers(rng, splits, rows, length)
    around = rng.permutation(np.resize(np.float32([-300, 300, 0, -3000]), rows))
    logs = around + numbers(rng, splits, rows) * np.float32(3)
    logs[rng.random(logs.shape) < 0.2] = -np.inf
    if splits:
        logs[rng.integers(splits, size=rows), np.arange(rows)] = around
    if splits > 99:
        logs[-1, 0] = 3000  # all that came before is nothing to it
    logs[:, 3::5] = -np.inf
    parts[logs == -np.inf] = np.nan  # 0 / 0
    if rows > 2 and splits:
        parts[logs[:, 1].argmax(), 1, 0] = np.nan  # which was seen, so it must show
        logs[0, 2] = np.nan
    peak = logs.max(0, initial=-np.inf)
    weights = np.exp(logs - np.where(peak == -np.inf, 0, peak).astype(float))[..., None]
    seen = np.where(logs[..., None] == -np.inf, 0, parts.astype(float))
    total = np.maximum(weights.sum(0), 1e-300)
    off = (
        gamma(4 * splits + 8, "float32")
        + 4
        * roundoff("float32")
        * np.abs(np.where(logs == -np.inf, 0, logs)).max(0, initial=0)[:, None]
    )
    out = Out(
        (weights * seen).sum(0) / total, off * (weights * np.abs(seen)).sum(0) / total + 2.0**-126
    )
    arguments = [In(parts), In(logs), out, *map(np.int32, size)]
    return Launch(
        arguments, rows, length, what=f"{several(splits, 'part')} of {several(rows, 'row', length)}"
    )


def explain(launch, out, got):
    parts, logs = (argument.values.astype(float) for argument in launch.arguments[:2])
    got = got.reshape(np.shape(out.expected))
    with np.errstate(all="ignore"):
        peak = logs.max(0, initial=-np.inf)
        wrong = ~(np.abs(got - out.expected) <= out.tolerance) & np.isfinite(out.expected)
        rows = wrong.any(1)
        if rows.any() and (peak[rows] == -np.inf).all():
            return "If no part of a row saw a key, the result is 0: its total stays 0, only there."
        if not logs.size:
            return None
        turned = logs.reshape(logs.shape[::-1]).T
        weights = np.exp(logs - peak)
        for made, words in (
            (
                _mean(parts, np.exp(turned - turned.max(0))),
                "Part s of a row has logs[s * rows + row].",
            ),
            (
                _mean(parts, np.exp(logs[:, :1] - logs[:, :1].max()) + 0 * logs),
                "Each row has logarithms of its own: logs[s * rows + row].",
            ),
            (
                _mean(parts, np.exp2(logs - peak)),
                "The logarithms are natural ones: use expf, or multiply them by log₂ e.",
            ),
            (_mean(parts, weights, weights > 0), "Multiply each part by its weight, too."),
            (_mean(parts, weights > 0), "Weigh each part, by expf(log - peak)."),
            (_mean(parts, weights) * weights.sum(0)[:, None], "Divide by the sum of the weights."),
            (
                _mean(parts, weights) * weights.sum(0)[:, None] / len(parts),
                "Divide by the sum of the weights, not by their number.",
            ),
        ):
            is_there = np.isfinite(got) & np.isfinite(made)
            if wrong[is_there].any() and np.allclose(made[is_there], got[is_there], 1e-3, 1e-5):
                return words
        is_lost = ((got == 0) | np.isnan(got))[wrong].all()
        if rows.any() and np.abs(peak[rows]).min() > 80 and is_lost:
            return (
                "Their logarithms are so large, or so small, that all powers are ∞ or 0: first"
                " subtract the row's largest logarithm, which may be far below 0."
            )
    return None


def _mean(parts, weights, factors=None):
    """Of parts[s, row, i] with weights[s, row]; factors: in place of the weights, in the sums."""
    factors = weights if factors is None else factors
    return (factors[..., None] * np.nan_to_num(parts)).sum(0) / weights.sum(0)[:, None]


def far(rng):
    """Five rows of so many that 32 bits hold no place of a part, or of a result."""
    size, rows = (2, 5, 5), 900_000_000
    parts, logs, out = launch(rng, size).arguments[:3]
    at = np.linspace(0, rows - 1, 5, dtype=int)
    of_logs, of_out = np.arange(2)[:, None] * rows + at, at[:, None] * 5 + np.arange(5)
    of_parts = of_logs[..., None] * 5 + np.arange(5)
    arguments = [
        Far(10 * rows, np.float32, pieces(of_parts.ravel(), parts.values.ravel())),
        Far(2 * rows, np.float32, pieces(of_logs.ravel(), logs.values.ravel())),
        Far(
            5 * rows,
            np.float32,
            {},
            pieces(of_out.ravel(), out.expected.ravel()),
            np.nanmax(out.tolerance),
        ),
        *map(np.int32, (2, rows, 5)),
    ]
    what = f"2 parts of {several(rows, 'row')} of 5"
    return Launch(arguments, rows, 5, what=what, blocks=[range(row, row + 1) for row in at])


JUDGE = Judge(
    launch=launch,
    sizes=((1, 1, 1), (3, 4, 33), (7, 12, 64), (0, 2, 3)),
    drawn=lambda rng: rng.integers(((2, 5, 3), (9, 11, 40)), ((6, 10, 90), (14, 30, 130))).tolist(),
    large=((300, 3, 5), (33_000, 1, 3)),
    far=far,
    counted=(8, 32, 64),
    budget={"st.sectors": 256},
    explain=explain,
    limits={"barriers": (128,)},  # of who finds the greatest logarithm once for a row
)
