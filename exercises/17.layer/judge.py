"""A layer's columns spread over ranks: a product, and an all-gather by its stores."""

import numpy as np

from helpers.exercises.for_judges import *


def drawn(rng):
    rows, depth, wide = (int(rng.integers(*ends)) for ends in ((3, 9), (20, 60), (60, 300)))
    return (rows, depth, wide, 1), (3, 7, 2700 + wide, 2)


def launch(rng, size):
    rows, depth, wide, rank = size
    x, w = numbers(rng, rows, depth), planted(rng, numbers(rng, depth, wide), np.nan)
    if depth > 1:
        x[::2, 1], w[1, ::5] = 0, np.inf  # times 0 it is not 0
    own, ranks = product(x, w), []
    mine, within = slice(rank * wide, (rank + 1) * wide), np.zeros((rows, 4 * wide))
    within[:, mine] = own.tolerance
    for _ in range(4):
        before = numbers(rng, rows, 4 * wide)
        after = before.copy()
        after[:, mine] = own.expected
        ranks.append(Out(after, within, initial=before))
    arguments = [In(x), In(w), *ranks, *map(np.int32, (depth, wide, rank))]
    what = f"{rows} x {depth} times {depth} x {wide}, rank {rank}"
    return Launch(arguments, (blocks_for(wide), rows), 256, what=what)


def explain(launch, out, got):
    wide, rank = map(int, launch.arguments[-2:])
    got = got.reshape(np.shape(out.expected))
    if np.array_equal(got, out.initial.astype(got.dtype), equal_nan=True):
        return "One rank has none of the results: store each to a, b, c and d."
    place = np.s_[:, rank * wide : (rank + 1) * wide]
    within = np.asarray(out.tolerance)[place]
    own = out.expected[place]
    for other in {0, 1, 2, 3} - {rank}:
        there = got[:, other * wide : (other + 1) * wide]
        if _are_near(there, own, within):
            return (
                f"What belongs to the columns of rank {rank} is in the columns of rank {other}:"
                " a rank's begin at rank * wide."
            )
    last, room = own[-1][np.isfinite(own[-1])], np.max(within, initial=0, where=np.isfinite(within))
    if _are_near(got[place], own, within):
        return _on_others(got, np.asarray(out.initial), wide, rank)
    if last.size and np.nanmin(np.abs(got.ravel() - last[:, None]), 1).max() <= room:
        return (
            "Your results are in other places: a row has 4 * wide columns, and a rank's begin at"
            " rank * wide."
        )
    x, w = launch.arguments[:2]
    own_got = got[place]
    with np.errstate(invalid="ignore"):
        wrong = ~((np.abs(own_got - own) <= within) | (own_got == own) | np.isnan(own))
    return in_common(own_got.ravel(), Out(own, within), wrong.ravel(), [x, w]) or None


def _on_others(got, before, wide, rank):
    """Which column of another rank was changed, in words."""
    changed = ((got != before) & ~np.isnan(before)).any(0)
    changed[rank * wide : (rank + 1) * wide] = False
    column = int(np.flatnonzero(changed)[0])
    return f"Column {column} belongs to rank {column // wide}: leave it as it is."


def _are_near(a, b, within):
    with np.errstate(invalid="ignore"):
        return ((np.abs(a - b) <= within) | (a == b) | np.isnan(a) & np.isnan(b)).all()


def far(rng):
    """The last columns of the last row, where 32 bits hold no place of w or of a result."""
    rows, depth, wide, rank = 9, 17, 2**28 + 5, 3
    k, columns = np.arange(depth), np.arange(wide - wide % 256, wide)
    x, w = numbers(rng, 1, k.size), numbers(rng, k.size, columns.size)
    out = product(x, w)
    to = ((rows - 1) * 4 + rank) * wide + columns
    expected = pieces(to, out.expected[0].astype(np.float32))
    given = [
        Far(rows * depth, np.float32, pieces((rows - 1) * depth + k, x[0])),
        Far(depth * wide, np.float32, pieces((k[:, None] * wide + columns).ravel(), w.ravel())),
        *(Far(rows * 4 * wide, np.float32, {}, expected, np.max(out.tolerance)) for _ in "abcd"),
    ]
    blocks = blocks_for(wide)
    last = blocks * rows - 1
    what = f"{rows:,} x {depth:,} times {depth:,} x {wide:,}, rank {rank}"
    numbers_ = map(np.int32, (depth, wide, rank))
    return Launch(
        [*given, *numbers_], (blocks, rows), 256, what=what, blocks=[range(last, last + 1)]
    )


JUDGE = Judge(
    launch=launch,
    sizes=((1, 1, 1, 0), (3, 5, 7, 3), (2, 33, 257, 1), (5, 0, 20, 2), (2, 3, 0, 1)),
    drawn=drawn,
    large=((70, 9, 3001, 3), (2, 70_003, 5, 1)),
    far=far,
    counted=(8, 32, 512, 2),
    budget={"ld.sectors": (20_480, 20_480), "st.sectors": (2048, 2048)},
    explain=explain,
    limits=dict.fromkeys(  # a row of x may be shared, and ranks may be an array
        ["barriers", "lds.wavefronts", "sts.wavefronts", "ldl.sectors", "stl.sectors"]
    ),
)
