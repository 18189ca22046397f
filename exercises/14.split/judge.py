"""Products of floats by tf32, in three parts."""

import numpy as np

from helpers.exercises.for_judges import *


def launch(rng, size):
    n, k = size
    a, b = numbers(rng, n, 16, k), numbers(rng, n, k, 8)
    if k > 1000:  # what is left out of a sum in which nothing cancels shows
        a, b = abs(a), abs(b)
    if n > 1:
        a[-1, 5, 3] = np.nan
    sums, sizes = (f(a).astype(float) @ f(b).astype(float) for f in (np.array, np.abs))
    # left out: rest times rest, below 2^-20, and of each rest what is past its own 10 bits, below
    # 2^-21; cut off in each of 3 k / 8 sums: below 11 parts of 2^-24.
    out = Out(sums, (2.0**-20 + 2 * 2.0**-21 + 3 * k / 8 * 11 * 2.0**-24) * sizes)
    return Launch([In(a), In(b), out, np.int32(k)], n, 32, what=f"{several(n, 'product')}, k = {k}")


FRACTION = 23  # bits of a float
READ = 10  # of these, by the tensor cores


def upper(x, bits=READ):
    """Of floats, so many bits of the fraction."""
    return (x.view(np.uint32) & np.uint32(-(1 << FRACTION - bits) % 2**32)).view(np.float32)


def explain(launch, out, got):
    """Which of the products are there, and how often; or how many bits are cut off."""
    a, b = (argument.values[:1] for argument in launch.arguments[:2])
    got = got.reshape(np.shape(out.expected))[0]
    parts = [[part.astype(float)[0] for part in (upper(x), x - upper(x))] for x in (a, b)]
    (p, r), (q, s) = parts
    made = p @ q, r @ q, p @ s
    products = dict(zip(("upper a · upper b", "rest of a · upper b", "upper a · rest of b"), made))
    if not np.isfinite(got).all() or not np.isfinite(a).all():
        return None
    terms = np.stack([made.ravel() for made in products.values()], 1)
    counts, *_ = np.linalg.lstsq(terms, got.ravel(), rcond=None)
    is_near = np.abs(terms @ counts - got.ravel()) <= 1e-4 * np.abs(p @ q).max()
    found = [(name, n) for name, n in zip(products, np.rint(counts)) if n != 1]
    if is_near.all() and np.abs(counts - np.rint(counts)).max() < 0.05 and found:
        return f"Your sum has {found[0][0]} {found[0][1]:.0f} times: it should be there once."
    for bits in range(FRACTION):
        (r, s) = ((x - upper(x, bits))[0] for x in (a, b))
        made = upper(r) @ upper(b)[0] + upper(a)[0] @ upper(s) + p @ q
        if bits != READ and np.abs(made - got).max() <= 1e-5 * np.abs(p @ q).max():
            return (
                f"Your rests are what is left past {bits} bits of the fraction, and the tensor"
                f" cores read {READ}: what lies in between counts twice, or not at all."
            )
    return None


JUDGE = Judge(
    launch=launch,
    sizes=((1, 8), (2, 40)),
    drawn=lambda rng: [(int(rng.integers(3, 6)), 8 * int(rng.integers(5, 12))), (11, 16)],
    large=((3, 40_000),),
    undefined={"inf": "what is left of an infinity is a NaN"},
    far=lambda rng: far_rows(launch(rng, (5, 64)), 34_000_000),
    explain=explain,
    counted=(8, 32),
    budget={"hmma": 96},
    limits={"instructions": 4},
    idea={
        "hmma": (
            96,
            "One product of truncated numbers has three digits. What did truncation leave out?",
        )
    },
    advice={
        "hmma": "Three products are enough: which of pq, ps, rq and rs is too small to matter?"
    },
    without={
        r"\bfma\b|\bmul\.(rn\.)?f32\b": "Let the tensor cores multiply: subtract, and call"
        " multiply."
    },
)
