"""Every step of the softmax ladder."""

from math import ceil

import numpy as np
import pytest

import helpers.autoinit  # noqa: F401
from helpers import checks, sources, xray

from pycuda import gpuarray  # isort: skip

from .steps_reduce import ACCUMULATORS, numbers
from .steps_softmax import SOFTMAX, softmax

clusters = pytest.mark.skipif("cluster" not in SOFTMAX, reason="needs clusters")
SHAPES = [(1, 1), (3, 31), (5, 32), (7, 33), (2, 255), (9, 256), (4, 257), (3, 1023), (33, 1025)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("step", SOFTMAX)
def test_softmax(step, shape):
    x = 10 * numbers(*shape)
    checks.assert_close(softmax(step, x), checks.softmax(x), checks.softmax_tolerance(x), step)


@pytest.mark.parametrize("step", SOFTMAX)
def test_softmax_of_extremes(step):
    x = numbers(11, 300)
    x[0] += 1000  # exp() of it is infinite
    x[1] -= 1000
    x[2, 7], x[3, 299], x[4, 128] = np.inf, np.nan, -np.inf
    x[5], x[6], x[10] = -np.inf, -np.inf, -np.inf
    x[6, 5], x[10, 9] = 3, np.inf
    x[7, :150] = 3e38
    x[7, 150:] = -3e38
    x[8], x[9] = 0.0, -0.0
    got = softmax(step, x)
    checks.assert_close(got, checks.softmax(x), checks.softmax_tolerance(x), step)
    assert np.isnan(got[[2, 3, 5, 10]]).all() and not np.isnan(got[[0, 1, 4, 6, 7, 8, 9]]).any()


@pytest.mark.parametrize("group", [1, 2, 8, 16, 64, 128])
def test_softmax_in_groups_of_all_sizes(group):
    x = numbers(9, 96)
    got = softmax("registers", x, GROUP=group, PACKS=ceil(24 / group))
    checks.assert_close(got, checks.softmax(x), checks.softmax_tolerance(x))


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("step", ["registers", "trailing", *SOFTMAX[5:]])
def test_rows_that_begin_anywhere(step, dtype):
    for hidden in 301, 1001:
        x = 10 * numbers(9, hidden, dtype=dtype)
        x[1, :3], x[2, -1], x[3, 0], x[4] = -np.inf, np.inf, np.nan, -np.inf
        got = softmax(step, x, PACK=16 // x.itemsize, EDGES=1)
        tolerance = checks.softmax_tolerance(x, accumulator=ACCUMULATORS[dtype])
        checks.assert_close(got, checks.softmax(x), tolerance, step)


def test_edges_of_rows_are_nobody_elses():
    choices = {"T": "half", "PACK": 8, "PACKS": 2, "EDGES": 1}
    run = sources.kernel("softmax/registers.cu", **choices)
    x = gpuarray.to_gpu(numbers(9, 301, dtype="float16"))
    call, shape = (x, gpuarray.empty_like(x), *map(np.int64, x.shape)), {"grid": 3, "block": 128}
    assert not xray.sanitize(run, *call, **shape)
    total = xray.profile(run, *call, **shape).total
    assert total["st.requests"] == 27  # two of packs and one of edges for each row


@clusters
@pytest.mark.parametrize("blocks", [1, 2, 4, 7, 8])
def test_softmax_in_clusters_of_all_sizes(blocks):
    x = numbers(3, 4 * 32 * 8 + 4)
    x[0, :1000] = -np.inf  # all that some blocks see
    x[1, 64:] -= 200
    got = softmax("cluster", x, BLOCKS=blocks, THREADS=32)
    checks.assert_close(got, checks.softmax(x), checks.softmax_tolerance(x))


@clusters
def test_a_row_in_a_cluster_is_read_once_and_nothing_races():
    run = sources.kernel("softmax/cluster.cu", THREADS=64, PACKS=2, BLOCKS=3)
    x = gpuarray.to_gpu(numbers(4, 1480))
    call, shape = (x, gpuarray.empty_like(x), *map(np.int64, x.shape)), {"grid": 12, "block": 64}
    assert not xray.sanitize(run, *call, **shape)
    total = xray.profile(run, *call, **shape).total
    assert total["ld.sectors"] == total["st.sectors"] == x.nbytes // 32


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
