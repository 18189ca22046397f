"""Products in which terms are missing or counted again, or that multiply other elements."""

from collections.abc import Iterator
from math import prod

import numpy as np

from softgpu.phrases import Said

from ...words import Next, Part
from .elements import Array, Wrong, nearest, nice

__all__ = ["on_a_vector", "on_products"]

LARGEST = 4096  # elements of a matrix
TILES = 8, 16, 32, 64  # lines of a tile
SURELY = 0.999  # the cosine between matrices that differ by rounding alone


def on_products(c: Wrong) -> str:
    """A product of matrices of which some terms are left out, or of other matrices."""
    if len(c.shape) < 2 or not np.isfinite(c.got).all():
        return ""
    m, n = c.shape[-2:]
    matrices = [(number, given) for number, given in c.inputs.items() if given.ndim >= 2]
    for (first, a), (second, b) in zip(matrices, matrices[1:]):
        unit = int(c.places[0]) // (m * n)
        a, b = (np.asarray(x, float).reshape(-1, *x.shape[-2:]) for x in (a, b))
        a, b = (x[unit % len(x)] for x in (a, b))
        ways = [way for way in (b, b.T) if a.shape[0] == m and way.shape == (a.shape[1], n)]
        if ways and a.shape[1] > 1:
            expected = c.all[unit * m * n : (unit + 1) * m * n].reshape(m, n)
            b = max(ways, key=lambda way: _likeness(a @ way, expected))
            return _on_matrices(c, a, b, unit) or _on_one_operand(c, {first: a, second: b}, unit)
    return ""


def _on_one_operand(c: Wrong, operands: dict[int, Array], unit: int) -> str:
    """One of the two is multiplied by itself."""
    m, n = c.shape[-2:]
    got = c.all_got[unit * m * n : (unit + 1) * m * n].reshape(m, n)
    for number, x in operands.items():
        if any(_likeness(made, got) > SURELY for made in _squares(x, got.shape)):
            return Next.SAME_OPERAND(number=number)
    return ""


def _squares(x: Array, shape: tuple[int, int]) -> Iterator[Array]:
    """The products of a matrix by itself, turned or not, that have this shape."""
    for y, z in ((x, x), (x, x.T), (x.T, x)):
        if x.size <= LARGEST and y.shape[1] == z.shape[0] and (len(y), z.shape[1]) == shape:
            yield y @ z


def on_a_vector(c: Wrong) -> str:
    """The same for a matrix times a vector, where each row's result may have a factor."""
    if len(c.shape) != 1 or not c.is_float or not np.isfinite(c.got).all():
        return ""
    inputs = [np.asarray(given, float) for given in c.inputs.values()]
    for w in (x for x in inputs if x.ndim == 2 and len(x) == c.all.size and x.shape[1] > 1):
        for x in (x[:, None] for x in inputs if x.shape == w.shape[1:]):
            if (factors := c.all / (w @ x)[:, 0]).all() and np.isfinite(factors).all():
                of_rows = c.of_products(factors)
                return _on_matrices(of_rows, w, x, 0)
    return ""


def _on_matrices(c: Wrong, a: Array, b: Array, unit: int) -> str:
    """Terms that count too often or not at all, or another element in place of one."""
    terms, others = (on(c, a, b, unit) for on in (_on_terms, _on_another_operand))
    is_weighted = isinstance(terms, Said) and terms.has(Part.WEIGHTED)
    return others if others and is_weighted else terms or others


def _on_another_operand(c: Wrong, a: Array, b: Array, unit: int) -> str:
    """The product of one of the two as it should be, and of another matrix of the other's numbers:
    which, to come to this?"""
    size = prod(c.shape[-2:])
    here = np.s_[unit * size : (unit + 1) * size]
    got, room = (x[here].reshape(c.shape[-2:]) for x in (c.all_got, c.all_room))
    if max(a.size, b.size) > LARGEST:
        return ""
    expected = c.all[here].reshape(c.shape[-2:])
    a = a * _scale(expected, a @ b, room)
    room = room + c.unit * np.abs(got)
    got = got - expected + a @ b  # whatever else is added
    for which, known, used, wanted, off in (
        (Part.SECOND, a, b, got, room),
        (Part.FIRST, b.T, a.T, got.T, room.T),
    ):
        rows = np.isfinite(known).all(1)
        columns = np.flatnonzero(np.isfinite(wanted[rows]).all(0) & np.isfinite(off[rows]).all(0))
        known, wanted, off = known[rows], wanted[rows][:, columns], off[rows][:, columns]
        if not wanted.size:
            continue
        for source in _sources(known, used, wanted, columns):
            made, right = np.append(used, 0)[source], used[:, columns]
            is_so = (np.abs(known @ made - wanted) <= 2 * off).all()
            wrong = np.argwhere((made != right) & _are_single(made, used))
            if is_so and len(wrong):
                row, column = wrong[0]
                taken = np.unravel_index(source[row, column], used.shape)
                places = [
                    p if which == Part.SECOND else p[::-1] for p in (taken, (row, columns[column]))
                ]
                said = [f"[{row}, {column}]" for row, column in places]
                return Next.OPERAND(which=which(), right=said[0], wrong=said[1])
    return ""


