"""What wrong elements have in common is told, whatever the kernel that made them."""

import numpy as np
import pytest

from helpers.exercises.fragments import misplaced
from helpers.exercises.launches import In, Out
from helpers.exercises.patterns import in_common
from helpers.exercises.values import numbers

RNG = np.random.default_rng(7)
HALVES = numbers(np.random.default_rng(8), 9, 9).astype(np.float16).astype(np.float32)
LINE, GRID = numbers(RNG, 300), numbers(RNG, 12, 20)
POSITIVE = np.abs(GRID) + np.float32(0.1)
SHARES = POSITIVE**9 / (POSITIVE**9).sum(1, keepdims=True)
A, B = numbers(RNG, 12, 9), numbers(RNG, 9, 20)
SQUARE, WITH_INFINITY = B[:, :9], np.where(np.arange(180).reshape(9, 20) == 75, np.inf, B)
WHOLE = RNG.integers(-(10**6), 10**6, 300)
MIXED = np.where(np.arange(300) % 3, WHOLE, WHOLE // 100)
BLOCKED = numbers(RNG, 4, 256)


def changed(values, where, what):
    """The values, other ones in some places."""
    made = np.array(values)
    made[where] = what(made[where])
    return made


@pytest.mark.parametrize(
    "expected, got, inputs, says",
    [
        (LINE, 0 * LINE, [], "Every wrong element is 0: nothing was stored or added there"),
        (
            np.append(LINE + 9, 1e-4),
            np.append(LINE + 9, 0),
            [],
            "is 0 and should be a number smaller than 0.000101",
        ),
        (LINE, np.full_like(LINE, 7), [], "Every wrong element is 7: which line limits them"),
        (np.maximum(LINE, 0), LINE, [], "Every wrong element should be 0: which line ensures that"),
        (LINE, -LINE, [], "has the wrong sign"),
        (LINE, 3 * LINE, [], "is 3 times what it should be: what is multiplied"),
        (LINE, LINE / 4, [], "is 1/4 times what it should be"),
        (LINE, LINE * np.float32(0.7), [np.float32(0.7)], "that often? That number is argument 1."),
        (LINE, LINE + 2, [], "is 2 too much: where does the sum, or the count, begin?"),
        (GRID, (GRID.T * np.arange(2, 14, dtype="f4")).T, [], "by the same factor, 2 in row 0"),
        (GRID, (GRID.T + np.arange(2, 14, dtype="f4")).T, [], "off by the same number, 2 in row 0"),
        (
            SHARES,
            SHARES ** np.log(2) * 1.5,
            [],
            "0.6931 times what they should be: which power is that? That number is ln 2",
        ),
        (
            LINE,
            np.roll(LINE, -1),
            [],
            "Element 0 has the value that belongs to element 1, and so on",
        ),
        (LINE, LINE[::-1], [], "the order is reversed"),
        (A @ A.T @ A, (A @ A.T @ A).T.reshape(12, 9), [], "rows and columns are exchanged"),
        (WHOLE, (WHOLE + 2**15) % 2**16 - 2**15, [], "a multiple of 65,536: which variable has 16"),
        (WHOLE, WHOLE.astype(np.int8), [], "a multiple of 256: which variable has 8 bits"),
        (2 * LINE, LINE + 2, [LINE], "is input 1 + 2: is that what the exercise requires?"),
        (LINE * LINE[::-1], LINE + LINE[::-1], [LINE, LINE[::-1]], "is input 1 + input 2"),
        (
            LINE + np.roll(LINE, -1) * 2,
            LINE,
            [LINE + 0, numbers(RNG, 300)],
            "Every wrong element is input 1",
        ),
        (
            LINE**3 + np.roll(LINE, -1) * 2,
            LINE**3,
            [LINE],
            "lacks 2 · input 1[1], for example element 0",
        ),
        (
            GRID + LINE[:20],
            GRID + np.roll(LINE[:20], -1),
            [GRID, LINE[:20]],
            "Element [0, 0] took [1] of input 2 instead of [0]",
        ),
        (
            np.exp(GRID).sum(1),
            np.exp(GRID).sum(1) - GRID[np.arange(12), np.arange(12) % 5],
            [GRID],
            "every wrong element has an element of input 1 too little",
        ),
        ([LINE.sum(dtype=float)], [LINE[:256].sum()], [LINE], "begins with number 256 is left out"),
        ([LINE.sum(dtype=float)], [LINE[64:].sum()], [LINE], "before number 64 is left out"),
        ([LINE.sum(dtype=float)], [np.abs(LINE).sum()], [LINE], "the signs are lost"),
        ([LINE.sum(dtype=float)], [LINE[::2].sum()], [LINE], "only number 0 of each 2 is in it"),
        (
            [LINE.sum(dtype=float)],
            [LINE[np.arange(300) // 2].sum()],
            [LINE],
            "the first stands for the first 2, the next for the next 2",
        ),
        (
            BLOCKED.sum(1, dtype=float),
            BLOCKED[:, :32].sum(1),
            [BLOCKED],
            "only the first 32 of each 256 are in it",
        ),
        (
            A.astype(float) @ B,
            A[:, :8] @ B[:8],
            [A, B],
            "Each sum has 9 terms; number 8 is left out",
        ),
        (
            A.astype(float) @ B,
            A @ B + A[:, :1] @ B[:1],
            [A, B],
            "Each sum has 9 terms; number 0 count 2 times",
        ),
        (
            A.astype(float) @ B,
            A @ B[[1, 0, *range(2, 9)]],
            [A, B],
            "in the second one, element [1, 0] is used as element [0, 0]",
        ),
        (
            A.astype(float) @ B,
            A @ B.reshape(20, 9).T,
            [A, B],
            "in the second one, element [0, 9] is used as element [0, 1]",
        ),
        (
            A.astype(float) @ B,
            A[:, [0, 2, 1, *range(3, 9)]] @ B,
            [A, B],
            "in the second one, element [2, 0] is used as element [1, 0]",
        ),
        (
            A.astype(float) @ B,
            (A @ B).astype(np.float16),
            [A, B],
            "All are close, but not close enough",
        ),
        (
            A.astype(float) @ WITH_INFINITY,
            A @ WITH_INFINITY[[1, 0, *range(2, 9)]],
            [A, WITH_INFINITY],
            "in the second one, element [1, 0] is used as element [0, 0]",
        ),
        (
            A.astype(float) @ B,
            A @ np.where(np.arange(20) < 18, B.reshape(20, 9).T, 0),
            [A, B],
            "in the second one, element [0, 9] is used as element [0, 1]",
        ),
        (
            0.3 * A.astype(float) @ B,
            0.3 * A @ B.reshape(20, 9).T,
            [A, B],
            "in the second one, element [0, 9] is used as element [0, 1]",
        ),
        (
            A.astype(float) @ B + LINE[:20],
            A @ B[[1, 0, *range(2, 9)]] + LINE[:20],
            [A, B, LINE[:20]],
            "in the second one, element [1, 0] is used as element [0, 0]",
        ),
        (
            HALVES.astype(float) @ HALVES.T,
            (HALVES @ HALVES).astype(np.float16),
            [HALVES, HALVES],
            "in the second one, element [1, 0] is used as element [0, 1]",
        ),
        (
            A.astype(float) @ SQUARE.T,
            A @ SQUARE[:, [1, 0, *range(2, 9)]].T,
            [A, SQUARE],
            "in the second one, element [1, 0] is used as element [0, 0]",
        ),
        (GRID, GRID[[3] * 12], [], "Each row has the same numbers: which index"),
        (GRID, GRID.ravel()[RNG.permutation(240)], [], "has the value that belongs to element"),
        (
            GRID,
            np.where(np.arange(240) % 7, GRID.ravel()[RNG.permutation(240)], 0),
            [],
            "has the value that belongs to element",
        ),
        ([1.25], [2.25], [], "is 1 too much"),
        (
            [LINE.max()],
            [LINE[:4].max()],
            [LINE],
            f"It should be input 1[{LINE.argmax()}] = {LINE.max():.6g}, and yours is",
        ),
        (
            LINE,
            np.where(np.abs(LINE) > 1, np.sin(99 * LINE), LINE),
            [],
            "for which the magnitude of what is expected is above",
        ),
        (LINE, changed(LINE, np.s_[31::32], np.cos), [], "elements whose number % 32 is 31"),
        (LINE, changed(LINE, np.s_[256:], np.cos), [], "Only elements 256 to the end are wrong"),
        (LINE, changed(LINE, 299, np.cos), [], "Only element 299 (the last) is wrong"),
        (GRID, changed(GRID, np.s_[3], np.cos), [], "Only row 3 is wrong, and all of it"),
        (
            changed(GRID, np.s_[3, 5], lambda x: x * np.nan),
            changed(changed(GRID, np.s_[3, 5], lambda x: x * np.nan), np.s_[3], np.cos),
            [np.full_like(GRID, np.nan)],
            "Only row 3 is wrong, and all of it",
        ),
        (GRID, changed(GRID, np.s_[:, 16:], np.cos), [], "Only columns 16 to the end are wrong"),
    ],
)
def test_what_the_wrong_have_in_common(expected, got, inputs, says):
    told = _told(Out(np.asarray(expected), 1e-5), got, inputs)
    assert says.lower() in told.lower(), told


@pytest.mark.parametrize(
    "got, says",
    [
        (MIXED.astype(np.int16) // 3, "that 16 bits cannot hold"),
        (MIXED // 3 + np.where(MIXED // 3 < 0, -1, 1), "is 1 too far from 0"),
        (MIXED // 3 - 2 * np.where(MIXED // 3 < 0, -1, 1), "is 2 too near to 0"),
    ],
)
def test_whole_numbers_of_both_signs(got, says):
    assert says in _told(Out(MIXED // 3, dtype=np.int32), got.astype(np.int32), [MIXED])


@pytest.mark.parametrize(
    "got, says",
    [
        ([5, 7], "still has its old value: which thread"),
        ([3, 4], "The old value is missing"),
        ([11, 15], "What is added is 2 times"),
    ],
)
def test_what_was_there_before_counts(got, says):
    out = Out(np.array([8, 11]), dtype=np.int32, initial=np.array([5, 7]))
    assert says in _told(out, np.array(got, np.int32), [])


def test_a_count_is_told_by_what_it_takes_for_too_many():
    x = np.array([1, 2, 2, 3, 4, np.nan], np.float32)
    out = Out(np.array([2]), dtype=np.int32, initial=np.zeros(1, np.int32))
    assert "as there are NaN" in _told(out, np.array([3], np.int32), [x])
    told = _told(out, np.array([4], np.int32), [x, np.float32(2)])
    assert "as many as there are elements of input 1 equal to argument 2" in told


@pytest.mark.parametrize(
    "name, place, says",
    [
        ("a", np.s_[:8, :8], "a[0, 1] is used as a[0, 0]"),
        ("b", np.s_[8:, :], "b[9, 0] is used as b[8, 0]"),
    ],
)
def test_two_halves_exchanged_in_one_register(name, place, says):
    right = {"a": numbers(RNG, 16, 16), "b": numbers(RNG, 16, 8)}
    used = {which: matrix.copy() for which, matrix in right.items()}
    used[name][place] = np.take(right[name], np.arange(16) ^ 1, int(name == "a"))[place]
    assert says in misplaced(right["a"], right["b"], used["a"] @ used["b"])


def test_nothing_is_said_of_what_has_nothing_in_common():
    noise = numbers(RNG, 300)
    assert _told(Out(LINE, 1e-5), np.where(noise > 0, noise, LINE), [numbers(RNG, 300)]) == ""


def _told(out, got, inputs):
    kept = np.int32, np.float16
    got = np.asarray(got, None if np.asarray(got).dtype in kept else np.float32).ravel()
    expected = np.ravel(out.expected)
    with np.errstate(invalid="ignore"):
        is_wrong = ~(np.abs(got - expected) <= np.ravel(out.tolerance))
    arguments = [In(x) if isinstance(x, np.ndarray) else x for x in inputs]
    return in_common(got, out, is_wrong, [*arguments, out])
