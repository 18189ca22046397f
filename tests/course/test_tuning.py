"""The choice of a kernel and its tile: by estimates, and by what was measured and remembered."""

import json
import os
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from helpers import autoinit, checks, ops  # noqa: F401  (autoinit first)
from helpers.ops import convolution, heads, product, tuning
from softgpu.tests.facts import warned
from tests import ROOT

from pycuda import gpuarray  # isort: skip

WAYS = [SimpleNamespace(name=name, us=us) for name, us in (("a", 3.0), ("b", 2.0), ("c", 90.0))]


@pytest.fixture
def remembering(tmp_path, monkeypatch):
    """A folder of its own, and a GPU that has times: run by hand, in `times` by name of the way."""
    monkeypatch.setenv("SOFTGPU_CACHE", str(tmp_path))
    monkeypatch.setattr(tuning.autoinit, "is_software", False)
    monkeypatch.setattr(tuning, "mode", tuning.FIRST)
    tuning._read.cache_clear()
    times, ran = {"a": 1.0, "b": 5.0, "c": 0.1}, []

    def time_us(launch):
        return times[launch()]

    monkeypatch.setattr(tuning.bench, "time_us", time_us)
    yield SimpleNamespace(times=times, ran=ran, folder=tmp_path / "tuned")
    tuning._read.cache_clear()


def chosen(problem="some 1 2"):
    """What the way that is taken returns: its name."""
    return tuning.quickest(problem.split(), WAYS, lambda way: lambda: way.name)()


def test_the_least_estimate_decides(remembering, monkeypatch):
    for mode in "", tuning.NEVER:
        monkeypatch.setattr(tuning, "mode", mode)
        assert chosen() == "b"
    assert not remembering.folder.exists()


def test_what_was_measured_decides_and_is_remembered(remembering, monkeypatch):
    assert chosen() == "a"  # c is quicker, but its estimate is so far off that it is not measured
    monkeypatch.setattr(tuning, "mode", "")
    tuning._read.cache_clear()
    assert chosen() == "a" and chosen("some 1 3") == "b"
    monkeypatch.setattr(tuning, "mode", tuning.NEVER)
    assert chosen() == "b"
    monkeypatch.setattr(tuning, "mode", tuning.FIRST)
    remembering.times["a"] = 7.0
    assert chosen() == "a"
    monkeypatch.setattr(tuning, "mode", tuning.AGAIN)
    assert chosen() == "b"
    (file,) = remembering.folder.iterdir()
    assert [json.loads(line)["way"] for line in file.read_text().splitlines()] == ["a", "b"]


def test_another_gpus_times_are_kept_apart(remembering, monkeypatch):
    assert chosen() == "a"
    monkeypatch.setattr(tuning, "mode", "")
    path = tuning.file()
    monkeypatch.setattr(tuning, "file", lambda: path.with_name("Another-GPU-7.jsonl"))
    assert chosen() == "b"


@pytest.mark.parametrize(
    "damage", [b"nonsense", b'{"problem": "some 1 2"', b'["way"]', b"\xff\x00"]
)
def test_a_damaged_line_is_ignored_with_a_word(remembering, monkeypatch, damage):
    """Also where a program was stopped while it wrote: the next line is whole."""
    assert chosen("some 7") == "a"
    with tuning.file().open("ab") as file:
        file.write(damage)
    tuning._read.cache_clear()
    with warned(UserWarning, tuning.file(), 1):
        assert chosen() == "a"
    monkeypatch.setattr(tuning, "mode", "")
    tuning._read.cache_clear()
    with warned(UserWarning, tuning.file(), 1):
        assert chosen() == chosen("some 7") == "a"


def test_a_way_that_is_no_longer_there_is_ignored(remembering, monkeypatch):
    tuning.remember("some 1 2", "of old", 1.0)
    monkeypatch.setattr(tuning, "mode", "")
    assert chosen() == "b"


def test_a_folder_that_cannot_be_written_costs_only_the_memory(remembering):
    remembering.folder.write_text("a file, where the folder would be")
    with warned(UserWarning, tuning.file()):
        assert chosen() == "a"


