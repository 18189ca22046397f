"""What judges put into arrays: numbers at random, and those that are awkward."""

from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from .launches import Out

__all__ = [
    "ANY_LANE",
    "ATTENDED",
    "BY_ATOMICS",
    "KINDS",
    "SCALED",
    "SPECIAL",
    "Special",
    "any_floats",
    "climbing",
    "drawn_rows",
    "eighths",
    "lossy",
    "numbers",
    "planted",
    "scales",
    "varied",
    "with_nan",
    "with_nan_query",
    "with_special",
]

SPECIAL = np.inf, -np.inf, np.nan, -0.0, 1e-45, 1e38  # of floats; the last but one is subnormal

KINDS: dict[str, tuple[int, ...]] = {  # {how: times which power of two, floats and halves}
    "NaN": (),
    "inf": (),
    "large": (40, 4),
    "small": (-40, -6),
    "subnormal products": (-70, -9),
    "subnormal": (-140, -18),
}
EXACT = {"subnormal products", "subnormal"}
ANY_LANE = dict.fromkeys(  # for a judge's `survivors`
    ["lane != 0", "lane == 1", "if (!(lane == 0))"], "all lanes of the warp have the same result"
)
BY_ATOMICS = {"subnormal": "an atomicAdd of floats takes such a number for 0"}
SCALED = dict.fromkeys(  # for a judge's `undefined`
    ["large", "small", "subnormal products", "subnormal"],
    "the launch itself scales or shifts its numbers",
)
ATTENDED = {  # the same, for attention
    "large": "such scores' last digits decide whose power is 1",
    "subnormal": "each share of such a value is rounded",
}


def _few_digits(values: np.ndarray) -> np.ndarray:
    """Multiples of 1/8: their products and sums round nothing, even where they are subnormal."""
    return np.rint(8 * values) / 8


class Special(np.random.Generator):
    """A source of numbers whose arrays of floats are each of this kind, one of KINDS."""

    def __init__(self, seed: Any, kind: str) -> None:
        super().__init__(np.random.PCG64(seed))
        self.kind = kind

    def among(self, values: np.ndarray) -> np.ndarray:
        if self.kind in ("NaN", "inf"):  # somewhere, if they have room, of either sign
            return planted(self, values, self.choice([-1, 1]) * float(self.kind))
        power = KINDS[self.kind][values.itemsize == 2]
        values = _few_digits(values) if self.kind in EXACT else values
        return np.ldexp(values, power).astype(values.dtype)


def with_special(rng: np.random.Generator, values: np.ndarray) -> np.ndarray:
    """The values, as a Special has them."""
    return rng.among(values) if isinstance(rng, Special) else values


def numbers(rng: np.random.Generator, *shape: int, dtype: DTypeLike = np.float32) -> np.ndarray:
    """Random numbers with fractions and both signs; whole ones for integers."""
    dtype = np.dtype(dtype)
    if dtype.kind == "f":
        return with_special(rng, rng.standard_normal(shape).astype(dtype))
    limits = np.iinfo(dtype)
    return rng.integers(max(limits.min, -1000), min(limits.max, 1000), shape, dtype, endpoint=True)


def eighths(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Random numbers with fractions, whose sums round nothing."""
    return with_special(rng, (rng.integers(-72, 73, shape) / 8).astype(np.float32))


def scales(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Random factors from 1e-9 to 1e9: what is added, held or cut off shows beside them."""
    return (10.0 ** rng.uniform(-9, 9, shape)).astype(np.float32)


def planted(rng: np.random.Generator, values: np.ndarray, *special: float) -> np.ndarray:
    """The values, each special one in a random place among them, if there is room for others."""
    if values.size > len(special):
        values.flat[rng.permutation(values.size)[: len(special)]] = special
    return values


def with_nan_query(q: np.ndarray, out: Out) -> None:
    """Put a NaN into one query, if it has neighbours: it must come out, in its own row alone."""
    if q.shape[1] > 1:
        q[-1, 1, -1] = out.expected[-1, 1] = np.nan


def with_nan(rng: np.random.Generator, rows: np.ndarray, lanes: int) -> np.ndarray:
    """The rows with a NaN each, by turns: the first that its lane reads, one that its lane reads
    after a number, and alone among -inf."""
    hidden = rows.shape[1]
    for number, row in enumerate(rows):
        is_later, is_alone = number % 3 == 1 and hidden > lanes, number % 3 == 2
        place = rng.integers(*((lanes, hidden) if is_later else (0, min(lanes, hidden))))
        if is_later:
            row[place - lanes] = 1
        if is_alone:
            row[:] = -np.inf
        row[place] = np.nan
    return rows


def varied(rng: np.random.Generator, batch: int, hidden: int) -> np.ndarray:
    """Rows of floats, each of another kind: ordinary, large, tiny, with equals and infinities."""
    kinds = (
        lambda x: x,
        np.round,
        lambda x: np.float32(1e30) * x,
        lambda x: np.float32(-1e30) * np.abs(x),
        lambda x: np.float32(1e-42) * x,
        lambda x: np.where(x > 0, x[0], np.nextafter(x[0], x[0] + 1)),
        lambda x: np.full_like(x, x[0]),
        lambda x: np.where(x > 0, np.float32(0), np.float32(-0.0)),
        lambda x: np.where(x > 1, x, -np.inf),
        lambda x: np.where(x > 1, np.inf, x),
        lambda x: np.full_like(x, -np.inf),
    )
    rows, start = numbers(rng, batch, hidden), rng.integers(len(kinds))
    for number, row in enumerate(rows):
        row[:] = kinds[(start + number) % len(kinds)](row.copy())
    return rows


def drawn_rows(rng: np.random.Generator) -> tuple[tuple[int, int], ...]:
    """Two matrices' (rows, columns) at random: many short rows, and a few long ones."""
    return (
        (int(rng.integers(41, 90)), int(rng.integers(2, 65))),
        (int(rng.integers(2, 4)), int(rng.integers(1030, 3000))),
    )


def climbing(
    rng: np.random.Generator, units: int, queries: int, keys: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """q, k and v; a query's scores grow or fall along the keys, some overflow as powers, and some
    queries have none but low ones."""
    q, k, v = (numbers(rng, units, n, 32) for n in (queries, keys, keys))
    k[..., 0] = np.linspace(-9, 9, keys)
    q[..., 0] = rng.choice([-9, 9, 100, -100], (units, queries))
    k[..., 1] = rng.uniform(-21, -19, (units, keys))
    q[..., 1] = rng.choice([0, 200, 8000], (units, queries))
    return q, k, v


def any_floats(rng: np.random.Generator, n: int) -> np.ndarray:
    """Ordinary numbers, in all places infinities, NaN, zeros of both signs, extremes among them."""
    x, where = numbers(rng, n), rng.random(n) < 0.3
    limits = np.finfo(np.float32)
    special = [np.inf, -np.inf, np.nan, 0, -0.0, limits.max, limits.tiny, limits.smallest_subnormal]
    x[where] = rng.choice(np.array(special, np.float32), where.sum())
    return x


def lossy(rng: np.random.Generator, n: int) -> np.ndarray:
    """Numbers of both signs, most above 0, whose plain sum rounds the same way nearly each time.

    A sum of thousands has no room for what they have past 1 / 1024, about 0.4 of that. All are
    scaled by one random power of two, so that no fixed point will do."""
    x = (rng.integers(700, 1300, n) + rng.uniform(0.39, 0.41, n)) / 1024
    x *= np.where(rng.random(n) < 0.1, -1, 1)
    return with_special(rng, np.ldexp(x, rng.integers(-60, 60)).astype(np.float32))
