"""Every step of the ladders: reductions of a vector, of rows, of higher dimensions, and softmax."""

from math import ceil

import numpy as np
import pytest

import helpers.autoinit  # noqa: F401
from helpers import checks, sources
from helpers.xray.sanitizer import sanitize

SIZES = [1, 31, 32, 33, 255, 256, 257, 1023, 1025, 1_000_003]
SHAPES = [(1, 1), (3, 31), (5, 32), (7, 33), (2, 255), (9, 256), (4, 257), (3, 1023), (33, 1025)]
OPERATORS = {"Sum": np.sum, "Prod": np.prod, "Max": np.max, "Min": np.min}
ACCUMULATORS = {
    "float16": "float32",
    "float32": "float32",
    "float64": "float64",
    "int32": "int32",
}

# The steps of reduce/ by what they leave: a total a block for the host to fold, or the result.
FOLDS = ["shared_modulo", "shared_strided", "shared", "shuffle_down", "shuffle_xor"]
TREES = ["shared_plain", *FOLDS]
ATOMIC = ["atomic", "atomic_finish", "unrolled", "warp_totals", "grid_stride", "packed"]
STRIDING = ["grid_stride", "packed", "two_pass", "last_block"]
STRIDING_BLOCKS = 40
ROWS = ["warp_per_row", "block_per_row", "warp_packed", "block_packed", "lanes", "split"]


def numbers(*shape, dtype="float32", seed=0):
    """Random negatives and non-integers, so that a wrong index or rounding shows."""
    random = np.random.default_rng([seed, *shape])
    if np.dtype(dtype).kind == "i":
        return random.integers(-1000, 1000, shape).astype(dtype)
    return random.standard_normal(shape).astype(dtype)


def operands(operator, *shape):
    """Numbers that can tell: of a product that stays in range, of a maximum that is negative."""
    x = numbers(*shape)
    return {"Prod": np.exp(x / 64), "Max": -np.abs(x), "Min": np.abs(x)}.get(operator, x)


def fold_vector(step, x, acc=None, block=256, **choices):
    """What a step of reduce/ makes of x: one value, or a total a block."""
    acc = np.dtype(acc or ACCUMULATORS[x.dtype.name])
    blocks = ceil(x.size / block)
    if step == "one_thread":
        blocks, block = 1, 1
    if step in STRIDING:
        blocks = min(blocks, STRIDING_BLOCKS)
    if step == "unrolled":
        choices["BLOCK"] = block
    if step == "last_block":
        choices["Out"] = acc
    if step == "halving":
        acc = x.dtype
    else:
        choices["Acc"] = acc
    run = sources.kernel(f"reduce/{step}.cu", T=x.dtype, **choices)

    x_gpu = checks.Guarded(x.shape, x.dtype).set(x)
    one = step in ["one_thread", "last_block", *ATOMIC]
    out = checks.Guarded(1 if one else blocks, acc)
    if step in ATOMIC:
        out.set(0)
    arguments = [x_gpu.array, out.array, np.int64(x.size)]
    if step == "last_block":
        totals, arrived = checks.Guarded(blocks, acc), checks.Guarded(1, "int32").set(0)
        arguments += [totals.array, arrived.array]
    shared = block * acc.itemsize if step in [*TREES, "atomic_finish"] else 0
    run(*arguments, grid=(blocks, 1), block=(block, 1, 1), shared=shared)
    if step == "last_block":
        totals.get()
        checks.assert_equal(arrived.get(), [0], "arrived")
    if step != "halving":
        checks.assert_equal(x_gpu.get(), x, "x")
    return out.get()


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


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("step", [*FOLDS, "two_pass", "last_block"])
def test_operators(step, operator):
    x = operands(operator, 777)
    got = OPERATORS[operator](fold_vector(step, x, Op=f"{operator}<Acc>").astype("float64"))
    want = OPERATORS[operator](x.astype(np.longdouble))
    bounds = {"Sum": checks.sum_tolerance(x, chain=32), "Prod": checks.prod_tolerance(x)}
    checks.assert_close(got, want, bounds.get(operator, 0), step)


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


