"""One rule for all wrong elements, or one for each row."""

from collections.abc import Iterator
from math import log

import numpy as np

from softgpu.phrases import Said, joined

from ...words import Next, Part
from .elements import CHANCE, NEAR, Array, Wrong, formula, is_far_off, near, nice
from .places import on_some_zeros

__all__ = [
    *("on_before", "on_digits", "on_formulas", "on_narrow_inputs", "on_one_factor"),
    *("on_one_offset", "on_one_value", "on_powers", "on_row_factors", "on_rows_alike"),
    *("on_times_added", "on_wrapping", "on_zeros"),
]

POWERS = (log(2), Next.IS_LN_2()), (1 / log(2), Next.IS_LOG2_E())


def on_digits(c: Wrong) -> str:
    """All are near: digits are lost."""
    sizes = np.abs(c.all[np.isfinite(c.all)])
    size = np.median(sizes) if sizes.size else 0
    is_near = c.is_float and c.all.size >= 8 and (np.abs(c.off) <= NEAR * size).all()
    return Next.DIGITS() if is_near and np.ptp(c.off) > 0 else ""


def on_zeros(c: Wrong) -> str:
    if c.got.any() or not c.expected.size:
        return ""
    right = np.abs(c.all[~c.is_wrong & (c.all != 0)])
    limit = np.abs(c.expected).max()
    if c.is_float and right.size and limit < right.min() and limit < 1e-3:
        return Next.TINY(limit=f"{limit * 1.01:.3g}")
    return on_some_zeros(c) or Next.ZERO()


def on_before(c: Wrong) -> str:
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


def on_bools(c: Wrong) -> str:
    if not c.is_bool:
        return ""
    true, false = (int((c.got == value).sum()) for value in (1, 0))
    return Next.BOOLS(true=true, false=false, place=c.named(c.places[0]))


def on_one_value(c: Wrong) -> str:
    got, expected = c.all_got[c.every], c.all[c.every]
    if got.size > 2 and (got == got[0]).all() and (expected != expected[0]).any():
        return Next.ALIKE(value=f"{got[0]:.6g}")
    if got.size > 2 and (expected == expected[0]).all() and (got != got[0]).any():
        return Next.SHOULD_BE(value=f"{expected[0]:.6g}")
    return ""


def on_one_factor(c: Wrong) -> str:
    is_usable = (np.abs(c.expected) > 4 * c.room) & np.isfinite(c.off)
    if not is_usable.any() or not np.isfinite(c.got).all():
        return ""
    if c.is_like(-c.expected):
        return Next.NEGATIVE()
    heaviest = np.argmax(np.where(is_usable, np.abs(c.expected), 0))
    times = c.got[heaviest] / c.expected[heaviest]
    is_one = np.abs(c.got - times * c.expected) <= np.maximum(1, abs(times)) * c.room
    said = nice(times)
    which = c.which(times)
    is_many = np.ptp(c.expected) > 0 and c.count > 1 and is_far_off(c.off, c.room)
    is_told = said != "1" and (is_many or which or said.isdigit())
    return joined(Next.TIMES(times=said), which) if times and is_one.all() and is_told else ""


def on_times_added(c: Wrong) -> str:
    """What was added to what was there before, too often."""
    if c.before is None:
        return ""
    before = c.before[c.places]
    got, expected = c.got - before, c.expected - before
    times = got[0] / expected[0] if expected[0] else 0
    is_so = (np.abs(got - times * expected) <= max(1, abs(times)) * c.room).all()
    is_often = times > 0 and nice(times).isdigit() and nice(times) != "1"
    return Next.ADDED(times=nice(times)) if is_often and is_so else ""


