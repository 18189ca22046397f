"""Powers of e as powers of two."""

import numpy as np

from helpers.checks import roundoff
from helpers.exercises.for_judges import *


def drawn(rng):
    return (int(rng.integers(12, 40)), int(rng.integers(30, 200))), (2, int(rng.integers(500, 900)))


def launch(rng, size):
    rows, keys = size
    s = numbers(rng, rows, keys) * np.float32(20)
    s += rng.permutation(np.resize(np.float32([0, 3000, -3000]), rows))[:, None]  # e^s overflows
    s[:, 1::7] = -np.inf
    peak, scale = s.max(1), np.float32(rng.uniform(0.1, 0.4))
    with np.errstate(under="ignore"):
        p = np.exp(float(scale) * (s.astype(float) - peak[:, None].astype(float)))
    with np.errstate(invalid="ignore"):  # exponents are rounded, and so are their parts
        sizes = float(scale) * (np.abs(s) + np.abs(peak[:, None])) + 2
    error = np.where(p > 0, p * np.expm1(8 * roundoff("float32") * np.where(p > 0, sizes, 0)), 0)
    out = Out(p, error + 2.0**-126)
    arguments = [In(s), In(peak), out, scale, np.int32(keys)]
    return Launch(arguments, rows, 32, what=several(rows, "row", keys))


def _has_few_digits(got, out):
    """Whether most of the wrong logarithms are off by about the same share of each."""
    right = out.expected
    with np.errstate(all="ignore"):
        wrong = (np.abs(got - right) > out.tolerance) & (got > 0) & (right < 0.9)
        shares = (np.log(got) / np.log(right) - 1)[wrong]
        share = np.median(shares) if shares.size else 0
        return 0 < abs(share) < 1e-3 and (np.abs(shares / share - 1) < 0.3).mean() > 0.6


LOG2_E = np.log2(np.e)


def explain(launch, out, got):
    s, peak = (argument.values.astype(float) for argument in launch.arguments[:2])
    got, scale, peak = got.reshape(s.shape), float(launch.arguments[3]), peak[:, None]
    with np.errstate(all="ignore"):
        for made, words in (
            (scale * s - peak / LOG2_E, "Scale the peak, too: b is c * peak."),
            (scale * s, "Subtract the peak: the exponent is scale * (s - peak) * log₂ e."),
            (
                s - peak * scale,
                "Scale the score, too: the exponent is scale * (s - peak) * log₂ e.",
            ),
            (scale * s - peak, "Scale the peak, too: the exponent is scale * (s - peak) * log₂ e."),
            (
                scale * (s - peak) / LOG2_E,
                "A power of 2 is not a power of e: multiply by log₂ e, 1.44269504f.",
            ),
            (
                scale * (s - peak) / LOG2_E**2,
                "You multiply by ln 2: log₂ e is 1 / ln 2, 1.44269504f.",
            ),
        ):
            if np.allclose(got, np.exp(made), 1e-2, 1e-30):
                return words
    if _has_few_digits(got, out):
        return "All exponents are off by the same share: log₂ e is 1.44269504f, with all digits."
    is_large = np.isfinite(s) & (np.abs(scale * s) > 88)
    wrong = ~np.isclose(got, out.expected, 1e-2, 1e-6) & np.isfinite(s)
    if wrong.any() and is_large[wrong].all():
        return (
            "Rows are wrong if a score is so large that its own power is ∞ or 0: subtract the"
            " peak in the exponent, before the power, and don't clamp the score."
        )
    return None


JUDGE = Judge(
    launch=launch,
    sizes=((1, 1), (3, 33), (2, 300)),
    drawn=drawn,
    large=((3, 70_003),),
    far=lambda rng: far_rows(launch(rng, (5, 1300)), 3_400_000),
    undefined={
        "large": "such scores' last digits decide whether a power is 1 or 0",
        "small": "powers of numbers near 0 are 1",
        "subnormal products": "powers of numbers near 0 are 1",
        "subnormal": "powers of numbers near 0 are 1",
    },
    counted=(16, 1024),
    budget={"st.sectors": 2048},
    limits={"instructions": 1.1},
    explain=explain,
    advice={
        "instructions": "Each power is one multiply-add and one exp2f: exp2f(c * s - b), with c and"
        " b from before the loop, and the loop unrolled. expf multiplies by log₂ e once more, and"
        " guards small results."
    },
    rounding="How many digits does your log₂ e have? A float holds 1.44269504f. And subtract"
    " the peak from the score before you round: in one multiply-add.",
)