def fold_rows(step, x, operator="Sum", offset_bytes=0, **choices):
    """What a step of rowreduce/ makes of x[batch, hidden]: out[batch]."""
    batch, hidden = x.shape
    value = ACCUMULATORS[x.dtype.name]
    types = {"Acc": value, "Out": value, "Op": f"{operator}<Acc>"}
    if operator.startswith("Arg"):
        c_name = sources.C_NAMES[value]
        types = {"Acc": f"Indexed<{c_name}>", "Out": "int64", "Op": f"{operator}<{c_name}>"}
    run = sources.kernel(f"rowreduce/{step}.cu", T=x.dtype, **types, **choices)
    x_gpu = checks.Guarded(x.shape, x.dtype, offset_bytes).set(x)
    out = checks.Guarded(batch, "int64" if operator.startswith("Arg") else value)
    block, splits, rest = 128, 3, []
    blocks = {"warp_per_row": ceil(batch / 4), "warp_packed": ceil(batch / 4), "lanes": 2}
    if step == "split":
        totals, arrived = (
            checks.Guarded((batch * splits, 2), "int64"),
            checks.Guarded(batch, "int32"),
        )
        room = np.uintp(totals.array.ptr)  # for values of any type
        rest = [np.int32(splits), room, arrived.set(0).array]
    grid = blocks.get(step, batch * splits if step == "split" else batch), 1
    sizes = np.int64(batch), np.int64(hidden)
    run(x_gpu.array, out.array, *sizes, *rest, grid=grid, block=(block, 1, 1))
    if step == "split":
        totals.get()
        checks.assert_equal(arrived.get(), np.zeros(batch), "arrived")
    return out.get()


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


@pytest.mark.parametrize("operator", ["Prod", "Max", "Min", "Mean", "ArgMax", "ArgMin"])
@pytest.mark.parametrize("step", ROWS)
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


def fold_columns(step, x, operator="Sum", transform="Identity", rows_a_chunk=10, **choices):
    """What a step of higherdim/ makes of x[outer, reduce, inner]: out[outer, inner]."""
    outer, reduce, inner = x.shape
    value = ACCUMULATORS[x.dtype.name]
    types = {"Acc": value, "Out": value, "Op": f"{operator}<Acc>"}
    x_gpu = checks.Guarded(x.shape, x.dtype).set(x)
    sizes = [np.int64(n) for n in x.shape]
    count = 1 if step == "columns" else ceil(reduce / rows_a_chunk)
    out = checks.Guarded((outer, count if "chunks" in step else 1, inner), value)
    if step == "columns":
        grid, block, rest = (ceil(inner / 64), outer), (64, 1, 1), []
    elif step == "chunks":
        types["Transform"] = f"{transform}<Acc>"
        grid, block, rest = (ceil(inner / 64), count, outer), (64, 1, 1), [np.int64(rows_a_chunk)]
    else:
        pack = choices.setdefault("PACK", 4 if inner % 4 == 0 else 1)
        width, height = 8, 16
        choices["BLOCK"] = width * height
        tiles = ceil(inner / (width * pack))
        grid, block = (outer * tiles, count), (width, height, 1)
        totals = checks.Guarded((outer, count, inner), value)
        arrived = checks.Guarded(outer * tiles, "int32").set(0)
        rest = [totals.array, arrived.array]
    run = sources.kernel(f"higherdim/{step}.cu", T=x.dtype, **types, **choices)
    run(x_gpu.array, out.array, *sizes, *rest, grid=grid, block=block)
    if step == "tiles":
        totals.get()
        checks.assert_equal(arrived.get(), np.zeros(arrived.shape), "arrived")
    got = out.get()
    if got.shape[1] > 1:  # partial results: the second pass
        return fold_columns(step, got, operator, rows_a_chunk=count)
    return got[:, 0]


CUBES = [(1, 1, 1), (1, 31, 33), (2, 100, 32), (3, 41, 255), (1, 257, 64), (2, 10, 1023), (1, 3, 9)]


@pytest.mark.parametrize("shape", CUBES, ids=str)
@pytest.mark.parametrize("step", ["columns", "chunks", "tiles"])
def test_sum_of_columns(step, shape):
    x = numbers(*shape)
    tolerance = checks.sum_tolerance(x, 1)
    checks.assert_close(fold_columns(step, x), x.sum(1, dtype=np.longdouble), tolerance, step)


@pytest.mark.parametrize("operator", ["Max", "Min", "Prod"])
@pytest.mark.parametrize("step", ["columns", "chunks", "tiles"])
def test_operators_of_columns(step, operator):
    x = operands(operator, 2, 33, 44)
    want = OPERATORS[operator](x.astype(np.longdouble), 1)
    tolerance = checks.prod_tolerance(x, 1) if operator == "Prod" else 0
    checks.assert_close(fold_columns(step, x, operator), want, tolerance, step)


@pytest.mark.parametrize("dtype", ["float64", "float16", "int32"])
@pytest.mark.parametrize("step", ["columns", "chunks", "tiles"])
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


