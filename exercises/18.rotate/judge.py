"""Rotary positions of rows, in place."""

import numpy as np

from helpers.exercises.for_judges import *

SIZE, HALF = 32, 16


def rows_of(rng, rows, positions):
    x = numbers(rng, rows, SIZE)
    angles = rng.uniform(-3, 3, (positions, HALF))
    turns = np.stack([np.cos(angles), np.sin(angles)], -1).astype(np.float32)
    at = rng.integers(0, positions, rows).astype(np.int32)
    return x, turns, at


def turned(x, turn):
    """The points, and the sum of the sizes of what each coordinate is made of."""
    with np.errstate(all="ignore"):
        (a, b), (c, s) = np.split(x.astype(float), 2, -1), np.moveaxis(turn.astype(float), -1, 0)
        made = np.concatenate([a * c - b * s, b * c + a * s], -1)
        size = np.concatenate([np.abs(a * c) + np.abs(b * s), np.abs(b * c) + np.abs(a * s)], -1)
    return made, np.where(np.isfinite(size), 2.0**-22 * size, 0)


def launch(rng, rows):
    x, turns, at = rows_of(rng, rows, 1 if rows == 1 else 50)
    out = Out(*turned(x, turns[at]), initial=x)
    arguments = [out, In(turns), In(at), np.int64(rows)]
    return Launch(arguments, blocks_for(rows * HALF), 256, what=several(rows, "row"))


def far(rng):
    rows = (1 << 27) + 77
    x, turns, at = rows_of(rng, 16, 9)
    made, tolerance = turned(x, turns[at])
    place, flat = (rows - 16) * SIZE, x.ravel()
    held = Far(rows * SIZE, "f4", {place: flat}, {place: made.ravel()}, {place: tolerance.ravel()})
    of_rows = Far(rows, "i4", {rows - 16: at})
    last = blocks_for(rows * HALF) - 1
    blocks = [range(last - 1, last + 1)]
    arguments = [held, In(turns), of_rows, np.int64(rows)]
    return Launch(arguments, last + 1, 256, what=f"{rows:,} rows", blocks=blocks)


def explain(launch, out, got):
    x, turns, at = out.initial, launch.arguments[1].values, launch.arguments[2].values
    got = got.reshape(x.shape).astype(float)
    neighbours = x.reshape(-1, HALF, 2).swapaxes(1, 2).reshape(x.shape)
    a, b = np.split(x.astype(float), 2, -1)
    cosine, sine = np.moveaxis(turns[at].astype(float), -1, 0)
    with np.errstate(all="ignore"):
        first = a * cosine - b * sine
        backwards = turns[at] * np.float32([1, -1])
        of_pairs = turned(neighbours, turns[at])[0].reshape(-1, 2, HALF).swapaxes(1, 2)
        for made, words in (
            (turned(x, backwards)[0], "The first coordinate loses b · sine, the second gains"
             " a · sine: yours turns the other way."),
            (np.concatenate([first, b * cosine + first * sine], -1),
             "Load a and b before you store: your second result uses the first one."),
            (of_pairs.reshape(x.shape), "Element i belongs to element i + SIZE / 2, not to its"
             " neighbour."),
        ):  # fmt: skip
            known = np.isfinite(made) & np.isfinite(got)
            if known.sum() > 3 and np.allclose(made[known], got[known], 1e-4, 1e-5):
                return words
        return _turned_by(a, b, *np.split(got, 2, -1), turns, at)


def _turned_by(a, b, made_a, made_b, turns, at):
    """Whose cosine and sine have turned the first point that is not turned by its own."""
    size = a * a + b * b
    used = np.stack([a * made_a + b * made_b, a * made_b - b * made_a], -1) / size[..., None]
    wrong = np.isfinite(used).all(-1) & (np.abs(used - turns[at]) > 1e-3).any(-1) & (size > 1e-3)
    for row, i in np.argwhere(wrong):
        found = np.argwhere((np.abs(turns - used[row, i]) < 1e-4).all(-1))
        if len(found) == 1:
            return (
                f"Point {i} of row {row} is turned by turns{found[0].tolist()}: row {row} has"
                f" position {at[row]}, so turns{[int(at[row]), int(i)]} is its own."
            )
    return None


JUDGE = Judge(
    launch=launch,
    sizes=(1, 2, 15, 16, 17, 100, 0),
    drawn=drawn,
    large=(33_000,),
    far=far,
    spare=128,
    counted=1024,
    budget={"st.sectors": 4096},
    explain=explain,
)
