"""What the wrong elements of an output have in common: by what they differ, and where they are."""

from collections.abc import Iterator
from copy import copy
from itertools import chain
from math import lgamma, log, prod

import numpy as np

from softgpu.phrases import Said, joined

from ..words import Next, Part
from .launches import In, Out

__all__ = ["in_common"]

Array = np.ndarray

SUMS = 3  # that must lack the same
MANY = 512  # wrong elements that are looked at
FAR_OFF = 600  # places by which an element may be moved
BLOCK = 256
ROOM = 4  # times the tolerance
LARGEST = 4096  # elements of a matrix
MOST_STEPS = 32  # of a stride
CHANCE = 1e-3  # at which what is found by chance is reported
LIKELY = 0.25  # at which, on average, finding a number among others proves nothing
TINY = 1e-30  # as good as 0
NEAR = 0.02  # of what all elements come to
TILES = 8, 16, 32, 64  # lines of a tile
SURELY = 0.999  # the cosine between matrices that differ by rounding alone
MOSTLY = 0.75  # of a row or column; others of it should be 0, or are NaN


def in_common(got: np.ndarray, out: Out, is_wrong: np.ndarray, arguments: list) -> str:
    """In words, or ""; got, is_wrong: as flat arrays; arguments: of the launch, arrays behind maps
    among them."""
    found = _Common(got, out, is_wrong, arguments)
    with np.errstate(all="ignore"):
        return next(filter(None, (way(found) for way in WAYS)), "")


class _Common:
    """The wrong elements, as far as they are looked at."""

    def __init__(self, got: Array, out: Out, is_wrong: Array, arguments: list) -> None:
        self.shape = np.shape(out.expected) or (1,)
        self.all_got, self.all = got.astype(float), np.ravel(out.expected).astype(float)
        self.is_wrong = is_wrong
        self.is_float = got.dtype.kind == "f"
        self.unit = np.finfo(got.dtype).eps if self.is_float else 0
        self.all_room = ROOM * np.broadcast_to(np.asarray(out.tolerance, float), self.shape).ravel()
        self.all_room = np.maximum(self.all_room, 2e-6 * np.abs(self.all) * self.is_float)
        self.all_room[~np.isfinite(self.all_room)] = 0
        self.every = np.flatnonzero(is_wrong)[:MANY]
        is_finite = np.isfinite(self.all_got[self.every]) & np.isfinite(self.all[self.every])
        self.places = self.every[is_finite] if is_finite.any() else self.every
        self.got, self.expected, self.room = (
            a[self.places] for a in (self.all_got, self.all, self.all_room)
        )
        self.off = self.got - self.expected
        self.count = self.places.size
        self.bits = 8 * got.itemsize
        initial = out.initial
        self.before = (
            None if initial is None else np.broadcast_to(initial, self.shape).ravel().astype(float)
        )
        given = list(enumerate(arguments, 1))
        self.inputs = {n: a.values for n, a in given if isinstance(a, In) and a.values.size}
        self.numbers = [(n, float(a)) for n, a in given if isinstance(a, np.number)]

    def is_like(self, values: Array) -> bool:
        """Whether this is what came out where it is wrong."""
        return bool(_near(self.got, values, self.room).all())

    def named(self, place: int) -> str:
        """An element's number, or its row and column."""
        if len(self.shape) < 2:
            return f"{place:,}"
        return f"[{', '.join(str(n) for n in np.unravel_index(place, self.shape))}]"

    def of_products(self, factors: Array) -> "_Common":
        """The same as a matrix of one column, whose rows are divided by these."""
        made = copy(self)
        made.shape = (self.all.size, 1)
        made.all_got, made.all = self.all_got / factors, self.all / factors
        made.all_room = self.all_room / np.abs(factors)
        made.got, made.room = made.all_got[self.places], made.all_room[self.places]
        return made

    @property
    def rows(self) -> Array:
        """The number of the row of each."""
        return self.places // self.shape[-1]

    def which(self, value: float) -> str:
        """Words on the argument that a number is, or the reciprocal of."""
        for at, number in self.numbers:
            for like, form in ((number, "{}"), (1 / number if number else 0, "1 / {}")):
                if like not in (0, 1) and abs(value - like) <= 1e-5 * abs(like):
                    return Next.NUMBER(which=_formula(form, Part.ARGUMENT(number=at)))
        return ""


