"""Times: measured on a GPU, recorded without one, never a software GPU's."""

import math
import os
from dataclasses import replace

import numpy as np
import pytest

from helpers import autoinit, bench, plots, sources
from softgpu.sass import find_nvdisasm
from softgpu.tests.facts import missing, refused, warned

from .timings import CEILING, H200

ADD = bench.Timing("add", 1 << 24, 12 << 24, 50.0, 49.0, 52.0, 30, *H200)

software = pytest.mark.skipif(not autoinit.is_software, reason="about the software GPU")
gpu = pytest.mark.skipif(
    autoinit.is_software or "PYTEST_XDIST_WORKER" in os.environ,
    reason="times a real GPU, which no other test may use meanwhile: run without -n",
)


@pytest.fixture
def recorded(tmp_path, monkeypatch):
    """A folder of records with one file."""
    monkeypatch.setattr(bench, "RECORDED", tmp_path)
    bench.save(tmp_path / "some.csv", [CEILING, ADD])
    return tmp_path


@pytest.fixture
def pretended_gpu(monkeypatch):
    """The way that times take on a GPU, on whatever GPU there is, with little to evict."""
    monkeypatch.setattr(bench.autoinit, "is_software", False)
    monkeypatch.setattr(bench.autoinit, "name", "Pretended GPU")
    monkeypatch.setattr(bench, "evict", lambda: bench.read(1 << 16))
    monkeypatch.setattr(bench, "CEILING_BYTES", 1 << 16)
    for function in (bench.circumstances, bench.measured_ceiling, bench.zeros):
        function.cache_clear()
    yield
    for function in (bench.circumstances, bench.measured_ceiling, bench.zeros):
        function.cache_clear()


def test_bandwidth_is_bytes_by_time():
    assert bench.Timing("x", 1, 4_000_000, median_us=2.0).gb_per_s == 2000


def test_record_is_read_as_written(recorded):
    assert bench.load(recorded / "some.csv") == {
        ("ceiling (copy)", 1 << 30): CEILING,
        ("add", 1 << 24): ADD,
    }


@software
def test_software_gpu_has_no_time():
    runs = []
    with warned(UserWarning, "NaN"):
        assert math.isnan(bench.time_us(lambda: runs.append(1)))
    assert len(runs) == 1


@software
def test_record_is_shown_and_labelled(recorded):
    runs = []
    timings = bench.Timings("some")
    assert timings.measure("add", 1 << 24, lambda: runs.append(1), 12 << 24) == ADD
    assert len(runs) == 1
    assert timings.ceiling == CEILING
    assert timings.source.endswith("NVIDIA H200, 2026-11-20")
    for text in (repr(timings), timings._repr_html_()):
        assert timings.source in text
        assert "Software" not in text
        assert "50" in text and "93.8%" in text  # 12 * 2^24 bytes in 50 µs, of 2^30 in 250


@software
@pytest.mark.parametrize("name", ["some", "nothing"])
def test_missing_record_is_said(recorded, name):
    timings = bench.Timings(name)
    point = timings.measure("add", 3, lambda: None, 36)
    assert not point.is_known and math.isnan(point.gb_per_s)
    assert repr(point).startswith("add, 3: ") and not missing(repr(timings), "add")
    assert "µs" not in repr(point) and timings.source == repr(timings).splitlines()[0]
    assert not missing(timings.source, "GPU", f"{name}.csv")


@software
def test_nothing_asked_for_is_no_missing_record(recorded):
    assert bench.Timings("some").source.endswith("NVIDIA H200, 2026-11-20")
    source = bench.Timings("some", limit="read").source
    assert not missing(source, "some.csv", "ceiling (copy), add")


@software
def test_no_share_of_an_unknown_ceiling(recorded):
    timings = bench.Timings("some", limit="read")
    timings.measure("add", 1 << 24, lambda: None, 12 << 24)
    assert "ceiling (read)" in repr(timings) and "nan" not in repr(timings)
    assert "nan" not in plots.bandwidth(timings).alt


def test_unknown_limit_is_refused():
    with refused(ValueError, "'write'", "copy, read"):
        bench.Timings("some", limit="write")


@software
def test_sweep_runs_small_sizes_and_looks_up_all(recorded):
    runs = []

    def prepare(size):
        return lambda: runs.append(size)

    timings = bench.Timings("some")
    sizes = [bench.SOFTWARE_SIZE, 1 << 24, 100]
    points = timings.sweep("add", sizes, prepare, bytes_each=12)
    assert runs == [bench.SOFTWARE_SIZE, 100]
    assert [point.size for point in points] == sorted(sizes)
    assert points[-1] == ADD
    assert points[0].bytes_moved == 1200


@software
def test_failing_launch_is_not_hidden(recorded):
    def fail():
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        bench.Timings("some").measure("add", 1 << 24, fail, 12)


def test_measuring_leaves_a_record(pretended_gpu, tmp_path, monkeypatch):
    monkeypatch.setattr(bench, "RECORDED", tmp_path)
    monkeypatch.setattr(bench, "COMMIT", "abcdef")
    timings = bench.Timings("new", limit="read")
    empty = sources.kernel("first/empty.cu")
    timings.measure("empty", 1, lambda: empty(grid=(1, 1), block=(1, 1, 1)), 0)
    assert timings.source.endswith("Pretended GPU")
    (ceiling, point) = bench.load(tmp_path / "new.csv").values()
    assert (ceiling.step, point.step) == ("ceiling (read)", "empty")
    for timing in (ceiling, point):
        assert 0 < timing.low_us <= timing.median_us <= timing.high_us
        assert timing.launches >= bench.LEAST_LAUNCHES
        assert timing.commit == "abcdef" and timing.device == "Pretended GPU"


