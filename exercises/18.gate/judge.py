"""SwiGLU of rows: gates, and what passes them."""

import numpy as np

from helpers.exercises.for_judges import *


def launch(rng, size):
    rows, hidden = size
    made = numbers(rng, rows, 2, hidden)
    made[:, 0] *= rng.choice([1, 5, 70], (rows, hidden)).astype(np.float32)
    y = _swiglu(made.astype(float))
    # what an exponential, a sum, a quotient and a product round, and a result that is subnormal
    y = np.where(np.abs(y) < 2.0**-125, 0, y)
    within = 2.0**-20 * (1 + np.abs(made[:, 0].astype(float))) * np.abs(y) + 2.0**-120
    out = Out(y, np.where(np.isfinite(within), within, 0))
    grid = max(1, -(-hidden // 256)), rows
    what = several(rows, "row", hidden)
    return Launch([In(made), out, np.int32(hidden)], grid, 256, what=what)


def _swiglu(made):
    with np.errstate(all="ignore"):
        return made[:, 0] / (1 + np.exp(-made[:, 0])) * made[:, 1]


def explain(launch, out, got):
    made = launch.arguments[0].values.astype(float)
    got = got.reshape(np.shape(out.expected))
    gate, passing = made.swapaxes(0, 1)
    pairs = made.reshape(len(made), -1, 2).swapaxes(1, 2)
    with np.errstate(all="ignore"):
        for other, words in (
            (passing / (1 + np.exp(-gate)), "The gate is a factor, too: gate / (1 + exp(-gate))."),
            (_swiglu(made[:, ::-1]), "Gates come first in a row, then what passes them."),
            (_swiglu(pairs), "A gate's partner is `hidden` elements further on."),
            (gate / (1 + np.exp(gate)) * passing, "The exponent is minus the gate."),
            (gate / (1 + np.exp(-gate)), "Multiply by what passes the gate."),
            (np.maximum(gate, 0) * passing, "A gate below 0 is not closed: that would be ReLU."),
            (gate / (1 + np.exp2(-gate)) * passing, "The power is one of e: expf, not exp2f."),
            (gate / (1 + np.exp(-2 * gate)) * passing, "(1 + tanh(x)) / 2 is 1 / (1 + exp(-2 x))."),
        ):  # fmt: skip
            known = np.isfinite(other) & np.isfinite(got) & (np.abs(other) > 1e-30)
            if known.sum() > 3 and np.allclose(other[known], got[known], 1e-3, 0):
                return words
        if (np.isnan(got) & np.isfinite(out.expected)).any():
            return "∞ / ∞ is NaN: with exp(-gate) below the line, only 1 is above the other."
        return _partner(made, got, out.expected) or _factor(made, got, out.expected)


def _partner(made, got, expected):
    """Which element has passed the first wrong gate, if some element has for each of a few."""
    share = made[:, 0] / (1 + np.exp(-made[:, 0]))
    known = np.isfinite(got) & (np.abs(share) > 1e-3) & ~np.isclose(got, expected, 1e-3, 0)
    wrong = np.argwhere(known)[:5]
    found = [
        np.argwhere(np.isclose(made, got[at] / share[at], 1e-5, 0)) for at in map(tuple, wrong)
    ]
    if len(found) < 3 or any(len(places) != 1 for places in found):
        return None
    row, i = wrong[0].tolist()
    return f"y{[row, i]} is made with made{found[0][0].tolist()}: its partner is made{[row, 1, i]}."


def _factor(made, got, expected):
    """What the first wrong gate makes of the number that passes it."""
    wrong = np.isfinite(got) & ~np.isclose(got, expected, 1e-3, 1e-30)
    if not wrong.any():
        return None
    row, i = np.argwhere(wrong)[0]
    gate, passing = made[row, :, i]
    yours, right = got[row, i] / passing, expected[row, i] / passing
    return (
        f"In y[{row}, {i}], the gate {gate:.4g} becomes a factor of {yours:.4g}: it should be"
        f" gate / (1 + exp(-gate)), {right:.4g}."
    )


JUDGE = Judge(
    launch=launch,
    sizes=((1, 1), (3, 255), (2, 257), (5, 100), (3, 0)),
    drawn=lambda rng: [(int(rng.integers(11, 30)), int(rng.integers(257, 700))), (2, 1000)],
    large=((1, 40_000), (33_000, 1)),
    far=lambda rng: far_rows(launch(rng, (3, 65_600)), 40_000),
    counted=(8, 1024),
    budget={"ld.sectors": 2048, "st.sectors": 1024},
    explain=explain,
)
