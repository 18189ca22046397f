"""Sums and counts in which a part is missing, or counted again."""

from collections.abc import Iterator

import numpy as np

from softgpu.phrases import Said

from ...words import Next, Part
from .elements import NEAR, Array, Wrong

__all__ = ["on_counts", "on_sums"]

SUMS = 3  # that must lack the same
BLOCK = 256
MOST_STEPS = 32  # of a stride


def on_sums(c: Wrong) -> str:
    """Each is the sum of part of an input; some of that is left out, or added again."""
    if not c.is_float or not np.isfinite(c.got).all():
        return ""
    for given in c.inputs.values():
        for terms in _groups(given, c.all.size):
            sums = terms.sum(1)
            if (np.abs(sums - c.all)[np.isfinite(c.all)] <= c.all_room[np.isfinite(c.all)]).all():
                parts = [
                    _part(terms[place], got, room)
                    for place, got, room in zip(c.places[:SUMS], c.got, c.room)
                ]
                if parts[0] and len({part and next(part.codes) for part in parts}) == 1:
                    return Next.IN_SUM(place=c.named(c.places[0]), part=parts[0])
    return ""


def _groups(values: Array, count: int) -> Iterator[np.ndarray]:
    """The values by what may be added up to so many results: rows, columns, or blocks."""
    values = values.astype(float).ravel()
    if values.size and values.size % count == 0:
        rows = values.reshape(count, -1)
        yield from (rows, rows / rows.shape[1])
        if count > 1:
            yield values.reshape(-1, count).T
    if (count - 1) * BLOCK < values.size <= count * BLOCK:
        yield np.pad(values, (0, count * BLOCK - values.size)).reshape(count, BLOCK)


def _part(terms: Array, got: float, room: float) -> Said | None:
    """Which part of the terms comes to this, or None."""
    n, ends = terms.size, np.append(0, np.cumsum(terms))
    places = np.arange(n)
    parts = {
        Part.NO_SIGNS(): np.abs(terms).sum(),
        Part.FIRST_FOR_ALL(): n * terms[0],
        Part.NO_LAST(): ends[-2],
        Part.NO_FIRST(): ends[-1] - terms[0],
    }
    for size in range(2, min(n, MOST_STEPS) + 1):
        classes = np.bincount(places % size, terms, size)
        for number, value in enumerate(classes):
            parts[Part.WITHOUT_ONE(number=number, size=size)] = ends[-1] - value
            parts[Part.ONE(number=number, size=size)] = value
            parts[Part.ONE_FOR_ALL(number=number, size=size)] = size * value
        again = terms[places // size].sum()
        parts[Part.REPEATED(size=size)] = again
    for bit in range(2, n.bit_length()):
        for few in range(1, bit):
            low = terms[places % (1 << bit) < 1 << few].sum()
            parts[Part.SOME(few=1 << few, size=1 << bit)] = low
            parts[Part.SOME_TWICE(few=1 << few, size=1 << bit)] = 2 * low
    if 2 * room > NEAR * np.ptp([*parts.values()]):
        return None
    near = [what for what, value in parts.items() if abs(got - value) <= room]
    if near:
        return near[0] if len(near) <= 3 or n < 4 else None
    forms = (
        (ends, Part.NO_END),
        (ends[-1] - ends, Part.NO_BEGINNING),
        (2 * ends[-1] - ends, Part.END_TWICE),
        (ends[-1] + ends, Part.BEGINNING_TWICE),
    )
    for values, part in forms:
        ends_there = np.flatnonzero(np.abs(got - values) <= room)
        if ends_there.size == 1 and 0 < ends_there[0] < n:
            return part(number=int(ends_there[0]))
    return None


def on_counts(c: Wrong) -> str:
    """As many too many, or too few, as there are of a kind."""
    if c.all.size > 1 or c.off[0] != np.rint(c.off[0]) or c.before is None and c.is_float:
        return ""
    off = int(c.off[0])
    for number, given in c.inputs.items():
        kinds = {Part.NANS(number=number): np.isnan(given).sum()} if given.dtype.kind == "f" else {}
        for at, value in c.numbers:
            kinds[Part.EQUALS(number=number, at=at)] = (given == given.dtype.type(value)).sum()
        for which, count in kinds.items():
            if count and abs(off) == count:
                way = Part.MANY() if off > 0 else Part.FEW()
                return Next.COUNTED_IN(off=count, way=way, which=which)
    return ""
