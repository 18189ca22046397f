"""helpers.ops: every operation, type and axis, whatever kernel it picks."""

import importlib
import inspect
from pathlib import Path

import numpy as np
import pytest

from helpers import autoinit, checks, ops
from helpers.ops import launch
from helpers.ops.launch import LONG, workspace
from softgpu.tests.facts import refused

from pycuda import gpuarray  # isort: skip
from pycuda.compiler import SourceModule  # isort: skip
import pycuda.driver as cuda  # isort: skip

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("in_quick")]

REDUCTIONS = ["sum", "prod", "mean", "max", "min", "argmax", "argmin", "softmax"]
DTYPES = ["float32", "float64", "float16", "int32"]
SIZES = [1, 31, 32, 33, 255, 256, 257, 1023, 1025, 70_001, 1_000_003]
# From one element to the longest stretch that any kernel here gives to one thread, and its trees.
CHAIN = 192


def numbers(shape, dtype="float32"):
    """Random negatives and non-integers."""
    random = np.random.default_rng(np.atleast_1d(shape))
    if dtype == "int32":
        return random.integers(-1000, 1000, shape).astype(dtype)
    return random.standard_normal(shape).astype(dtype)


def on_gpu(x, offset_bytes=0):
    return checks.Guarded(x.shape, x.dtype, offset_bytes).set(x).array


def check(operation, x, axis=None, offset_bytes=0):
    """Compare an operation with NumPy's in extended precision, within what rounding may do."""
    got = getattr(ops, operation)(on_gpu(x, offset_bytes), axis).get()
    if operation in ("max", "min", "argmax", "argmin"):
        want = getattr(np, operation)(x, axis)
        assert got.dtype == want.dtype
        return checks.assert_equal(got, want, operation)
    whole = x.dtype.kind == "i" and operation != "mean"
    want = getattr(np, operation)(x, axis, dtype="int64" if whole else np.longdouble)
    wide = {"float16": "float32", "int32": "float64"}.get(x.dtype.name, x.dtype)
    if whole:
        tolerance = 0
    elif operation == "prod":
        tolerance = checks.prod_tolerance(x, axis, accumulator=wide)
    else:
        tolerance = checks.sum_tolerance(x, axis, CHAIN, wide)
        if operation == "mean":
            count = x.size // max(want.size, 1)
            tolerance = tolerance / count + checks.roundoff(wide) * np.abs(want)
    expected = {"i": "int64" if whole else "float64"}.get(x.dtype.kind, x.dtype)
    assert got.dtype == expected
    tolerance = tolerance + checks.roundoff(expected) * np.abs(want)
    return checks.assert_close(got, want, tolerance, operation)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_sum_of_a_vector(n, dtype):
    if dtype == "float16" and n > 100_000:
        n = 300_007  # the sum of more would not be a finite half
    check("sum", numbers(n, dtype))


# Of two mirror images one for each type; rows and columns below have both.
OPERATIONS = ["prod", "mean", "max", "argmin"], ["prod", "mean", "min", "argmax"]


@pytest.mark.parametrize(
    "operation, dtype", [(o, dtype) for n, dtype in enumerate(DTYPES) for o in OPERATIONS[n % 2]]
)
def test_operations_of_a_vector(operation, dtype):
    for n in 1, 33, 1025, 70_001:
        x = numbers(n, dtype)
        if operation == "prod":
            x = np.where(x > 0, 1, -1).astype(dtype) if dtype == "int32" else np.exp(x / 64)
        check(operation, x.astype(dtype))


# Short rows, middling, long; rows that fill no pack; few rows that blocks share; many.
ROWS = [(1, 1), (500, 3), (500, 32), (300, 33), (200, 128), (300, 260), (150, 1023), (140, 5000),
        (3, 40_001), (7, 20_000), (2000, 1)]  # fmt: skip


@pytest.mark.parametrize("shape", ROWS, ids=str)
@pytest.mark.parametrize("operation", ["sum", "argmax"])
def test_rows(operation, shape):
    check(operation, numbers(shape), -1)


@pytest.mark.parametrize("dtype", ["float64", "float16", "int32"])
@pytest.mark.parametrize("operation", ["sum", "mean", "max", "argmin"])
def test_rows_of_types(operation, dtype):
    for shape in (300, 33), (150, 264), (140, 2500):
        check(operation, numbers(shape, dtype), 1)


COLUMNS = [(1, 1, 2), (1, 7, 1000), (1, 1000, 7), (1, 4096, 64), (3, 100, 33), (200, 5, 12),
           (1, 3, 5000), (2, 500, 130), (40, 1, 3)]  # fmt: skip


@pytest.mark.parametrize("shape", COLUMNS, ids=str)
@pytest.mark.parametrize("operation", ["sum", "argmax"])
def test_columns(operation, shape):
    check(operation, numbers(shape), 1)


