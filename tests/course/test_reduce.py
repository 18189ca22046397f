"""Every step of the ladders of reductions: of a vector, of rows, of higher dimensions."""

from math import ceil

import numpy as np
import pytest

import helpers.autoinit  # noqa: F401
from helpers import checks, sources
from softgpu.tests.facts import refused
from softgpu.xray.sanitizer import sanitize

from .steps_reduce import (
    ACCUMULATORS,
    ATOMIC,
    COLUMNS,
    FOLDS,
    ROWS,
    STRIDING_BLOCKS,
    TREES,
    fold_columns,
    fold_rows,
    fold_vector,
    numbers,
)

pytestmark = pytest.mark.usefixtures("in_quick")

SIZES = [1, 31, 32, 33, 255, 256, 257, 1023, 1025, 1_000_003]
SHAPES = [(1, 1), (3, 31), (5, 32), (7, 33), (2, 255), (9, 256), (4, 257), (3, 1023), (33, 1025)]
OPERATORS = {"Prod": np.prod, "Max": np.max, "Min": np.min}


def in_turn(steps, *pairs):
    """(step, operator) with one operator of each pair: a step treats both of a pair alike."""
    return [(step, pair[n % 2]) for n, step in enumerate(steps) for pair in pairs]


def operands(operator, *shape):
    """Numbers that can tell: of a product that stays in range, of a maximum that is negative."""
    x = numbers(*shape)
    return {"Prod": np.exp(x / 64), "Max": -np.abs(x), "Min": np.abs(x)}.get(operator, x)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize(
    "step", ["one_thread", "halving", *TREES, *ATOMIC, "two_pass", "last_block"]
)
def test_sum_of_a_vector(step, n):
    chained = step in ["one_thread", *ATOMIC]  # all additions may be one after the other
    if step in ["one_thread", "atomic"]:
        n = min(n, 20_011)
    # A bound for a long chain of roundings to float would let anything pass.
    acc = "float64" if chained and n > 2000 else "float32"
    x = numbers(n)
    got = fold_vector(step, x, acc).sum(dtype="float64")
    chain = n if chained else ceil(n / (STRIDING_BLOCKS * 256)) + 20
    tolerance = checks.sum_tolerance(x, chain=chain, accumulator=acc)
    checks.assert_close(got, x.sum(dtype=np.longdouble), tolerance, step)


@pytest.mark.parametrize("block", [32, 64, 1024])
@pytest.mark.parametrize("step", ["halving", *TREES, *ATOMIC, "two_pass", "last_block"])
def test_blocks_of_other_widths(step, block):
    x = numbers(2500)
    got = fold_vector(step, x, block=block).sum(dtype="float64")
    checks.assert_close(got, x.sum(dtype=np.longdouble), checks.sum_tolerance(x), step)


@pytest.mark.parametrize(
    "step, operator",
    in_turn([*FOLDS, "two_pass", "last_block"], ("Prod", "Prod"), ("Max", "Min")),
)
def test_operators(step, operator):
    x = operands(operator, 777)
    got = OPERATORS[operator](fold_vector(step, x, Op=f"{operator}<Acc>").astype("float64"))
    want = OPERATORS[operator](x.astype(np.longdouble))
    tolerance = checks.prod_tolerance(x) if operator == "Prod" else 0
    checks.assert_close(got, want, tolerance, step)


@pytest.mark.parametrize("dtype", ["float64", "float16", "int32"])
@pytest.mark.parametrize("step", [*TREES, *ATOMIC, "two_pass", "last_block"])
def test_types(step, dtype):
    x = numbers(1025, dtype=dtype)
    wide = "int64" if dtype == "int32" else np.longdouble
    tolerance = checks.sum_tolerance(x, accumulator=ACCUMULATORS[dtype])
    checks.assert_close(fold_vector(step, x).sum(dtype=wide), x.sum(dtype=wide), tolerance, step)


@pytest.mark.parametrize("step", ["two_pass", "last_block"])
def test_the_same_bits_every_time(step):
    x = numbers(100_003)
    checks.assert_equal(fold_vector(step, x), fold_vector(step, x), step)