def on_one_offset(c: Wrong) -> str:
    """All are off by one number: up, down, or away from 0."""
    off = np.median(c.off)
    is_small = c.is_float and abs(off) < CHANCE * np.median(np.abs(c.expected))
    is_within = (8 * c.room > abs(off)).any()  # any number would be near
    if not off or not np.isfinite(c.off).all() or is_small or is_within:
        return ""
    away = c.off * np.sign(np.where(c.expected, c.expected, c.got))
    is_both = c.off.min() < 0 < c.off.max()
    if is_both and c.count > 2 and (np.abs(away - away[0]) <= c.room).all():
        return (Next.TOO_FAR if away[0] > 0 else Next.TOO_NEAR)(off=f"{abs(away[0]):.6g}")
    is_one = (np.abs(c.off - off) <= c.room).all()
    is_whole = c.room.max() < CHANCE and abs(off - round(off)) <= c.room.max()
    is_many = c.count > 1 and np.ptp(c.expected) > 0
    if not is_one or not (is_many or is_whole or not c.is_float or c.which(off)):
        return ""
    way = Part.MUCH if off > 0 else Part.LITTLE
    return joined(Next.OFF(off=f"{abs(off):.6g}", way=way()), c.which(abs(off)))


def on_wrapping(c: Wrong) -> str:
    """A type of fewer bits."""
    if c.is_float and not (c.expected == np.rint(c.expected)).all():
        return ""
    gap = c.unit * max(np.abs(c.got).max(), np.abs(c.expected).max())  # of its largest numbers
    for bits in (bits for bits in (32, 16, 8) if gap < 2 ** (bits - 4)):
        if c.off.any() and np.isfinite(c.off).all() and not (c.off % 2**bits).any():
            return Next.WRAPPED(size=f"{2**bits:,}", bits=bits)
    return ""


def on_narrow_inputs(c: Wrong) -> str:
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


def on_formulas(c: Wrong) -> str:
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
            if got.size > 1 and np.ptp(values) <= room_here.max():
                continue  # as good as one number
            if near(got, values, room_here).all() and got.any():
                return Next.IS_RULE(rule=words)
    return ""


def _of_one(x: Array, name: Said, got: Array) -> Iterator[tuple[Array, Said]]:
    by, times = got[0] - x[0], got[0] / x[0] if x[0] else 0
    whole = [n for n in (by, times) if np.isfinite(n) and abs(n) < 100]
    for value in {round(n) for n in whole if abs(n - round(n)) < 1e-4} - {0, 1}:
        yield x + value, formula(f"{{}} {'-' if value < 0 else '+'} {abs(value)}", name)
        yield x * value, formula(f"{{}} · {value}", name)
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
        yield function(x), formula(form, name)


def _of_two(
    x: Array, name: Said, same: dict[int, Array], number: int, numbers: list
) -> Iterator[tuple[Array, Said]]:
    others = [(values, Part.INPUT(number=n)) for n, values in same.items() if n != number]
    for y, other in [*others, *((value, Part.ARGUMENT(number=at)) for at, value in numbers)]:
        yield x + y, formula("{} + {}", name, other)
        yield x - y, formula("{} - {}", name, other)
        yield y - x, formula("{} - {}", other, name)
        yield x * y, formula("{} · {}", name, other)
        yield x / y, formula("{} / {}", name, other)


def on_rows_alike(c: Wrong) -> str:
    """All rows, or columns, are the same, and should not be."""
    if len(c.shape) < 2 or min(c.shape[-2:]) < 2 or c.is_wrong.sum() < 2:
        return ""
    for axis, what in ((-2, Part.ROW), (-1, Part.COLUMN)):
        alike = [
            np.array_equal(x, np.broadcast_to(x.take([0], axis), x.shape), equal_nan=True)
            for x in (c.all_got.reshape(c.shape), c.all.reshape(c.shape))
        ]
        if alike == [True, False] and (c.all_got != c.all_got[0]).any():
            return Next.ROWS_ALIKE(what=what())
    return ""


def _by_row(c: Wrong) -> Iterator[tuple[int, np.ndarray]]:
    rows = c.rows
    for row in np.unique(rows):
        yield int(row), rows == row


def on_row_factors(c: Wrong) -> str:
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


def on_powers(c: Wrong) -> str:
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