def _formula(form: str, *names: str) -> Said:
    """A formula with these names in its braces."""
    between = form.split("{}")
    return joined(between[0], *chain(*zip(names, between[1:])), between="")


def _near(a: Array, b: Array, room: Array) -> Array:
    room = np.where(np.isfinite(room), room, 0)
    return (np.abs(a - b) <= room) | (a == b) | np.isnan(a) & np.isnan(b)


# --- one rule for all -----------------------------------------------------------------------------


POWERS = (log(2), Next.IS_LN_2()), (1 / log(2), Next.IS_LOG2_E())


def _on_digits(c: _Common) -> str:
    """All are near: digits are lost."""
    sizes = np.abs(c.all[np.isfinite(c.all)])
    size = np.median(sizes) if sizes.size else 0
    is_near = c.is_float and c.all.size >= 8 and (np.abs(c.off) <= NEAR * size).all()
    return Next.DIGITS() if is_near and np.ptp(c.off) > 0 else ""


def _on_zeros(c: _Common) -> str:
    if c.got.any() or not c.expected.size:
        return ""
    right = np.abs(c.all[~c.is_wrong & (c.all != 0)])
    limit = np.abs(c.expected).max()
    if c.is_float and right.size and limit < right.min() and limit < 1e-3:
        return Next.TINY(limit=f"{limit * 1.01:.3g}")
    return _on_some_zeros(c) or Next.ZERO()


def _on_before(c: _Common) -> str:
    if c.before is None or not c.before[c.places].any():
        return ""
    if np.array_equal(c.all[c.every], c.before[c.every], equal_nan=True):
        return Next.KEEPS(place=c.named(c.every[0]))
    before = c.before[c.places]
    if c.is_like(before):
        return Next.KEPT()
    if c.is_like(c.expected - before):
        return Next.ON_TOP()
    return Next.NOT_ON_TOP() if c.is_like(c.expected + before) else ""


def _on_one_value(c: _Common) -> str:
    got, expected = c.all_got[c.every], c.all[c.every]
    if got.size > 2 and (got == got[0]).all() and (expected != expected[0]).any():
        return Next.ALIKE(value=f"{got[0]:.6g}")
    if got.size > 2 and (expected == expected[0]).all() and (got != got[0]).any():
        return Next.SHOULD_BE(value=f"{expected[0]:.6g}")
    return ""


def _on_one_factor(c: _Common) -> str:
    is_usable = (np.abs(c.expected) > 4 * c.room) & np.isfinite(c.off)
    if not is_usable.any() or not np.isfinite(c.got).all():
        return ""
    if c.is_like(-c.expected):
        return Next.NEGATIVE()
    heaviest = np.argmax(np.where(is_usable, np.abs(c.expected), 0))
    times = c.got[heaviest] / c.expected[heaviest]
    is_one = np.abs(c.got - times * c.expected) <= np.maximum(1, abs(times)) * c.room
    nice = _nice(times)
    which = c.which(times)
    is_many = np.ptp(c.expected) > 0 and c.count > 1 and _is_far_off(c.off, c.room)
    is_told = nice != "1" and (is_many or which or nice.isdigit())
    return joined(Next.TIMES(times=nice), which) if times and is_one.all() and is_told else ""


def _is_far_off(off: Array, room: Array, tries: int = 1) -> bool:
    """Whether so many numbers meet a rule of one parameter by more than chance, of so many rules;
    off: what the rule explains of each; room: how near is near."""
    chances = np.clip(2 * room / max(np.ptp(off), np.abs(off).max()), 1e-300, 1)
    return np.log(np.sort(chances)[1:]).sum() + log(tries) < log(CHANCE)


