"""What wrong elements have in common is reported, whatever the kernel that made them."""

import numpy as np
import pytest

from helpers.exercises.fragments import misplaced
from helpers.exercises.launches import In, Out
from helpers.exercises.patterns import in_common
from helpers.exercises.values import numbers
from helpers.words import Next, Part

RNG = np.random.default_rng(7)
HALVES = numbers(np.random.default_rng(8), 9, 9).astype(np.float16).astype(np.float32)
LINE, GRID = numbers(RNG, 300), numbers(RNG, 12, 20)
POSITIVE = np.abs(GRID) + np.float32(0.1)
SHARES = POSITIVE**9 / (POSITIVE**9).sum(1, keepdims=True)
A, B = numbers(RNG, 12, 9), numbers(RNG, 9, 20)
SQUARE, WITH_INFINITY = B[:, :9], np.where(np.arange(180).reshape(9, 20) == 75, np.inf, B)
WHOLE = RNG.integers(-(10**6), 10**6, 300)
MIXED = np.where(np.arange(300) % 3, WHOLE, WHOLE // 100)
FEW = np.where(np.arange(300) % 70 == 5, np.float32([1, -1] * 150), 0)
MANY_AND_A_LARGE = np.append(numbers(RNG, 9999), np.float32(8000))
SORTED = np.sort(LINE[:8])
ROWS, RATES = numbers(np.random.default_rng(9), 30, 9), numbers(np.random.default_rng(10), 9)
SCALED = 10.0 ** np.random.default_rng(11).uniform(-5, 5, 30)
BLOCKED = numbers(RNG, 4, 256)


def changed(values, where, what):
    """The values, other ones in some places."""
    made = np.array(values)
    made[where] = what(made[where])
    return made


@pytest.mark.parametrize(
    "expected, got, inputs, says",
    [
        (LINE, 0 * LINE, [], "zero"),
        (np.append(LINE + 9, 1e-4), np.append(LINE + 9, 0), [], "tiny 0.000101"),
        (GRID, GRID * (np.arange(20) < 12), [], "zeros_at to_end columns 12"),
        (
            GRID,
            (GRID + RNG.random(GRID.shape)) * (np.arange(20) % 4 < 2),
            [],
            "zeros_at remainder columns 4 2–3",
        ),
        (A @ B, A @ B * (np.arange(20) < 12), [A, B], "zeros_at to_end columns 12"),
        (LINE, np.full_like(LINE, 7), [], "alike 7"),
        (np.maximum(LINE, 0), LINE, [], "should_be 0"),
        (LINE, -LINE, [], "negative"),
        (LINE, 3 * LINE, [], "times 3"),
        (LINE, LINE / 4, [], "times 1/4"),
        (LINE, LINE * np.float32(0.7), [np.float32(0.7)], "number argument 1"),
        (LINE, LINE + 2, [], "off 2 much"),
        (GRID, (GRID.T * np.arange(2, 14, dtype="f4")).T, [], "times_in_row 2 0"),
        (GRID, (GRID.T + np.arange(2, 14, dtype="f4")).T, [], "off_in_row 2 0"),
        (SHARES, SHARES ** np.log(2) * 1.5, [], "power 0.6931 is_ln_2"),
        (LINE, np.roll(LINE, -1), [], "moved 0 1"),
        (LINE, LINE[::-1], [], "turned"),
        (A @ A.T @ A, (A @ A.T @ A).T.reshape(12, 9), [], "rows_and_columns"),
        (WHOLE, (WHOLE + 2**15) % 2**16 - 2**15, [], "wrapped 65,536 16"),
        (WHOLE, WHOLE.astype(np.int8), [], "wrapped 256 8"),
        (2 * LINE, LINE + 2, [LINE], "is_rule input 1  + 2"),
        (LINE * LINE[::-1], LINE + LINE[::-1], [LINE, LINE[::-1]], "is_rule input 1  +  input 2"),
        (LINE + np.roll(LINE, -1) * 2, LINE, [LINE + 0, numbers(RNG, 300)], "is_rule input 1"),
        (LINE**3 + np.roll(LINE, -1) * 2, LINE**3, [LINE], "lacks 2 ·  1 1 0"),
        (GRID + LINE[:20], GRID + np.roll(LINE[:20], -1), [GRID, LINE[:20]], "takes 1 0 [0, 0] 2"),
        (
            np.exp(GRID).sum(1),
            np.exp(GRID).sum(1) - GRID[np.arange(12), np.arange(12) % 5],
            [GRID],
            "among little 1",
        ),
        ([LINE.sum(dtype=float)], [LINE[:256].sum()], [LINE], "no_end 256"),
        ([LINE.sum(dtype=float)], [LINE[64:].sum()], [LINE], "no_beginning 64"),
        ([LINE.sum(dtype=float)], [np.abs(LINE).sum()], [LINE], "no_signs"),
        ([LINE.sum(dtype=float)], [LINE[::2].sum()], [LINE], "one 0 2"),
        ([LINE.sum(dtype=float)], [LINE[np.arange(300) // 2].sum()], [LINE], "repeated 2"),
        (BLOCKED.sum(1, dtype=float), BLOCKED[:, :32].sum(1), [BLOCKED], "some 32 256"),
        (A.astype(float) @ B, A[:, :8] @ B[:8], [A, B], "terms 9 left_out term 8"),
        (A.astype(float) @ B, A @ B + A[:, :1] @ B[:1], [A, B], "terms 9 counted 2 term 0"),
        (A.astype(float) @ B, A @ B[[1, 0, *range(2, 9)]], [A, B], "operand second [1, 0] [0, 0]"),
        (A.astype(float) @ B, A @ B.reshape(20, 9).T, [A, B], "operand second [0, 9] [0, 1]"),
        (
            A.astype(float) @ B,
            A[:, [0, 2, 1, *range(3, 9)]] @ B,
            [A, B],
            "operand second [2, 0] [1, 0]",
        ),
        (A.astype(float) @ B, (A @ B).astype(np.float16), [A, B], "digits"),
        (
            A.astype(float) @ WITH_INFINITY,
            A @ WITH_INFINITY[[1, 0, *range(2, 9)]],
            [A, WITH_INFINITY],
            "operand second [1, 0] [0, 0]",
        ),
        (
            A.astype(float) @ B,
            A @ np.where(np.arange(20) < 18, B.reshape(20, 9).T, 0),
            [A, B],
            "operand second [0, 9] [0, 1]",
        ),
        (
            0.3 * A.astype(float) @ B,
            0.3 * A @ B.reshape(20, 9).T,
            [A, B],
            "operand second [0, 9] [0, 1]",
        ),
        (
            A.astype(float) @ B + LINE[:20],
            A @ B[[1, 0, *range(2, 9)]] + LINE[:20],
            [A, B, LINE[:20]],
            "operand second [1, 0] [0, 0]",
        ),
        (
            HALVES.astype(float) @ HALVES.T,
            (HALVES @ HALVES).astype(np.float16),
            [HALVES, HALVES],
            "operand second [1, 0] [0, 1]",
        ),
        (
            A.astype(float) @ SQUARE.T,
            A @ SQUARE[:, [1, 0, *range(2, 9)]].T,
            [A, SQUARE],
            "operand second [1, 0] [0, 0]",
        ),
        (ROWS @ RATES, ROWS[:, :6] @ RATES[:6], [ROWS, RATES], "left_out terms 6 8"),
        (
            SCALED * (ROWS @ RATES),
            SCALED * (ROWS @ RATES[::-1]),
            [ROWS, RATES],
            "operand second [8, 0] [0, 0]",
        ),
        (LINE, np.float32(6.25e-6) * LINE, [LINE - 3000], "times 6.25e-06"),
        (1e30 * GRID, 1e30 * np.roll(GRID, 1, 1), [], "moved"),
        (-np.abs(LINE) - 1, -np.abs(LINE) - 2, [], "off 1 little"),
        ([np.arange(3, 99).min()], [4], [np.r_[4:99, 4, 3]], "chosen 1 96 0"),
        (LINE, LINE + np.float32(2e-5) * np.sign(np.roll(LINE, 1)), [], "digits"),
        (GRID, GRID[[3] * 12], [], "rows_alike row"),
        (GRID, GRID.ravel()[RNG.permutation(240)], [], "moved"),
        (GRID, np.where(np.arange(240) % 7, GRID.ravel()[RNG.permutation(240)], 0), [], "moved"),
        ([1.25], [2.25], [], "off 1 much"),
        ([LINE.max()], [LINE[:4].max()], [LINE], f"chosen 1 {LINE.argmax()}"),
        (
            LINE,
            np.where(np.abs(LINE) > 1, np.sin(99 * LINE), LINE),
            [],
            "beyond magnitude expected",
        ),
        (LINE, changed(LINE, np.s_[31::32], np.cos), [], "remainder elements 32 31"),
        (LINE, changed(LINE, np.s_[256:], np.cos), [], "several to_end elements 256"),
        (LINE, changed(LINE, 299, np.cos), [], "one last_at element 299"),
        (GRID, changed(GRID, np.s_[3], np.cos), [], "one at row 3"),
        (
            changed(GRID, np.s_[3, 5], lambda x: x * np.nan),
            changed(changed(GRID, np.s_[3, 5], lambda x: x * np.nan), np.s_[3], np.cos),
            [np.full_like(GRID, np.nan)],
            "one at row 3",
        ),
        (GRID, changed(GRID, np.s_[:, 16:], np.cos), [], "several to_end columns 16"),
    ],
)
def test_what_the_wrong_have_in_common(expected, got, inputs, says):
    told = _told(Out(np.asarray(expected), 1e-5), got, inputs)
    assert f" {says} " in f" {told.code} ", told.code


@pytest.mark.parametrize(
    "got, says",
    [
        (MIXED.astype(np.int16) // 3, "held bits 16"),
        (MIXED // 3 + np.where(MIXED // 3 < 0, -1, 1), "too_far 1"),
        (MIXED // 3 - 2 * np.where(MIXED // 3 < 0, -1, 1), "too_near 2"),
    ],
)
def test_whole_numbers_of_both_signs(got, says):
    assert _told(Out(MIXED // 3, dtype=np.int32), got.astype(np.int32), [MIXED]).code == says


@pytest.mark.parametrize(
    "got, says", [([5, 7], Next.KEPT), ([3, 4], Next.ON_TOP), ([11, 15], Next.ADDED)]
)
def test_what_was_there_before_counts(got, says):
    out = Out(np.array([8, 11]), dtype=np.int32, initial=np.array([5, 7]))
    assert _told(out, np.array(got, np.int32), []).has(says)


def test_a_count_is_told_by_what_it_takes_for_too_many():
    x = np.array([1, 2, 2, 3, 4, np.nan], np.float32)
    out = Out(np.array([2]), dtype=np.int32, initial=np.zeros(1, np.int32))
    assert _told(out, np.array([3], np.int32), [x]).has(Part.NANS)
    told = _told(out, np.array([4], np.int32), [x, np.float32(2)])
    assert told.code == "counted_in 2 many equals 1 2"


@pytest.mark.parametrize(
    "name, place, says",
    [
        ("a", np.s_[:8, :8], "should_be used_as a 0, 1 0, 0"),
        ("b", np.s_[8:, :], "should_be used_as b 9, 0 8, 0"),
    ],
)
def test_two_halves_exchanged_in_one_register(name, place, says):
    right = {"a": numbers(RNG, 16, 16), "b": numbers(RNG, 16, 8)}
    used = {which: matrix.copy() for which, matrix in right.items()}
    used[name][place] = np.take(right[name], np.arange(16) ^ 1, int(name == "a"))[place]
    assert misplaced(right["a"], right["b"], used["a"] @ used["b"]).code == says


def test_nothing_is_said_of_what_has_nothing_in_common():
    noise = numbers(RNG, 300)
    assert _told(Out(LINE, 1e-5), np.where(noise > 0, noise, LINE), [numbers(RNG, 300)]) == ""


@pytest.mark.parametrize(
    "expected, got, tolerance, inputs, not_said",
    [
        ([np.inf], [3.4e38], 1e-5, [np.full(1, 3e38, np.float32)], Next.IS_RULE),
        (LINE, LINE + 1.5e-3 * FEW, 1e-3, [], Next.TIMES),
        (0 * LINE, 1.5e-3 * FEW, 1e-3, [LINE[::-1]], Next.LACKS),
        (LINE, LINE + FEW * np.sin(99 * LINE), 1e-3, [MANY_AND_A_LARGE], Next.AMONG),
        (LINE / 10, LINE / 10 + 0.15 * FEW, 0.1, [LINE / 10], Next.IN_SUM),
        (SORTED, changed(SORTED, np.s_[4:], np.sin), 1e-5, [], Next.BEYOND),
        (
            changed(GRID, np.s_[1:], lambda x: x * np.nan),
            changed(changed(GRID, np.s_[1:], lambda x: x * np.nan), np.s_[0], np.cos),
            1e-5,
            [],
            Next.ONE,
        ),
        (LINE, LINE + np.where(np.arange(LINE.size) % 9, 0, 6e-3), 4e-3, [], Next.MOVED),
        (
            np.where(np.sin(9 * LINE) > 0.5, np.inf, LINE),
            np.where(np.sin(9 * LINE) > 0.5, np.inf, np.cos(99 * LINE)),
            1e-5,
            [],
            Next.BEYOND,
        ),
    ],
)
def test_what_may_be_chance_is_not_said(expected, got, tolerance, inputs, not_said):
    told = _told(Out(np.asarray(expected, np.float32), tolerance), got, inputs)
    assert not told or not told.has(not_said)


def test_what_should_have_been_kept_is_said():
    before = LINE + 1
    out = Out(np.append(LINE[:200], before[200:]), 1e-5, initial=before)
    told = _told(out, np.append(LINE[:201], before[201:]), [LINE])
    assert told.code == "keeps 200"


def _told(out, got, inputs):
    kept = np.int32, np.float16
    got = np.asarray(got, None if np.asarray(got).dtype in kept else np.float32).ravel()
    expected = np.ravel(out.expected)
    with np.errstate(invalid="ignore"):
        is_wrong = ~(np.abs(got - expected) <= np.ravel(out.tolerance))
    is_wrong &= ~((got == expected) | np.isnan(got) & np.isnan(expected))
    arguments = [In(x) if isinstance(x, np.ndarray) else x for x in inputs]
    return in_common(got, out, is_wrong, [*arguments, out])