def test_halving_destroys_its_input():
    x = checks.Guarded(256, "float32").set(numbers(256))
    out = checks.Guarded(1, "float32")
    run = sources.kernel("reduce/halving.cu")
    run(x.array, out.array, np.int64(256), grid=(1, 1), block=(256, 1, 1))
    assert not np.array_equal(x.get(), numbers(256))


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("step", [*ROWS, "cub_per_row"])
def test_sum_of_rows(step, shape):
    x = numbers(*shape)
    choices = {"PACK": 4 if shape[1] % 4 == 0 else 1} if step == "lanes" else {}
    got = fold_rows(step, x, **choices)
    want = x.sum(1, dtype=np.longdouble)
    checks.assert_close(got, want, checks.sum_tolerance(x, 1, chain=shape[1] // 8 + 20), step)


@pytest.mark.parametrize("offset", [4, 8, 12])
@pytest.mark.parametrize("step", ["warp_packed", "block_packed", "split"])
def test_rows_that_start_anywhere(step, offset):
    for hidden in 1, 2, 3, 5, 130, 515:
        x = numbers(6, hidden)
        got = fold_rows(step, x, offset_bytes=offset)
        checks.assert_close(got, x.sum(1, dtype=np.longdouble), checks.sum_tolerance(x, 1), step)


@pytest.mark.parametrize(
    "step, operator",
    in_turn(ROWS, ("Prod", "Prod"), ("Mean", "Mean"), ("Max", "Min"), ("ArgMin", "ArgMax")),
)
def test_operators_of_rows(step, operator):
    x = operands(operator, 10, 100)
    x[3, 40:50] = x[3, 20:30]  # of equals the first
    want = getattr(np, operator.lower())(x.astype(np.longdouble), 1)
    tolerance = {"Prod": checks.prod_tolerance(x, 1), "Mean": checks.sum_tolerance(x, 1) / 50}
    checks.assert_close(fold_rows(step, x, operator), want, tolerance.get(operator, 0), step)


@pytest.mark.parametrize("operator", ["Max", "Min", "ArgMax", "ArgMin"])
def test_nan_wins(operator):
    x = numbers(6, 100)
    x[0, 77] = x[1, 3] = x[1, 99] = x[2, :] = np.nan
    x[3, :], x[4, :] = -np.inf, np.inf
    got = fold_rows("warp_packed", x, operator)
    checks.assert_equal(got, getattr(np, operator.lower())(x, 1), operator)


@pytest.mark.parametrize("dtype", ["float64", "float16", "int32"])
@pytest.mark.parametrize("step", ROWS)
def test_types_of_rows(step, dtype):
    x = numbers(7, 264, dtype=dtype)
    choices = {"PACK": 16 // x.dtype.itemsize} if step == "lanes" else {}
    wide = "int64" if dtype == "int32" else np.longdouble
    tolerance = checks.sum_tolerance(x, 1, accumulator=ACCUMULATORS[dtype])
    checks.assert_close(fold_rows(step, x, **choices), x.sum(1, dtype=wide), tolerance, step)


CUBES = [(1, 1, 1), (1, 31, 33), (2, 100, 32), (3, 41, 255), (1, 257, 64), (2, 10, 1023), (1, 3, 9)]


@pytest.mark.parametrize("shape", CUBES, ids=str)
@pytest.mark.parametrize("step", COLUMNS)
def test_sum_of_columns(step, shape):
    x = numbers(*shape)
    tolerance = checks.sum_tolerance(x, 1)
    checks.assert_close(fold_columns(step, x), x.sum(1, dtype=np.longdouble), tolerance, step)


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_columns_of_rows_that_begin_anywhere(dtype):
    for shape in (2, 3, 171), (1, 25, 65), (3, 7, 31):
        x, wide = numbers(*shape, dtype=dtype), ACCUMULATORS[dtype]
        got = fold_columns("tiles", x, PACK=16 // x.itemsize, SHIFTED=1)
        checks.assert_close(got, x.sum(1, dtype="f8"), checks.sum_tolerance(x, 1, accumulator=wide))


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_rows_that_count_as_one(dtype):
    for shape in (1, 8, 3), (1, 203, 3), (2, 80, 3):
        x, wide = numbers(*shape, dtype=dtype), ACCUMULATORS[dtype]
        got = fold_columns("tiles", x, PACK=16 // x.itemsize, MERGED=8)
        checks.assert_close(got, x.sum(1, dtype="f8"), checks.sum_tolerance(x, 1, accumulator=wide))


@pytest.mark.parametrize("operator", ["Max", "Min", "Prod"])
@pytest.mark.parametrize("step", COLUMNS)
def test_operators_of_columns(step, operator):
    x = operands(operator, 2, 33, 44)
    want = OPERATORS[operator](x.astype(np.longdouble), 1)
    tolerance = checks.prod_tolerance(x, 1) if operator == "Prod" else 0
    checks.assert_close(fold_columns(step, x, operator), want, tolerance, step)


@pytest.mark.parametrize("dtype", ["float64", "float16", "int32"])
@pytest.mark.parametrize("step", COLUMNS)
def test_types_of_columns(step, dtype):
    x = numbers(2, 33, 40, dtype=dtype)
    choices = {"PACK": min(16 // x.dtype.itemsize, 8)} if step == "tiles" else {}
    wide = "int64" if dtype == "int32" else np.longdouble
    tolerance = checks.sum_tolerance(x, 1, accumulator=ACCUMULATORS[dtype])
    checks.assert_close(fold_columns(step, x, **choices), x.sum(1, dtype=wide), tolerance, step)


@pytest.mark.parametrize("transform, function", [("Square", np.square), ("Abs", np.abs)])
def test_transforms(transform, function):
    x = numbers(1, 45, 70)
    y = function(x.astype(np.longdouble))
    tolerance = checks.sum_tolerance(y, 1, chain=46, accumulator="float32")
    checks.assert_close(fold_columns("chunks", x, transform=transform), y.sum(1), tolerance)


# The wrong versions go wrong where their heads say, and nowhere else.


def test_wrong_rows_is_wrong():
    x = numbers(1, 20, 64)
    run = sources.kernel("higherdim/wrong_rows.cu")
    for rows, right in (8, True), (10, False):
        out, x_gpu = checks.Guarded((1, 1, 64), "float32"), checks.Guarded(x.shape, x.dtype).set(x)
        sizes = [np.int64(n) for n in (1, rows, 64, rows)]
        run(x_gpu.array, out.array, *sizes, grid=(1, 1, 1), block=(64, 1, 1))
        want = x[0, :rows].sum(0, dtype=np.longdouble)
        close = np.abs(out.get()[0, 0] - want) <= checks.sum_tolerance(x[0, :rows], 0)
        assert close.all() == right


def test_wrong_row_guard_is_wrong():
    x, out = numbers(8, 32), checks.Guarded(5, "float32")
    sizes = np.int64(5), np.int64(32)
    x_gpu = checks.Guarded(x.shape, x.dtype).set(x)
    run = sources.kernel("rowreduce/wrong_row_guard.cu")
    run(x_gpu.array, out.array, *sizes, grid=(2, 1), block=(128, 1, 1))
    with refused(AssertionError, 12):
        out.get()


def test_wrong_packed_loses_the_tail():
    x = numbers(1, 103)
    got = fold_rows("wrong_packed", x)
    checks.assert_close(got, x[:, :100].sum(1, dtype=np.longdouble), checks.sum_tolerance(x, 1))


def test_wrong_tail_is_wrong():
    run = sources.kernel("reduce/wrong_tail.cu")
    for n, right in (256, True), (200, False):
        x, out = checks.Guarded(256, "float32").set(numbers(256)), checks.Guarded(1, "float32")
        run(x.array, out.array, grid=(1, 1), block=(256, 1, 1))
        want = numbers(256)[:n].sum(dtype=np.longdouble)
        error = abs(out.get()[0] - want)
        assert (error <= checks.sum_tolerance(numbers(256)[:n])) == right


def test_wrong_zero_fill_is_wrong():
    x, out = checks.Guarded(200, "float32").set(-1), checks.Guarded(1, "float32")
    run = sources.kernel("reduce/wrong_zero_fill.cu")
    run(x.array, out.array, np.int64(200), grid=(1, 1), block=(256, 1, 1), shared=1024)
    assert out.get()[0] == 0


@pytest.mark.parametrize(
    "wrong, kind",
    [
        ("wrong_add", "race"),
        ("wrong_race", "race"),
        ("wrong_barrier", "divergent barrier"),
        ("wrong_shuffle", "inactive shuffle"),
    ],
)
def test_wrong_by_chance_is_found(wrong, kind):
    x, out = checks.Guarded(256, "float32").set(numbers(256)), checks.Guarded(1, "float32")
    run = sources.kernel(f"reduce/{wrong}.cu")
    found = sanitize(run, x.array, out.array, np.int64(256), grid=1, block=256, shared=1024)
    assert kind in [finding.kind for finding in found]