def _nice(number: float) -> str:
    """A factor: a whole number, or one over such, as one writes it."""
    for value, said in ((number, "{}"), (1 / number if number else 0, "1/{}")):
        if value and abs(value) < 1e5 and abs(value - round(value)) < 1e-4 * abs(value):
            return said.format(round(value))
    return f"{number:.4g}"


def _on_times_added(c: _Common) -> str:
    """What was added to what was there before, too often."""
    if c.before is None:
        return ""
    before = c.before[c.places]
    got, expected = c.got - before, c.expected - before
    times = got[0] / expected[0] if expected[0] else 0
    is_so = (np.abs(got - times * expected) <= max(1, abs(times)) * c.room).all()
    is_often = times > 0 and _nice(times).isdigit() and _nice(times) != "1"
    return Next.ADDED(times=_nice(times)) if is_often and is_so else ""


def _on_one_offset(c: _Common) -> str:
    """All are off by one number: up, down, or away from 0."""
    off = np.median(c.off)
    is_small = c.is_float and abs(off) < CHANCE * np.median(np.abs(c.expected))
    is_within = (8 * c.room > abs(off)).any()  # any number would be near
    if not off or not np.isfinite(c.off).all() or is_small or is_within:
        return ""
    away = c.off * np.sign(np.where(c.expected, c.expected, c.got))
    if np.ptp(c.off) and c.count > 2 and (np.abs(away - away[0]) <= c.room).all():
        return (Next.TOO_FAR if away[0] > 0 else Next.TOO_NEAR)(off=f"{abs(away[0]):.6g}")
    is_one = (np.abs(c.off - off) <= c.room).all()
    is_whole = c.room.max() < CHANCE and abs(off - round(off)) <= c.room.max()
    is_many = c.count > 1 and np.ptp(c.expected) > 0
    if not is_one or not (is_many or is_whole or not c.is_float or c.which(off)):
        return ""
    way = Part.MUCH if off > 0 else Part.LITTLE
    return joined(Next.OFF(off=f"{abs(off):.6g}", way=way()), c.which(abs(off)))


def _on_wrapping(c: _Common) -> str:
    """A type of fewer bits."""
    if c.is_float and not (c.expected == np.rint(c.expected)).all():
        return ""
    for bits in (32, 16, 8):
        if c.off.any() and np.isfinite(c.off).all() and not (c.off % 2**bits).any():
            return Next.WRAPPED(size=f"{2**bits:,}", bits=bits)
    return ""


def _on_narrow_inputs(c: _Common) -> str:
    """Wrong is only what is made from a number that a smaller type does not hold."""
    same = [x.ravel() for x in c.inputs.values() if x.size == c.all.size and x.dtype.kind in "iu"]
    if c.is_float or not same:
        return ""
    for held, kind in (
        (np.int8, Part.BITS(bits=8)),
        (np.int16, Part.BITS(bits=16)),
        (np.float32, Part.FLOAT()),
    ):
        fits = np.all([x.astype(held) == x for x in same], 0)
        is_most = 2 * c.is_wrong.sum() > (~fits).sum()
        if is_most and fits.any() and not fits[c.is_wrong].any():
            if fits.sum() * log(1 - c.is_wrong.mean()) < log(CHANCE):
                return Next.HELD(kind=kind)
    return ""


# --- elsewhere ------------------------------------------------------------------------------------