WIDE_COLUMNS = [(1, 2, 3001), (1, 3, 40), (1, 33, 333), (3, 47, 131), (1, 700, 5), (2, 331, 3),
                (1, 64, 2), (600, 6, 3), (300, 15, 8), (700, 2, 7), (1, 2500, 77), (1, 9, 1001),
                (300, 5, 133), (3, 31, 517)]  # fmt: skip


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("shape", WIDE_COLUMNS, ids=str)
@pytest.mark.parametrize("operation", ["sum", "max", "argmin"])
def test_columns_that_are_loaded_as_wide_as_where_arrays_are_large(
    operation, shape, dtype, monkeypatch
):
    reduce = importlib.import_module("helpers.ops.reduce")
    monkeypatch.setattr(reduce, "LARGE", 0)
    monkeypatch.setattr(reduce, "prepared", launch.Kept())
    for offset in 0, np.dtype(dtype).itemsize:
        check(operation, numbers(shape, dtype), 1, offset)


@pytest.mark.parametrize("dtype", ["float64", "float16", "int32"])
@pytest.mark.parametrize("operation", ["sum", "mean", "min", "argmax"])
def test_columns_of_types(operation, dtype):
    for shape in (300, 40), (10, 33):
        check(operation, numbers(shape, dtype), 0)


@pytest.mark.parametrize("axis", [0, 1, 2, 3, -1, -4, (0, 1), (1, 2), (-1, 0), (0, 2), (1, 3),
                                  (0, 1, 2, 3), (), None], ids=str)  # fmt: skip
def test_any_axis(axis):
    x = numbers((3, 5, 7, 9))
    for operation in "sum", "mean", "max":
        check(operation, x, axis)
    check("sum", x.astype("float16"), axis)


@pytest.mark.parametrize("offset", [4, 8, 12])
def test_arrays_that_start_anywhere(offset):
    for shape, axis in (
        ((1001,), 0),
        ((200, 32), 1),
        ((200, 33), 1),
        ((140, 5000), 1),
        ((30, 64), 0),
    ):
        check("sum", numbers(shape), axis, offset)
    x = numbers((20, 64))
    got = ops.softmax(on_gpu(x, offset)).get()
    checks.assert_close(got, checks.softmax(x), checks.softmax_tolerance(x))


def test_the_same_bits_every_time():
    x = on_gpu(numbers(500_009))
    assert len({ops.sum(x).get().tobytes() for _ in range(5)}) == 1


def test_nan_and_infinities():
    x = numbers((300, 40))
    x[0, 39], x[1, 0], x[2], x[3] = np.nan, np.nan, np.inf, -np.inf
    x[4, 5], x[4, 7] = np.inf, -np.inf
    for operation in "max", "min", "argmax", "argmin":
        for axis in 0, 1, None:
            check(operation, x, axis)
    checks.assert_equal(np.isnan(ops.sum(on_gpu(x), 1).get()), np.isnan(x.sum(1)))


def test_integers_are_exact_and_do_not_overflow():
    x = np.full(100_000, 2**31 - 1, "int32")
    assert ops.sum(on_gpu(x)).get() == x.sum(dtype="int64")
    assert ops.mean(on_gpu(x)).get() == 2**31 - 1
    least = np.full((2, 300), -(2**31), "int32")
    checks.assert_equal(ops.max(on_gpu(least), 1).get(), least.max(1))


def test_halves_are_accumulated_in_float():
    x = np.full(20_000, 0.1, "float16")
    check("sum", x)
    check("mean", np.full((200, 300), 60_000, "float16"), (0,))


# Rows in part of a warp, in a warp, in a block; in packs and not; too long for registers.
SOFTMAX = [(1, 1), (500, 3), (300, 32), (200, 33), (100, 128), (50, 257), (20, 1023), (20, 1000),
           (9, 4096), (2, 16_384), (2, 32_768), (3, 8193), (2, 33_000), (3, 70_000),
           (9, 131_072), (40, 50_001), (1, 1_048_576), (2, 1_200_000), (1, 2_200_002)]  # fmt: skip


@pytest.mark.parametrize("shape", SOFTMAX, ids=str)
def test_softmax(shape):
    x = 10 * numbers(shape)
    got = ops.softmax(on_gpu(x)).get()
    checks.assert_close(got, checks.softmax(x), checks.softmax_tolerance(x, CHAIN))


def test_softmax_of_a_row_of_as_many_parts_as_there_may_be(monkeypatch):
    its_own = inspect.getmodule(ops.softmax)
    monkeypatch.setattr(its_own, "MOST_PARTS", 100)  # as 9 million numbers meet 1024
    monkeypatch.setattr(its_own, "prepared", {})
    test_softmax((1, 1_200_001))


