"""Where the wrong elements are."""

from math import lgamma, log

import numpy as np

from softgpu.phrases import Said

from ...words import Next, Part
from .elements import CHANCE, Array, Wrong

__all__ = ["on_limits", "on_places", "on_some_zeros"]

MOSTLY = 0.75  # of a row or column; others of it should be 0, or are NaN
TINY = 1e-30  # as good as 0


def on_places(c: Wrong) -> str:
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


def on_some_zeros(c: Wrong) -> str:
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


def on_limits(c: Wrong) -> str:
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
            if not np.isfinite(right).any():
                continue  # as an infinity hides what is wrong
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