def _on_moved(c: _Common) -> str:
    """The right results, in other places."""
    got, room, places = c.all_got[c.every], c.all_room[c.every], c.every
    if places.size < 2 or (c.all[places] == c.all[places[0]]).all():
        return ""
    chance = _chance(c.all, got, room)
    if chance > 0.1:
        return ""
    orders = [(np.arange(c.all.size)[::-1], Next.TURNED())]
    if len(c.shape) > 1 and c.shape[-1] > 1:
        turned = np.arange(c.all.size).reshape(c.shape[-1], -1)
        orders += [(turned.T.ravel(), Next.ROWS_AND_COLUMNS())]
        orders += [(turned.reshape(-1, c.shape[-1]).T.ravel(), Next.ROWS_AND_COLUMNS())]
    for order, which in orders:
        if _near(got, c.all[order[places]], np.maximum(room, c.all_room[order[places]])).all():
            return _moved(c, order[places], which, places)
    if told := _on_any_order(c, got, room, places):
        return told
    for by in _shifts() if chance * FAR_OFF < 0.1 else ():
        source = places + by
        is_inside = (source >= 0) & (source < c.all.size)
        if is_inside.sum() > max(1, places.size // 2):
            like = _near(got, c.all[source % c.all.size], room)[is_inside]
            if like.all() and (got[is_inside] != got[is_inside][0]).any():
                return _moved(c, source[is_inside], "", places[is_inside])
    return ""


def _chance(values: Array, wanted: Array, room: Array) -> float:
    """At which any of the values would do for all that are wanted."""
    ascending = np.sort(values)
    below = np.searchsorted(ascending, wanted - room, "left")
    return float(
        np.prod((np.searchsorted(ascending, wanted + room, "right") - below) / values.size)
    )


def _on_rows_alike(c: _Common) -> str:
    """All rows, or columns, are the same, and should not be."""
    if len(c.shape) < 2 or min(c.shape[-2:]) < 2 or c.is_wrong.sum() < 2:
        return ""
    for axis, what in ((-2, Part.ROW), (-1, Part.COLUMN)):
        alike = [
            np.array_equal(x, np.broadcast_to(x.take([0], axis), x.shape), equal_nan=True)
            for x in (c.all_got.reshape(c.shape), c.all.reshape(c.shape))
        ]
        if alike == [True, False]:
            return Next.ROWS_ALIKE(what=what())
    return ""


def _on_any_order(c: _Common, got: Array, room: Array, places: Array) -> str:
    """Each is the result of some other place, of the same matrix if there are several, or 0."""
    size = prod(c.shape[-2:])
    begin = places[0] // size * size
    here = places // size == places[0] // size
    part = c.all[begin : begin + size]
    if not np.isfinite(part).all() or not c.is_float:
        return ""
    here &= got != 0  # which is what came from past an end
    if here.sum() < 4:
        return ""
    source = _nearest(part, got[here])
    allowed = np.maximum(room[here], c.all_room[begin + source])
    is_there = np.abs(part[source] - got[here]) <= allowed
    is_own = (begin + source == places[here]).all()  # or nearly
    if is_own or not is_there.all() or not _is_no_chance(part, got[here], allowed):
        return ""
    return _moved(c, begin + source, "", places[here])


def _shifts() -> list[int]:
    """From the nearest on."""
    return sorted({*range(-FAR_OFF, FAR_OFF + 1)} - {0}, key=abs)


def _moved(c: _Common, source: Array, which: str, places: Array) -> str:
    at = np.flatnonzero(source != places)[0]
    return joined(Next.MOVED(place=c.named(places[at]), source=c.named(source[at])), which)


def _on_neighbours(c: _Common) -> str:
    """Some times an element of an input is missing, or in it besides, always as far away."""
    if not c.is_float or c.count < 3 or not np.isfinite(c.got).all():
        return ""
    for number, given in c.inputs.items():
        values = given.ravel().astype(float)
        if values.size < c.all.size // 2 or given.dtype.kind not in "fiu":
            continue
        for by in [0, *_shifts()]:
            if told := _with(c, number, values, by):
                return told
    return ""


def _with(c: _Common, number: int, values: Array, by: int) -> str:
    source = c.places + by
    is_inside = (source >= 0) & (source < values.size)
    if is_inside.sum() < max(3, c.count // 2):
        return ""
    there, off, room = values[source[is_inside]], c.off[is_inside], c.room[is_inside]
    if not np.isfinite(there).all() or np.ptp(there) == 0:
        return ""
    heaviest = np.argmax(np.abs(there))
    times = off[heaviest] / there[heaviest]
    if abs(times) < CHANCE or (np.abs(off - times * there) > room).any():
        return ""
    if not _is_far_off(off, room, 2 * FAR_OFF * len(c.inputs)):
        return ""
    nice = _nice(abs(times))
    place, first = source[is_inside][0], c.places[is_inside][0]
    return (Next.HAS_MORE if times > 0 else Next.LACKS)(
        times="" if nice == "1" else f"{nice} · ",
        number=number,
        place=f"{place:,}",
        first=c.named(first),
    )


def _on_formulas(c: _Common) -> str:
    """A simple rule makes what came out of the inputs at the same place."""
    same = {
        number: given.ravel()[c.every].astype(float)
        for number, given in c.inputs.items()
        if given.size == c.all.size
    }
    got, room = c.all_got[c.every], c.all_room[c.every]
    is_chance = np.nanprod(np.clip(2 * room / np.abs(got - c.all[c.every]), 0, 1)) > 0.05
    if is_chance or got.size < 2 and not c.is_float:
        return ""
    for number, x in same.items():
        name = Part.INPUT(number=number)
        numbers = c.numbers if got.size > 1 else []  # one may be near any of them
        rules = [*_of_one(x, name, got), *_of_two(x, name, same, number, numbers)]
        for values, words in rules:
            room_here = np.maximum(room, 2e-6 * np.abs(values) * c.is_float)
            if _near(got, values, room_here).all() and got.any():
                return Next.IS_RULE(rule=words)
    return ""


def _of_one(x: Array, name: Said, got: Array) -> Iterator[tuple[Array, Said]]:
    by, times = got[0] - x[0], got[0] / x[0] if x[0] else 0
    whole = [n for n in (by, times) if np.isfinite(n) and abs(n) < 100]
    for value in {round(n) for n in whole if abs(n - round(n)) < 1e-4} - {0, 1}:
        yield x + value, _formula(f"{{}} {'-' if value < 0 else '+'} {abs(value)}", name)
        yield x * value, _formula(f"{{}} · {value}", name)
    for function, form in (
        (lambda x: x, "{}"),
        (lambda x: -x, "-{}"),
        (np.abs, "|{}|"),
        (np.square, "{}²"),
        (lambda x: x / 2, "{} / 2"),
        (np.exp, "exp({})"),
        (np.sqrt, "sqrt({})"),
        (lambda x: 1 / x, "1 / {}"),
    ):
        yield function(x), _formula(form, name)


def _of_two(
    x: Array, name: Said, same: dict[int, Array], number: int, numbers: list
) -> Iterator[tuple[Array, Said]]:
    others = [(values, Part.INPUT(number=n)) for n, values in same.items() if n != number]
    for y, other in [*others, *((value, Part.ARGUMENT(number=at)) for at, value in numbers)]:
        yield x + y, _formula("{} + {}", name, other)
        yield x - y, _formula("{} - {}", name, other)
        yield y - x, _formula("{} - {}", other, name)
        yield x * y, _formula("{} · {}", name, other)
        yield x / y, _formula("{} / {}", name, other)


def _on_pairs(c: _Common) -> str:
    """The right rule with an element of an input that belongs to others."""
    for number, x in c.inputs.items():
        if x.size != c.all.size or not c.is_float:
            continue
        here, room = x.ravel()[c.places].astype(float), 8 * c.room
        for other, y in c.inputs.items():
            values = y.ravel().astype(float)
            if other == number or not 1 < y.size < c.all.size or y.dtype.kind != "f":
                continue
            wrong, right = (_source(values, v - here, room) for v in (c.got, c.expected))
            if wrong is None or right is None or np.array_equal(wrong, right):
                continue
            at = np.flatnonzero(wrong != right)[0]
            told = {"place": c.named(c.places[at]), "number": other}
            return Next.TAKES(wrong=wrong[at], right=right[at], **told)
    return ""


def _source(values: Array, wanted: Array, room: Array) -> Array | None:
    """Which of the values each of these is, or None."""
    if not np.isfinite(wanted).all() or _chances(values, wanted, room).mean() > LIKELY:
        return None
    nearest = _nearest(values, wanted)
    return nearest if (np.abs(values[nearest] - wanted) <= room).mean() > 0.8 else None


def _on_an_input(c: _Common) -> str:
    """Each differs by an element of an input, wherever that lies."""
    if not c.is_float or not np.isfinite(c.off).all():
        return ""
    for number, given in c.inputs.items():
        values = np.unique(given.ravel().astype(float))
        values = values[np.isfinite(values) & (values != 0)]
        for sign in (1, -1):
            off = sign * c.off
            if not values.size or not _is_no_chance(values, off, c.room):
                continue
            if (np.abs(values[_nearest(values, off)] - off) <= c.room).all():
                way = Part.MUCH() if sign > 0 else Part.LITTLE()
                value = f"{abs(c.off[0]) * np.sign(sign * c.off[0]):.6g}"
                return Next.AMONG(way=way, number=number, value=value, place=c.named(c.places[0]))
    return ""


def _is_no_chance(values: Array, wanted: Array, room: Array) -> bool:
    """Whether numbers that come so near to some of these values don't do so by chance."""
    return np.log(_chances(values, wanted, room)).sum() < log(CHANCE)


def _chances(values: Array, wanted: Array, room: Array) -> Array:
    """The chance at which each number comes so near to any of the values: how many there are, over
    the numbers' range."""
    lowest, highest = wanted.min(), wanted.max()
    span = max(highest - lowest, np.abs(wanted).max())
    count = max(1, ((values >= lowest - span) & (values <= highest + span)).sum())
    return np.clip(count * 2 * room / (3 * span), 1e-300, 1)


def _nearest(values: Array, wanted: Array) -> Array:
    """The place of the value that is nearest to each that is wanted."""
    order = np.argsort(values, axis=None)
    ascending = values.ravel()[order]
    above = np.clip(np.searchsorted(ascending, wanted), 0, order.size - 1)
    below = np.maximum(above - 1, 0)
    is_below = np.abs(wanted - ascending[below]) < np.abs(ascending[above] - wanted)
    return order[np.where(is_below, below, above)]


def _on_choice(c: _Common) -> str:
    """An element of the input, and another should have been taken."""
    for number, given in c.inputs.items():
        values = given.ravel()
        if values.size < 2 * c.all.size or np.unique(values).size < 0.9 * values.size:
            continue
        right, wrong = (np.flatnonzero(values == v[0]) for v in (c.expected, c.got))
        if np.isin(c.expected, values).all() and right.size and wrong.size:
            told = {"expected": f"{c.expected[0]:.6g}", "got": f"{c.got[0]:.6g}"}
            return Next.CHOSEN(number=number, right=f"{right[0]:,}", wrong=f"{wrong[0]:,}", **told)
    return ""


# --- sums -----------------------------------------------------------------------------------------


def _on_sums(c: _Common) -> str:
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


def _on_products(c: _Common) -> str:
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


def _on_one_operand(c: _Common, operands: dict[int, Array], unit: int) -> str:
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


def _on_a_vector(c: _Common) -> str:
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


def _on_matrices(c: _Common, a: Array, b: Array, unit: int) -> str:
    """Terms that count too often or not at all, or another element in place of one."""
    terms, others = (on(c, a, b, unit) for on in (_on_terms, _on_another_operand))
    is_weighted = isinstance(terms, Said) and terms.has(Part.WEIGHTED)
    return others if others and is_weighted else terms or others


def _on_another_operand(c: _Common, a: Array, b: Array, unit: int) -> str:
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
        yield _nearest(np.append(used, 0), solved)


def _on_terms(c: _Common, a: Array, b: Array, unit: int) -> str:
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
    how = Part.LEFT_OUT() if not counts.any() else Part.COUNTED(times=_nice(counts[0]))
    how = Part.WEIGHTED() if np.ptp(counts) else how
    return Next.TERMS(depth=depth, how=how, which=which)


def _on_counts(c: _Common) -> str:
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


# --- by rows --------------------------------------------------------------------------------------


def _by_row(c: _Common) -> Iterator[tuple[int, np.ndarray]]:
    rows = c.rows
    for row in np.unique(rows):
        yield int(row), rows == row


def _on_row_factors(c: _Common) -> str:
    """Each row by a factor of its own, or by a number of its own."""
    if len(c.shape) < 2 or c.shape[-1] < 3 or not c.is_float or not np.isfinite(c.off).all():
        return ""
    factors, offsets = [], []
    for row, here in _by_row(c):
        got, expected, room = c.got[here], c.expected[here], c.room[here]
        if here.sum() < 3 or np.ptp(expected) == 0 or not got.any():
            continue
        times = got[np.argmax(np.abs(expected))] / expected[np.argmax(np.abs(expected))]
        near = np.abs(got - times * expected) <= max(1, abs(times)) * room * 2
        factors.append((row, times, near.all()))
        off = np.median(got - expected)
        offsets.append((row, off, (np.abs(got - expected - off) <= 2 * room).all()))
    for found, words, key in (
        (factors, Next.TIMES_IN_ROW, "times"),
        (offsets, Next.OFF_IN_ROW, "off"),
    ):
        if found and all(is_so for *_, is_so in found):
            told = ((row, f"{value:.4g}") for row, value, _ in found)
            if one := next((one for one in told if one[1] != "1"), None):
                return words(**{key: one[1]}, row=one[0])
    return ""


def _on_powers(c: _Common) -> str:
    """Logarithms that are a factor off, in each row for itself: of powers, such as a softmax's."""
    if c.shape[-1] < 4 or not c.is_float or (c.all < 0).any():
        return ""
    slopes = []
    for _, here in _by_row(c):
        got, expected = c.got[here], c.expected[here]
        is_there = (got > 1e-35) & (expected > 1e-35)
        if is_there.sum() < 4 or np.ptp(np.log(expected[is_there])) < 1:
            continue
        x, y = np.log(expected[is_there]), np.log(got[is_there])
        slope, start = np.polyfit(x, y, 1)
        if np.abs(slope * x + start - y).max() > 1e-2 * max(1, np.ptp(y)):
            return ""
        slopes.append(slope)
    if not slopes or np.ptp(slopes) > 1e-2 * max(slopes) or abs(slopes[0] - 1) < 1e-2:
        return ""
    slope = float(np.median(slopes))
    which = next((said for value, said in POWERS if abs(slope - value) < 5e-3), "")
    return joined(Next.POWER(times=f"{slope:.4g}"), which or c.which(slope))


# --- where ----------------------------------------------------------------------------------------


def _on_places(c: _Common) -> str:
    """A rule for which are wrong."""
    wrong = c.is_wrong.reshape(c.shape)
    is_finite = np.isfinite(c.all).reshape(c.shape)
    may_be = wrong | ~is_finite  # NaN stay NaN, whatever is added
    if wrong.all() or c.all.size < 4:
        return ""
    for axis in range(wrong.ndim):
        others = tuple(n for n in range(wrong.ndim) if n != axis)
        some, all_ = np.asarray(wrong.any(others)), may_be.all(others)
        if not (is_finite.any(others) & ~some).any():  # nothing else could be wrong
            continue
        if not some.all() and (some.sum() <= 1.5 * all_.sum() or wrong.ndim == 1):
            if where := _where(some, _axis(wrong.ndim, axis, some.sum() == 1)):
                return (Next.ONE if some.sum() == 1 else Next.SEVERAL)(where=where)
    return ""


def _on_some_zeros(c: _Common) -> str:
    """A rule for which are 0, of those that are wrong."""
    zeros = (c.is_wrong & (c.all_got == 0)).reshape(c.shape)
    other = (~zeros & (c.all_got.reshape(c.shape) != 0)).any()
    if not zeros.any() or not other or c.all.size < 4:
        return ""
    for axis in range(zeros.ndim):
        others = tuple(n for n in range(zeros.ndim) if n != axis)
        some, all_ = np.asarray(zeros.any(others)), np.asarray(zeros.mean(others) > MOSTLY)
        if not some.all() and (some == all_).all():
            if where := _where(some, _axis(zeros.ndim, axis, some.sum() == 1)):
                return Next.ZEROS_AT(where=where)
    return ""


def _on_limits(c: _Common) -> str:
    """Wrong is what is beyond some number: of an input, or of what is expected."""
    sources = {Part.INPUT(number=n): v for n, v in c.inputs.items() if v.size == c.all.size}
    sources = {name: v.ravel().astype(float) for name, v in sources.items()}
    sources[Part.EXPECTED()] = c.all
    sizes = c.all.size, c.is_wrong.sum(), (~c.is_wrong).sum()
    ways, *others = (lgamma(size + 1) for size in sizes)  # to choose the wrong ones
    if sum(others) - ways + log(4 * len(sources)) > log(CHANCE):
        return ""
    for name, values in sources.items():
        for value, what in ((values, name), (np.abs(values), Next.MAGNITUDE(what=name))):
            wrong, right = (v[~np.isnan(v)] for v in (value[c.is_wrong], value[~c.is_wrong]))
            if not (wrong.size and right.size) or np.abs(right).max() < TINY:
                continue  # all that is not 0 is wrong
            if np.min(wrong) > np.max(right):
                return Next.BEYOND(what=what, limit=f"{np.max(right):.6g}", beyond=Part.ABOVE())
            if np.max(wrong) < np.min(right):
                return Next.BEYOND(what=what, limit=f"{np.min(right):.6g}", beyond=Part.BELOW())
    return ""


def _axis(ndim: int, axis: int, is_one: bool) -> Said:
    """What the places along an axis are called."""
    names = {1: ["ELEMENT"], 2: ["ROW", "COLUMN"], 3: ["UNIT", "ROW", "COLUMN"]}.get(ndim)
    if not names:
        return Part.INDEX(axis=axis)
    return Part[names[axis] + "S" * (not is_one)]()


def _where(some: Array, axis: Said) -> Said | None:
    """Which of an axis: one, a stretch, or the same of each so many; None: there is no rule."""
    places = np.flatnonzero(some)
    first, last = int(places[0]), int(places[-1])
    is_at_end = last == some.size - 1
    if places.size == 1:
        return (Part.LAST_AT if is_at_end else Part.AT)(axis=axis, first=first)
    if last - first + 1 == places.size:
        stretch = {} if is_at_end else {"last": last}
        return (Part.TO_END if is_at_end else Part.STRETCH)(axis=axis, first=first, **stretch)
    for size in (2, 3, 4, 5, 8, 16, 32, 64, 128, 256):
        rest = np.unique(places % size)
        if rest.size <= size // 2 and 2 * size <= some.size and places.size >= 2:
            expected = np.isin(np.arange(some.size) % size, rest)
            if (expected == some).all():
                some_rest = f"{rest[0]}" if rest.size == 1 else f"{rest[0]}–{rest[-1]}"
                if rest[-1] - rest[0] + 1 == rest.size:
                    return Part.REMAINDER(axis=axis, size=size, rest=some_rest)
    return None


WAYS = (
    _on_before,
    _on_zeros,
    _on_wrapping,
    _on_narrow_inputs,
    _on_rows_alike,
    _on_moved,
    _on_counts,
    _on_times_added,
    _on_formulas,
    _on_one_factor,
    _on_one_offset,
    _on_one_value,
    _on_sums,
    _on_products,
    _on_a_vector,
    _on_neighbours,
    _on_pairs,
    _on_an_input,
    _on_row_factors,
    _on_powers,
    _on_digits,
    _on_choice,
    _on_limits,
    _on_places,
    _on_some_zeros,
)
