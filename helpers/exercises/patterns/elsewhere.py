"""Results and inputs that belong to other places."""

from math import prod

import numpy as np

from softgpu.phrases import joined

from ...words import Next, Part
from .elements import CHANCE, Array, Wrong, chances, is_far_off, is_no_chance, near, nearest, nice

__all__ = ["on_an_input", "on_choice", "on_moved", "on_neighbours", "on_pairs"]

FAR_OFF = 600  # places by which an element may be moved
FEW = 30  # elements: the one result of fewer may be among them by chance
LIKELY = 0.25  # at which, on average, finding a number among others proves nothing


def on_moved(c: Wrong) -> str:
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
        if near(got, c.all[order[places]], np.maximum(room, c.all_room[order[places]])).all():
            return _moved(c, order[places], which, places)
    if told := _on_any_order(c, got, room, places):
        return told
    for by in _shifts() if chance * FAR_OFF < 0.1 else ():
        source = places + by
        is_inside = (source >= 0) & (source < c.all.size)
        if is_inside.sum() > max(1, places.size // 2):
            like = near(got, c.all[source % c.all.size], room)[is_inside]
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


def _on_any_order(c: Wrong, got: Array, room: Array, places: Array) -> str:
    """Each is the result of some other place, of the same matrix if there are several, or 0."""
    size = prod(c.shape[-2:])
    begin = places[0] // size * size
    here = places // size == places[0] // size
    part = c.all[begin : begin + size]
    if not np.isfinite(part).all() or not c.is_float:
        return ""
    here &= got != 0  # which is what came from past an end
    here &= np.abs(got - c.all[places]) > room  # what is near its own result may be its own
    if here.sum() < 4:
        return ""
    source = nearest(part, got[here])
    allowed = np.maximum(room[here], c.all_room[begin + source])
    is_there = np.abs(part[source] - got[here]) <= allowed
    is_own = (begin + source == places[here]).all()  # or nearly
    if is_own or not is_there.all() or not is_no_chance(part, got[here], allowed):
        return ""
    return _moved(c, begin + source, "", places[here])


def _shifts() -> list[int]:
    """From the nearest on."""
    return sorted({*range(-FAR_OFF, FAR_OFF + 1)} - {0}, key=abs)


def _moved(c: Wrong, source: Array, which: str, places: Array) -> str:
    at = np.flatnonzero(source != places)[0]
    return joined(Next.MOVED(place=c.named(places[at]), source=c.named(source[at])), which)


def on_neighbours(c: Wrong) -> str:
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


def _with(c: Wrong, number: int, values: Array, by: int) -> str:
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
    if not is_far_off(off, room, 2 * FAR_OFF * len(c.inputs)):
        return ""
    said = nice(abs(times))
    place, first = source[is_inside][0], c.places[is_inside][0]
    return (Next.HAS_MORE if times > 0 else Next.LACKS)(
        times="" if said == "1" else f"{said} · ",
        number=number,
        place=f"{place:,}",
        first=c.named(first),
    )


def on_pairs(c: Wrong) -> str:
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
    if not np.isfinite(wanted).all() or chances(values, wanted, room).mean() > LIKELY:
        return None
    found = nearest(values, wanted)
    return found if (np.abs(values[found] - wanted) <= room).mean() > 0.8 else None


def on_an_input(c: Wrong) -> str:
    """Each differs by an element of an input, wherever that lies."""
    if not c.is_float or not np.isfinite(c.off).all():
        return ""
    for number, given in c.inputs.items():
        values = np.unique(given.ravel().astype(float))
        values = values[np.isfinite(values) & (values != 0)]
        for sign in (1, -1):
            off = sign * c.off
            if not values.size or not is_no_chance(values, off, c.room):
                continue
            if (np.abs(values[nearest(values, off)] - off) <= c.room).all():
                way = Part.MUCH() if sign > 0 else Part.LITTLE()
                value = f"{abs(c.off[0]) * np.sign(sign * c.off[0]):.6g}"
                return Next.AMONG(way=way, number=number, value=value, place=c.named(c.places[0]))
    return ""


def on_choice(c: Wrong) -> str:
    """An element of the input, and another should have been taken."""
    for number, given in c.inputs.items():
        values = given.ravel()
        if values.size < 2 * c.all.size:
            continue
        right, wrong = (np.flatnonzero(values == v[0]) for v in (c.expected, c.got))
        are_distinct = np.unique(values).size >= 0.9 * values.size
        is_sure = are_distinct if c.all.size > 1 else right.size == 1 and values.size >= FEW
        if is_sure and np.isin(c.expected, values).all() and right.size and wrong.size:
            told = {"expected": f"{c.expected[0]:.10g}", "got": f"{c.got[0]:.10g}"}
            return Next.CHOSEN(number=number, right=f"{right[0]:,}", wrong=f"{wrong[0]:,}", **told)
    return ""