@pytest.mark.parametrize("dtype", ["float64", "float16"])
def test_softmax_of_types(dtype):
    for shape in (50, 64), (3, 5, 1001), (2, 16_384), (2, 32_768), (2, 40_000), (3, 66_001):
        x = numbers(shape, dtype)
        wide = "float32" if dtype == "float16" else dtype
        got = ops.softmax(on_gpu(x)).get()
        assert got.dtype == dtype
        tolerance = checks.softmax_tolerance(x, CHAIN, wide)
        checks.assert_close(got, checks.softmax(x), tolerance)


@pytest.mark.parametrize("hidden", [5, 300, 40_000, 1_100_000])
def test_softmax_of_extremes(hidden):
    x = numbers((7, hidden))
    x[0] += 1000
    x[1, 2], x[2, 3], x[3, 4] = np.inf, np.nan, -np.inf
    x[4], x[5] = -np.inf, -np.inf
    x[5, 1] = 7
    got = ops.softmax(on_gpu(x)).get()
    checks.assert_close(got, checks.softmax(x), checks.softmax_tolerance(x, CHAIN))
    assert np.isnan(got[[1, 2, 4]]).all() and not np.isnan(got[[0, 3, 5, 6]]).any()


def test_no_elements():
    for shape, axis in ((0,), 0), ((5, 0), 1), ((0, 5), 1), ((5, 0), None), ((2, 0, 3), (0, 1)):
        x = gpuarray.empty(shape, np.float32)
        for operation in "sum", "prod":
            want = getattr(np, operation)(np.empty(shape, "f4"), axis)
            got = getattr(ops, operation)(x, axis).get()
            assert got.shape == want.shape and np.array_equal(got, want)
    assert np.isnan(ops.mean(gpuarray.empty((2, 0), np.float32), 1).get()).all()
    assert ops.sum(gpuarray.empty(0, np.int32)).get().dtype == "int64"
    assert ops.max(gpuarray.empty((0, 5), np.float32), 1).shape == (0,)
    with refused(ValueError, "max", (5, 0)):
        ops.max(gpuarray.empty((5, 0), np.float32), 1)
    assert ops.softmax(gpuarray.empty((3, 0), np.float32)).shape == (3, 0)


def test_without_an_axis_to_fold():
    from pycuda.gpuarray import to_gpu

    x, one = on_gpu(numbers((4, 6))), to_gpu(np.array(3, "float32"))
    for operation in "sum", "prod", "mean", "max", "min":
        for array, axis in (one, None), (one, ()), (x, ()):
            result = getattr(ops, operation)(array, axis)
            assert result is not array and np.array_equal(result.get(), array.get())
    for operation in "sum", "max", "argmin":
        for axis in 1, (0, 1), (1, 2):  # an axis of one element changes nothing
            check(operation, numbers((4, 1, 6)), axis if operation != "argmin" else 1)
    assert ops.sum(on_gpu(numbers((4, 1, 6), "int32")), 1).dtype == "int64"
    assert ops.argmax(one).get() == 0 == ops.argmin(one).get()
    assert ops.argmax(one).dtype == "int64"
    assert ops.sum(to_gpu(np.array(3, "int32"))).dtype == "int64"


