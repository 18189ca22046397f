"""The running table: a rung a step, those of earlier notebooks from the record."""

import math
from collections import Counter
from types import SimpleNamespace

import pytest

from helpers import bench, ladder, plots

from .test_bench import CEILING, H200

REPORT = SimpleNamespace(
    total=Counter(
        {"ld.sectors": 100, "st.sectors": 10, "red.sectors": 1, "lds.conflicts": 7, "barriers": 9}
    ),
    touched_bytes=(3200, 320),
)
SIZE = 1 << 24


@pytest.fixture
def ladder_of(tmp_path, monkeypatch):
    """A function that gives the ladder of a notebook with one step that took so many µs."""
    monkeypatch.setattr(bench, "RECORDED", tmp_path)
    monkeypatch.setattr(bench.autoinit, "is_software", True)

    def make(name, median_us):
        bench.save(tmp_path / f"{name}.csv", [CEILING])
        timings = bench.Timings(name)
        times = median_us, 1.0, 1.0, 30, *H200
        timings.points["step", SIZE] = bench.Timing("step", SIZE, 4 * SIZE, *times)
        return ladder.Ladder(timings)

    return make


def test_rung_has_counts_time_and_share(ladder_of):
    steps = ladder_of("02_first", 100.0)
    steps.add("step", REPORT, size=SIZE)
    (rung,) = steps.rungs
    assert (rung.memory_bytes, rung.sectors, rung.conflicts, rung.barriers) == (3520, 111, 7, 9)
    assert rung.share == pytest.approx(4 * SIZE / 100.0 / 1e3 / CEILING.gb_per_s)
    assert (
        "NVIDIA H200" in steps.source and "100" in repr(steps) and "<table>" in steps._repr_html_()
    )


def test_launches_of_a_step_are_added_up(ladder_of):
    steps = ladder_of("02_first", 100.0)
    steps.add("step", REPORT, REPORT, size=SIZE)
    steps.add("step", REPORT, REPORT, size=SIZE)  # a cell that is run again
    assert [rung.sectors for rung in steps.rungs] == [222]


def test_earlier_notebooks_come_first(ladder_of, monkeypatch):
    monkeypatch.setattr(bench, "COMMIT", "0123456789")
    for name in "03_second", "02_first", "04_third", "03_second":
        steps = ladder_of(name, 100.0)
        steps.add("step", REPORT, size=SIZE)
    assert [rung.notebook for rung in steps.rungs] == ["02_first", "03_second"]
    written = ladder.load(steps.path)
    assert [rung.notebook for rung in written] == ["02_first", "03_second", "04_third"]


def test_nothing_is_written_unless_recording(ladder_of, monkeypatch):
    monkeypatch.setattr(bench, "COMMIT", None)
    steps = ladder_of("02_first", 100.0)
    steps.add("step", REPORT, size=SIZE)
    assert not steps.path.exists()


def test_missing_time_is_said(ladder_of, monkeypatch):
    steps = ladder_of("02_first", math.nan)
    steps.add("step", REPORT, size=SIZE)
    monkeypatch.setattr(plots, "Picture", lambda figure, alt: alt)
    assert "not recorded" in repr(steps) and "step not recorded" in steps.picture()


@pytest.mark.parametrize("share, text", [(0.00012, "0.012 %"), (0.0354, "3.5 %"), (0.923, "92 %")])
def test_percent(share, text):
    assert ladder.percent(share) == text