def softmax(step, x, **choices):
    """What a step of softmax/ makes of x[batch, hidden]."""
    batch, hidden = x.shape
    pack = 4 if hidden % 4 == 0 else 1
    x_gpu, y = checks.Guarded(x.shape, x.dtype).set(x), checks.Guarded(x.shape, x.dtype)
    grid, block, rest = (batch, 1), 128, []
    if step == "registers":
        choices = {"GROUP": 32, "PACKS": ceil(hidden / pack / 32), "PACK": pack} | choices
        block = max(choices["GROUP"], 64)
        grid = ceil(batch * choices["GROUP"] / block), 1
    c_types = {"T": x.dtype, "Acc": ACCUMULATORS[x.dtype.name]}
    sizes = np.int64(batch), np.int64(hidden)
    if step == "two_launches":
        choices = c_types | {"TILE": 256, "PACK": pack}
        parts = ceil(hidden / 256)
        stats, grid = checks.Guarded((batch, parts, 2), c_types["Acc"]), (batch * parts, 1)
        rest = [np.int32(parts)]
        run = sources.kernel("softmax/measure.cu", **choices)
        run(x_gpu.array, stats.array, *sizes, *rest, grid=grid, block=(block, 1, 1))
        rest.append(stats.array)
        assert stats.get().shape
        step = "write"
    if step == "trailing":
        tile = 64 * 2 * pack
        parts, lag = ceil(hidden / tile), max(5, ceil(hidden / tile))
        choices = {"BLOCK": 64, "PACKS": 2, "PACK": pack, "WHOLE": int(hidden % tile == 0)}
        slots = checks.Guarded((batch, parts, 2), c_types["Acc"]).set(0)
        ticket = checks.Guarded(1, "uint32").set(0)
        rest = [np.int32(parts), np.int32(lag), slots.array, ticket.array]
        grid, block = (batch * parts + lag, 1), 64
    run = sources.kernel(f"softmax/{step}.cu", **c_types | choices)
    run(x_gpu.array, y.array, *sizes, *rest, grid=grid, block=(block, 1, 1))
    if step == "trailing":
        sent = slots.get()
        assert ((sent != 0) | np.signbit(sent)).all() and ticket.get() == grid[0]
    return y.get()


SOFTMAX = ["three_pass", "online", "registers", "two_launches", "trailing"]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("step", SOFTMAX)
def test_softmax(step, shape):
    x = 10 * numbers(*shape)
    checks.assert_close(softmax(step, x), checks.softmax(x), checks.softmax_tolerance(x), step)


@pytest.mark.parametrize("step", SOFTMAX)
def test_softmax_of_extremes(step):
    x = numbers(10, 300)
    x[0] += 1000  # exp() of it is infinite
    x[1] -= 1000
    x[2, 7], x[3, 299], x[4, 128] = np.inf, np.nan, -np.inf
    x[5], x[6] = -np.inf, -np.inf
    x[6, 5] = 3
    x[7, :150] = 3e38
    x[7, 150:] = -3e38
    x[8], x[9] = 0.0, -0.0
    got = softmax(step, x)
    checks.assert_close(got, checks.softmax(x), checks.softmax_tolerance(x), step)
    assert np.isnan(got[[2, 3, 5]]).all() and not np.isnan(got[[0, 1, 4, 6, 7, 8, 9]]).any()


@pytest.mark.parametrize("group", [1, 2, 8, 16, 64, 128])
def test_softmax_in_groups_of_all_sizes(group):
    x = numbers(9, 96)
    got = softmax("registers", x, GROUP=group, PACKS=ceil(24 / group))
    checks.assert_close(got, checks.softmax(x), checks.softmax_tolerance(x))


@pytest.mark.parametrize("dtype", ["float64", "float16"])
@pytest.mark.parametrize("step", SOFTMAX)
def test_softmax_types(step, dtype):
    x = numbers(5, 200, dtype=dtype)
    tolerance = checks.softmax_tolerance(x, accumulator=ACCUMULATORS[dtype])
    checks.assert_close(softmax(step, x), checks.softmax(x), tolerance, step)


# The wrong versions go wrong where their heads say, and nowhere else.


def test_wrong_overflow_is_wrong():
    x = numbers(2, 300)
    checks.assert_close(
        softmax("wrong_overflow", x), checks.softmax(x), checks.softmax_tolerance(x)
    )
    assert np.isnan(softmax("wrong_overflow", x + 100)).any()


def test_wrong_online_is_wrong():
    assert np.isnan(softmax("wrong_online", numbers(2, 300))).all()


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
    with pytest.raises(AssertionError, match="12 bytes outside the array"):
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
