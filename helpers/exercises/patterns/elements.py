"""The wrong elements; how near numbers are to others, and how near chance would bring them."""

from copy import copy
from itertools import chain
from math import log

import numpy as np

from softgpu.phrases import Said, joined

from ...words import Next, Part
from ..launches import In, Out

__all__ = [
    *("Array", "CHANCE", "NEAR", "Wrong", "chances", "formula", "is_far_off", "is_no_chance"),
    *("near", "nearest", "nice"),
]

Array = np.ndarray

MANY = 512  # wrong elements that are looked at
ROOM = 4  # times the tolerance
CHANCE = 1e-3  # at which what is found by chance is reported
NEAR = 0.02  # of what all elements come to


class Wrong:
    """The wrong elements, as far as they are looked at."""

    def __init__(self, got: Array, out: Out, is_wrong: Array, arguments: list) -> None:
        self.shape = np.shape(out.expected) or (1,)
        self.all_got, self.all = got.astype(float), np.ravel(out.expected).astype(float)
        self.is_wrong = is_wrong
        self.is_float, self.is_bool = (got.dtype.kind == kind for kind in "fb")
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
        return bool(near(self.got, values, self.room).all())

    def named(self, place: int) -> str:
        """An element's number, or its row and column."""
        if len(self.shape) < 2:
            return f"{place:,}"
        return f"[{', '.join(str(n) for n in np.unravel_index(place, self.shape))}]"

    def of_products(self, factors: Array) -> "Wrong":
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
                    return Next.NUMBER(which=formula(form, Part.ARGUMENT(number=at)))
        return ""


def formula(form: str, *names: str) -> Said:
    """A formula with these names in its braces."""
    between = form.split("{}")
    return joined(between[0], *chain(*zip(names, between[1:])), between="")


def near(a: Array, b: Array, room: Array) -> Array:
    room = np.where(np.isfinite(room), room, 0)
    return (np.abs(a - b) <= room) | (a == b) | np.isnan(a) & np.isnan(b)


def nearest(values: Array, wanted: Array) -> Array:
    """The place of the value that is nearest to each that is wanted."""
    order = np.argsort(values, axis=None)
    ascending = values.ravel()[order]
    above = np.clip(np.searchsorted(ascending, wanted), 0, order.size - 1)
    below = np.maximum(above - 1, 0)
    is_below = np.abs(wanted - ascending[below]) < np.abs(ascending[above] - wanted)
    return order[np.where(is_below, below, above)]


def nice(number: float) -> str:
    """A factor: a whole number, or one over such, as one writes it."""
    for value, said in ((number, "{}"), (1 / number if number else 0, "1/{}")):
        if value and abs(value) < 1e5 and abs(value - round(value)) < 1e-4 * abs(value):
            return said.format(round(value))
    return f"{number:.4g}"


def is_far_off(off: Array, room: Array, tries: int = 1) -> bool:
    """Whether so many numbers meet a rule of one parameter by more than chance, of so many rules;
    off: what the rule explains of each; room: how near is near."""
    chances = np.clip(2 * room / max(np.ptp(off), np.abs(off).max()), 1e-300, 1)
    return np.log(np.sort(chances)[1:]).sum() + log(tries) < log(CHANCE)


def is_no_chance(values: Array, wanted: Array, room: Array) -> bool:
    """Whether numbers that come so near to some of these values don't do so by chance."""
    return np.log(chances(values, wanted, room)).sum() < log(CHANCE)


def chances(values: Array, wanted: Array, room: Array) -> Array:
    """The chance at which each number comes so near to any of the values: how many there are, over
    the numbers' range."""
    lowest, highest = wanted.min(), wanted.max()
    span = max(highest - lowest, np.abs(wanted).max())
    count = max(1, ((values >= lowest - span) & (values <= highest + span)).sum())
    return np.clip(count * 2 * room / (3 * span), 1e-300, 1)