def test_two_processes_write_at_a_time(tmp_path):
    """Neither loses a line, nor mixes it with the other's."""
    script = """
import sys
from helpers import autoinit
from helpers.ops import tuning
for n in range(200):
    tuning.remember(f"{sys.argv[1]} {n}", "way " * 50, 1.0)
print(tuning.file())
"""
    told = os.environ | {"SOFTGPU_CACHE": str(tmp_path), "HELPERS_DEVICE": "software"}
    command = [sys.executable, "-c", script]
    both = [subprocess.Popen([*command, who], env=told, cwd=ROOT, stdout=subprocess.PIPE, text=True)
            for who in "xy"]  # fmt: skip
    (path, _), _ = (process.communicate() for process in both)
    assert [process.returncode for process in both] == [0, 0]
    with open(path.strip()) as file:
        assert len({json.loads(line)["problem"] for line in file}) == 400


def numbers(*shape, dtype="float32"):
    return np.random.default_rng(shape).standard_normal(shape).astype(dtype)


@pytest.fixture
def every_way(monkeypatch):
    """Results by each tile to choose from, by its name."""
    made = {}

    def quickest(problem, ways, prepare):
        tiles = {way.name.rpartition(" / ")[0]: way for way in ways}  # each in most splits
        calls = {way.name: prepare(way) for way in tiles.values()}
        assert len(calls) > 1

        def call(*arguments):
            for name, one in calls.items():
                got = one(*arguments)
                made[name] = (got[0] if isinstance(got, tuple) else got).get()
            return got

        return call

    for module in product, convolution, heads:
        monkeypatch.setattr(module, "quickest", quickest)
        monkeypatch.setattr(module, "prepared", {})
    return made


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_all_ways_of_a_product_are_right(dtype, every_way):
    a, b = numbers(70, 515, dtype=dtype), numbers(515, 68, dtype=dtype)
    ops.matmul(gpuarray.to_gpu(a), gpuarray.to_gpu(b))
    want, size = a.astype("f8") @ b.astype("f8"), np.abs(a.astype("f8")) @ np.abs(b.astype("f8"))
    count = max(515, checks.tensor_roundings(515)) + 12
    for name, got in every_way.items():
        tolerance = checks.dot_tolerance(want, size, count, dtype, "float32")
        checks.assert_close(got, want, tolerance, name)


@pytest.mark.slow
def test_all_ways_of_a_convolution_are_right(every_way):
    """Of floats in two groups: forward, by the input and by the weight."""
    x, weight, dy = numbers(2, 6, 9, 11), numbers(38, 3, 3, 2), numbers(2, 38, 9, 12)
    on, told = [gpuarray.to_gpu(a) for a in (x, weight, dy)], {"padding": 1, "groups": 2}
    for operation, arguments in (
        (ops.conv2d, (on[0], on[1])),
        (ops.conv2d_weight, (on[0], weight.shape, on[2])),
    ):
        every_way.clear()
        got = operation(*arguments, **told).get()
        assert len(every_way) == len(product.TILES)
        for name, other in every_way.items():
            count, largest = (
                2 * 9 * 12,
                np.abs(x).max() * max(np.abs(weight).max(), np.abs(dy).max()),
            )
            tolerance = 2 * checks.gamma(count, "f4") * count * largest
            checks.assert_close(other, got.astype("f8"), tolerance, name)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_all_ways_of_heads_that_share_keys_are_right(dtype, every_way):
    """A tile has the queries of one head, or of all that share keys in turn."""
    for queries, causal in (2, False), (21, "lower_right"):
        every_way.clear()
        q, k, v = (numbers(*size, dtype=dtype)
                   for size in ((2, 4, queries, 64), (2, 1, 150, 64), (2, 1, 151, 64)))  # fmt: skip
        v = v[:, :, :150]
        ops.attention(*map(gpuarray.to_gpu, (q, k, v)), causal=causal)
        hidden = ~np.tri(queries, 150, 150 - queries, bool) & bool(causal)
        want, _, within, _ = checks.attention(q, k, v, None, np.where(hidden, -np.inf, 0), dtype)
        within += checks.roundoff(dtype) * (np.abs(want) + within)
        assert {"turn" in name for name in every_way} == {True, False}
        for name, got in every_way.items():
            checks.assert_close(got, want, within, name)


@pytest.mark.slow
def test_tune_takes_an_operation_and_its_arguments(monkeypatch):
    modes = []
    monkeypatch.setattr(product, "quickest", lambda *given: modes.append(tuning.mode) or
                        tuning.quickest(*given))  # fmt: skip
    a, b = numbers(5, 7), numbers(7, 3)
    on = gpuarray.to_gpu(a), gpuarray.to_gpu(b)
    before = ops.matmul(*on).get()
    got = ops.tune(ops.matmul, *on, stream=None).get()
    checks.assert_equal(got, before)
    assert modes[-1] == tuning.AGAIN and tuning.mode != tuning.AGAIN
