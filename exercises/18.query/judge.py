"""Attention of one query to keys and values in pages."""

import numpy as np

from helpers.exercises.for_judges import *

PAGE, WIDE, FEW = 16, 32, 24  # fewer slots than numbers of a text: these tell their shares


def launch(rng, size):
    texts, most = size
    pages = min(texts * most, 300) + 3
    q = numbers(rng, texts, WIDE)
    keys, values = (numbers(rng, pages, PAGE, WIDE) for _ in "kv")
    keys[..., 0] += np.linspace(-9, 9, PAGE)[rng.permutation(PAGE)]  # the maximum moves
    q[:, 0] += rng.choice([-9, 9, 40], texts)
    keys[..., 1] = rng.uniform(-21, -19, keys.shape[:2])
    q[:, 1] = np.resize([0, 60], texts)  # scores that are all far below 0
    seen = rng.integers(1, min(most, 8) * PAGE + 1, texts).astype(np.int32)
    seen[0] = rng.integers(PAGE + 1, FEW)
    seen[-1] = min(most, 8) * PAGE
    table = np.full((texts, most), -1, np.int32)
    for text, slots in enumerate(seen):
        own = -(-slots // PAGE)
        table[text, :own] = rng.permutation(pages)[:own]
    scale = np.float32(rng.uniform(0.1, 0.3))
    out = _out(q, keys, values, table, seen, scale)
    arrays = [In(q), In(keys), In(values), In(table), In(seen), out]
    what = f"{several(texts, 'text')} of at most {several(most, 'page')}"
    return Launch([*arrays, np.int32(most), scale], texts, WIDE, what=what)


def _rows(pages, table, seen):
    """The slots of each text in order, zeros past those that it sees."""
    slots = np.arange(seen.max())
    at = np.where(slots < seen[:, None], table[:, slots // PAGE], 0) * PAGE + slots % PAGE
    rows = pages.reshape(-1, WIDE)[at]
    return np.where((slots < seen[:, None])[..., None], rows, 0)


def _out(q, keys, values, table, seen, scale):
    rows = (_rows(pages, table, seen) for pages in (keys, values))
    is_seen = (np.arange(seen.max()) < seen[:, None])[:, None]
    with np.errstate(all="ignore"):
        out = attention(q[:, None], *rows, scale, is_seen)
    # of subnormal numbers, two roundings per key are off by half the smallest number each
    within = np.asarray(out.tolerance)[:, 0] + is_seen.shape[-1] * 2.0**-149
    out.expected, out.tolerance = out.expected[:, 0], within
    return out


def far(rng):
    pages = 8_400_000
    q, keys, values, table, seen, out, *numbers = launch(rng, (1, 1)).arguments
    first = pages - len(keys.values)
    of_pages = (
        Far(pages * PAGE * WIDE, "f4", {first * PAGE * WIDE: a.values.ravel()})
        for a in (keys, values)
    )
    expected, within = {0: out.expected.ravel()}, float(np.max(out.tolerance))
    made = Far(WIDE, "f4", {}, expected, within)
    table = In(table.values + np.int32(first))
    arguments = [q, *of_pages, table, seen, made, *numbers]
    return Launch(arguments, 1, WIDE, what=f"a cache of {pages:,} pages", blocks=[range(1)])


def explain(launch, out, got):
    q, keys, values, table, seen = (a.values for a in launch.arguments[:5])
    scale, slots = launch.arguments[-1], PAGE * len(keys)
    got = got.reshape(q.shape)
    some = np.isfinite(out.expected).all(1) & np.isfinite(got).all(1)
    wrong = some & ~(np.abs(got - out.expected) <= out.tolerance).all(1)
    in_order = np.tile(np.arange(table.shape[1], dtype=np.int32), (len(q), 1))
    first = np.tile(table[:1], (len(q), 1))
    for name, (of_pages, sees), words in (
        ("order", (in_order, seen), "Slot s is in page table[text * most + s / PAGE]."),
        ("first", (first, seen), "Each text has its own row of the table, at text · most."),
        ("fewer", (table, seen - 1), "A text sees seen[text] slots; yours leaves out the last."),
        ("whole", (table, -(-seen // PAGE) * PAGE), "A text sees seen[text] slots: its last page"
         " may have others."),
        ("same", (table, np.full_like(seen, seen[0])), "Each text sees seen[text] slots."),
        ("scale", (table, seen), "`own` is scaled already: don't multiply by scale again."),
        ("power", (table, seen), "Take powers of e, by expf, not of 2."),
    ):  # fmt: skip
        least = -(-sees.max() // PAGE)
        if sees.min() < 1 or of_pages[:, :least].max(initial=0) >= len(keys) or slots < sees.max():
            continue
        factor = scale * {"scale": scale, "power": np.log(2)}.get(name, 1)
        made = _out(q, keys, values, np.maximum(of_pages, 0), sees, factor).expected
        if wrong.any() and np.allclose(made[some], got[some], 1e-3, 1e-4):
            return words
    for text in np.flatnonzero(wrong & (seen < FEW)):
        own = (_rows(pages, table[[text]], seen[[text]])[0] for pages in (keys, values))
        return _shares(text, scale * q[text], *own, got[text])
    return None


def _shares(text, query, keys, values, got):
    """Which slot's value has the wrong share of a result, where that is made of fewer slots than it
    has numbers."""
    powers = np.exp(keys @ query - (keys @ query).max())
    right, (shares, *_) = powers / powers.sum(), np.linalg.lstsq(values.T, got, rcond=None)
    if not np.allclose(shares @ values, got, 1e-3, 1e-3):
        return (
            f"Text {text}: no shares of the values in its slots make your result. Is values[at]"
            " in the same slot as keys[at], and do all lanes have the same score?"
        )
    if abs(shares.sum() - 1) > 1e-2:
        return f"Text {text}: the shares of the values in its slots add up to {shares.sum():.4g}."
    slot = np.abs(shares - right).argmax()
    return (
        f"Text {text}: the value in slot {slot} has a share of {shares[slot] + 0:.3g}, and should"
        f" have {right[slot]:.3g}."
    )


JUDGE = Judge(
    launch=launch,
    sizes=((1, 1), (2, 3), (5, 4)),
    drawn=lambda rng: [(int(rng.integers(11, 30)), int(rng.integers(2, 6))) for _ in range(2)],
    large=((2, 33_000),),
    far=far,
    undefined={"inf": "an infinite value is a NaN if what has been added so far shrinks to 0"},
    counted=(32, 4),
    budget={"st.sectors": 128},
    limits={"instructions": 2, "barriers": None, "ld.sectors": 1.5},
    even=False,
    explain=explain,
    survivors={
        "sum = 1": "it shrinks to nothing in the first turn",
        "o = 1": "it shrinks to nothing in the first turn",
        "mask = 17": "17, 8, 4, 2 and 1 lead from each lane to all others, too",
    },
)