def test_nothing_is_written_unless_recording(pretended_gpu, tmp_path, monkeypatch):
    monkeypatch.setattr(bench, "RECORDED", tmp_path)
    monkeypatch.setattr(bench, "COMMIT", None)
    bench.Timings("new").measure("nothing", 1, lambda: None, 0)
    assert not list(tmp_path.iterdir())


def test_host_is_not_in_the_time(pretended_gpu):
    """The wait is as long as the host needs, so a slow host does not show in a launch's time."""
    waits = []

    def kernel(name):
        assert name in ("bench/wait.cu", "bench/read.cu")
        return lambda *args, **_: waits.append(args[0]) if name == "bench/wait.cu" else None

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bench.sources, "kernel", kernel)
        bench.samples_us(lambda: np.linalg.norm(np.ones(100_000)))
    warm_up, timed = waits[: bench.WARM_UP], waits[bench.WARM_UP :]
    assert set(warm_up) == {0}
    assert len(timed) >= bench.LEAST_LAUNCHES and min(timed) >= 20_000


@gpu
def test_known_duration_is_measured():
    wait = sources.kernel("bench/wait.cu")

    def launch():
        wait(np.uint64(100_000), grid=(1, 1), block=(1, 1, 1))

    assert 99 < bench.time_us(launch) < 115


@gpu
def test_cold_reading_is_slower_than_warm():
    size_bytes = autoinit.device.l2_cache_size // 4 // 16 * 16
    cold, warm = (bench.time_us(lambda: bench.read(size_bytes), cold) for cold in (True, False))
    assert cold > 1.1 * warm


def test_records_of_the_course_are_a_gpu_s():
    for path in bench.RECORDED.glob("[0-9]*.csv"):
        for point in bench.load(path).values():
            assert 0 < point.low_us <= point.median_us <= point.high_us, path.name
            assert point.device.startswith("NVIDIA") and point.driver and point.toolkit, path.name
            assert point.date and point.commit, path.name


def test_peers_are_recorded_with_size_and_bytes():
    for topic, last in ("sum", 1 << 30), ("rowsum", 262144), ("colsum", 64), ("softmax", 262144):
        point = bench.peers(topic)[-1]
        assert point.size == last and point.is_known and point.device
    (point,) = (p for p in bench.peers("softmax") if p.size == 128 and p.step.startswith("PyTorch"))
    assert point.bytes_moved == 2 * 4 * 262144 * 128


def test_peers_of_elementwise_operations_name_their_cases():
    points = {(point.step, point.size): point for point in bench.peers("add")}
    assert points["CuPy, 2^10 float32", 1024].bytes_moved == 3 * 4 * 1024
    elements = 64 * 256 * 112 * 112
    scaled = points["helpers.ops, 1C11 int8 scaled", elements]
    assert scaled.bytes_moved == 2 * elements + 256 and scaled.is_known
    (less,) = (p for p in bench.peers("less") if p.step == "PyTorch, transposed float16")
    assert less.bytes_moved == (2 + 2 + 1) * elements


def test_unknown_topic_is_refused():
    with refused(ValueError, "'mean'", "sum, rowsum, colsum, softmax"):
        bench.peers("mean")


def test_others_are_shown_beside_without_being_recorded():
    timings = bench.Timings("nothing")
    both = timings.beside(peers := bench.peers("sum"))
    assert both.of(peers[0].step) and not timings.points


@software
def test_source_says_whose_times_are_from_elsewhere(recorded, monkeypatch):
    timings = bench.Timings("some")
    timings.measure("add", 1 << 24, lambda: None, 12 << 24)
    same = [replace(ADD, step=step) for step in ("CUB", "CuPy")]
    assert timings.beside(same).source == timings.source
    later = timings.beside([replace(point, date="2027-01-02") for point in same])
    here, others = later.source.split("; ")
    assert here == timings.source and others.endswith("NVIDIA H200, 2027-01-02")
    monkeypatch.setattr(bench.autoinit, "is_software", False)
    here, others = timings.beside(same).source.split("; ")
    assert here.endswith("NVIDIA H200") and others.endswith("NVIDIA H200, 2026-11-20")


@gpu
def test_a_dirty_cache_costs_time():
    size_bytes = 4 << 20
    dirty = bench.time_us(lambda: bench.read(size_bytes), before=bench.evict_by_writing)
    assert dirty > 1.05 * bench.time_us(lambda: bench.read(size_bytes))


@software
@pytest.mark.skipif(not find_nvdisasm(), reason="needs nvdisasm")
def test_a_kernel_of_ones_own_has_predicted_points_beside_recorded_ones(recorded):
    from pycuda import gpuarray

    kernel = sources.kernel("__global__ void own(float *x) { x[threadIdx.x] = 1; }", "own")
    x = gpuarray.empty(32, np.float32)
    timings = bench.Timings("some")
    timings.measure("add", 1 << 24, lambda: None, 12 << 24)
    point = timings.measure("own", 32, lambda: kernel(x, grid=(1, 1), block=(32, 1, 1)), 128)
    assert (x.get() == 1).all() and not point.is_known
    (foreseen,) = timings.predicted("own")
    assert 2 < foreseen.median_us < 5 and foreseen.device == "predicted"
    assert f"{foreseen.median_us:.4g} {bench.PREDICTED}" in repr(timings)
    for picture in (plots.time, plots.bandwidth):
        assert f"own, {bench.PREDICTED}" in picture(timings).alt