def _likeness(a: Array, b: Array) -> float:
    """The cosine of the angle between two, as far as they are finite; 0 for none."""
    a, b = (x[np.isfinite(a) & np.isfinite(b)] for x in (a, b))
    return float(abs(a @ b) / max(np.linalg.norm(a) * np.linalg.norm(b), 1e-300))


def _are_single(values: Array, among: Array) -> Array:
    """Which of these are there once."""
    distinct, counts = np.unique(among, return_counts=True)
    at = np.clip(np.searchsorted(distinct, values), 0, distinct.size - 1)
    return (distinct[at] == values) & (counts[at] == 1)


def _scale(expected: Array, products: Array, room: Array) -> float:
    """The number by which all products are to be multiplied, or 1."""
    is_there = np.isfinite(expected) & np.isfinite(products) & (products != 0)
    if not is_there.any():
        return 1
    ratio = float(np.median(expected[is_there] / products[is_there]))
    is_one = np.abs(expected - ratio * products) <= room
    return ratio if is_one[is_there].all() else 1


def _sources(known: Array, used: Array, wanted: Array, columns: Array) -> Iterator[Array]:
    """Which of its elements may have been used at each place of these columns: rows and columns
    exchanged, of elements or of tiles, whole rows, or whatever solves the equations. One past the
    last: a 0."""
    yield np.arange(used.size).reshape(used.shape[::-1]).T[:, columns]
    row, column = np.arange(used.shape[0])[:, None], columns
    for side in TILES:
        y, x = column // side * side + row % side, row // side * side + column % side
        is_inside = (y < used.shape[0]) & (x < used.shape[1])
        yield np.where(is_inside, y * used.shape[1] + x, used.size)
    if known.shape[0] >= known.shape[1]:
        solved = np.linalg.lstsq(known, wanted, rcond=None)[0]
        off = [np.abs(used[:, columns] - row).sum(1) for row in solved]
        yield np.argmin(np.nan_to_num(off, nan=np.inf), 1)[:, None] * used.shape[1] + columns
        yield nearest(np.append(used, 0), solved)


def _on_terms(c: Wrong, a: Array, b: Array, unit: int) -> str:
    """With which weight each term counts: a term is left out for 0."""
    depth, size = a.shape[1], prod(c.shape[-2:])
    here = c.places // size == unit
    i, j = np.divmod(c.places[here] - unit * size, c.shape[-1])
    if len(i) < 1.5 * depth:
        return ""
    terms, got = a[i] * b[:, j].T, c.got[here]
    if not np.isfinite(terms).all():
        return ""
    each = np.where(c.room[here] > 0, c.room[here], 1)  # so that all rows count alike
    weights, *_ = np.linalg.lstsq(terms / each[:, None], got / each, rcond=None)
    if (np.abs(terms @ weights - got) > c.room[here] + c.unit * np.abs(got)).any():
        return ""
    weights = np.where(np.abs(weights - np.rint(weights)) < 1e-2, np.rint(weights), weights)
    others = np.flatnonzero(weights != 1)
    if not others.size or not weights.any():  # all are 0
        return ""
    first, last = others[0], others[-1]
    which = Part.TERM(first=first) if first == last else Part.TERMS(first=first, last=last)
    if others.size != last - first + 1:
        which = Part.SCATTERED(count=others.size, first=first)
    counts = weights[others]
    how = Part.LEFT_OUT() if not counts.any() else Part.COUNTED(times=nice(counts[0]))
    how = Part.WEIGHTED() if np.ptp(counts) else how
    return Next.TERMS(depth=depth, how=how, which=which)