@pytest.mark.skipif(not autoinit.is_software, reason="a GPU runs every launch to its end")
def test_a_stopped_launch_does_no_harm():
    from helpers.ops.launch import workspace

    x = numbers(300_000)
    ops.sum(on_gpu(x))
    room = workspace(None)  # with counters as a launch leaves them that did not come to its end
    cuda.memset_d32(room.counters, 1, room.counter_bytes // 4)
    fault = SourceModule("__global__ void fault(int *p) { *p = 1; }").get_function("fault")
    with refused(cuda.LogicError, "NULL"):
        fault(np.intp(0), block=(1, 1, 1))
    check("sum", x)


@pytest.mark.parametrize("operation", REDUCTIONS)
def test_every_operation_refuses_bad_arrays(operation):
    wrong = [
        (TypeError, ["GPUArray", "ndarray"], np.ones(5, "int32")),
        (TypeError, ["GPUArray", "list"], [1.0, 2.0]),
        (TypeError, ["int64"], on_gpu(np.ones(5, "int64"))),
        (TypeError, [">f4"], on_gpu(np.ones(5, ">f4"))),
        (ValueError, [4], on_gpu(np.ones(5, "int32"), offset_bytes=1)),
    ]
    for error, facts, x in wrong:
        with refused(error, *facts):
            getattr(ops, operation)(x)


def test_bad_input_is_refused():
    x = on_gpu(numbers((4, 6)))
    wrong = [
        (TypeError, ["int16"], lambda: ops.sum(on_gpu(np.ones(5, "int16")))),
        (ValueError, ["axis", 2], lambda: ops.sum(x, 2)),
        (ValueError, ["axis", -3, 2], lambda: ops.max(x, -3)),
        (ValueError, ["axis", (0, -2)], lambda: ops.sum(x, (0, -2))),
        (TypeError, ["axis", 1.0], lambda: ops.sum(x, 1.0)),
        (TypeError, ["argmax", "axis", (0, 1)], lambda: ops.argmax(x, (0, 1))),
        (TypeError, ["softmax", "int32"], lambda: ops.softmax(on_gpu(np.ones(5, "int32")))),
    ]
    for error, facts, call in wrong:
        with refused(error, *facts):
            call()


def test_streams():
    stream, x = cuda.Stream(), numbers(300_000)
    results = [ops.sum(on_gpu(x), stream=s) for s in (stream, None, stream)]
    stream.synchronize()
    cuda.Context.synchronize()
    assert len({result.get().tobytes() for result in results}) == 1


@pytest.mark.gpu
@pytest.mark.skipif(autoinit.is_software, reason="4 GB")
def test_more_than_2_to_the_31_elements():
    from pycuda import driver, gpuarray

    x = gpuarray.empty(2**31 + 7, np.float16)  # PyCUDA's zeros cannot do halves
    driver.memset_d8(x.gpudata, 0, x.nbytes)
    x[-3:].set(np.array([1.5, 2, 0.25], np.float16))
    for view, axis in (x, None), (x.reshape(1, -1), 1):
        assert ops.sum(view, axis).get() == 3.75
        assert ops.argmax(view, axis).get() == 2**31 + 5
    rows = x[: 2**31].reshape(2**26, 32)
    assert ops.sum(ops.sum(rows, 1)).get() == 0 == ops.sum(ops.sum(rows, 0)).get()


@pytest.fixture
def bench_drawn(monkeypatch):
    """bench/bench_drawn.py"""
    monkeypatch.syspath_prepend(Path(__file__).resolve().parents[2] / "bench")
    return importlib.import_module("bench_drawn")


@pytest.mark.parametrize("place", range(18))
def test_shapes_as_the_benchmark_draws_them(bench_drawn, place):
    *_, draw = bench_drawn.drawn(seed=46, number=place + 1, most=1 << 15)
    values = np.random.default_rng(place).standard_normal(1 << 16).astype(draw.dtype)
    host = bench_drawn.operands(draw, values)
    result = bench_drawn.ours(draw, bench_drawn.on_gpu(host))()
    bench_drawn.checked(draw, host, result, str(draw))


@pytest.fixture
def bench_layers(monkeypatch):
    """bench/bench_layers.py, for draws that the software GPU makes in a second or two"""
    monkeypatch.syspath_prepend(Path(__file__).resolve().parents[2] / "bench")
    module = importlib.import_module("bench_layers")
    monkeypatch.setattr(module, "MOST", 1 << 15)
    monkeypatch.setattr(module, "WORK", dict.fromkeys(module.WORK, (0, 1 << 19)))
    return module


KINDS_THAT_MULTIPLY = 9


@pytest.mark.parametrize("place", range(KINDS_THAT_MULTIPLY))
def test_layers_as_the_benchmark_draws_them(bench_layers, place):
    assert len(bench_layers.KINDS) == KINDS_THAT_MULTIPLY
    shares = [
        check("ours", runs["ours"]())
        for *_, runs, check in bench_layers.cases(7, 3, None, [bench_layers.KINDS[place]])
    ]
    assert len(shares) == 3 and 0 < max(shares) <= 1


def test_a_pool_keeps_no_more_of_long_results_than_it_may(monkeypatch):
    room, x = workspace(None), on_gpu(np.zeros(LONG, np.float32))
    room.memory.free_held()
    before = room.memory.managed_bytes
    monkeypatch.setattr(room, "most_kept", x.nbytes)
    results = [ops.add(x, 1) for _ in range(3)]
    del results
    kept = room.memory.managed_bytes - before
    assert kept >= 3 * x.nbytes
    result = ops.add(x, 1)  # three that nobody uses are too many: they go back to the driver first
    assert room.memory.managed_bytes - before == kept / 3
    del result
    ops.add(x, 1)
    assert room.memory.managed_bytes - before == kept / 3  # and one is used again


def test_without_a_pool_results_come_from_the_driver(monkeypatch):
    monkeypatch.setattr(launch, "POOL_MB", "0")
    room = launch.Workspace(None, launch.cuda.Context.get_current())
    assert launch.Form((LONG,), np.float32).new(None, room).gpudata
    assert launch.Form((1,), np.float32).new(None, room).gpudata
    assert not room.memory.managed_bytes
