"""The running table: a rung per step, earlier notebooks' from the record."""

import math
import re
from collections import Counter
from dataclasses import replace
from types import SimpleNamespace

import pytest

from helpers import bench, ladder, plots
from softgpu.tests.facts import missing, numbers
from softgpu.xray import figures

from .timings import CEILING, H200

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


def test_only_earlier_notebooks_have_times(ladder_of, monkeypatch):
    monkeypatch.setattr(bench, "COMMIT", "0123456789")
    ladder_of("02_first", 100.0).add("step", REPORT, size=SIZE)
    steps = ladder_of("03_second", math.nan)
    steps.add("step", REPORT, size=SIZE)
    assert steps.source.endswith(f"{H200[0]}, {H200[3]}")


def test_missing_time_is_said(ladder_of):
    steps = ladder_of("02_first", math.nan)
    steps.add("step", REPORT, size=SIZE)
    assert "%" not in steps.picture().alt
    steps.rungs.append(replace(steps.rungs[0], step="other", median_us=100.0, share=0.5))
    assert re.search(r"02 step [^%\d]+; 02 other 50 %", steps.picture().alt)


def test_a_step_that_nobody_has_timed_is_shown_as_predicted(ladder_of):
    steps = ladder_of("02_first", math.nan)
    for size, us in (1 << 16, 10.0), (1 << 20, 20.0):
        point = bench.Timing("step", size, 4 * size, us, device=bench.PREDICTED)
        steps.timings.foreseen["step", size] = point
    steps.add("step", REPORT, size=SIZE)
    (rung,) = steps.rungs
    assert rung.is_predicted and (rung.size, rung.median_us) == (1 << 20, 20.0)
    assert rung.share == pytest.approx(4 * (1 << 20) / 20.0 / 1e3 / CEILING.gb_per_s)
    assert not numbers(steps.source) and f"20 {bench.PREDICTED}" in repr(steps)
    assert not missing(steps.picture().alt, "20 µs", f"2²⁰, {bench.PREDICTED}")


def climb(ladder_of):
    """The ladder of the last of three notebooks, whose steps took 50, 200 and 100 µs."""
    for name, median_us in ("02_first", 50.0), ("03_second", 200.0), ("04_third", 100.0):
        steps = ladder_of(name, median_us)
        steps.add("step", REPORT, size=SIZE)
    return steps


def test_the_score_is_the_share_of_each_rung_shown(ladder_of, monkeypatch):
    monkeypatch.setattr(bench, "COMMIT", "0123456789")
    steps = climb(ladder_of)
    best, own = (f"step {ladder.percent(rung.share)}" for rung in steps.shown)
    assert steps.score.endswith(f": {best}, {own}")
    later = ladder_of("05_fourth", math.nan)
    later.add("step", REPORT, size=SIZE)
    assert re.search(r"step [^%\d]+$", later.score)


def test_best_of_earlier_notebooks_is_shown(ladder_of, monkeypatch):
    monkeypatch.setattr(bench, "COMMIT", "0123456789")
    steps = climb(ladder_of)
    assert [row[0] for row in steps.rows()][1:] == ["02", "04"]
    assert re.findall(r"(\d\d) step", steps.picture().alt) == ["02", "04"]
    assert len(ladder.load(steps.path)) == 3


def test_a_rung_past_the_ceiling_keeps_its_text(ladder_of, monkeypatch):
    steps = ladder_of("02_first", 1.0)
    steps.add("step", REPORT, size=SIZE)
    assert steps.rungs[0].share > 1.02
    monkeypatch.setattr(figures, "Picture", lambda figure, alt, shades: figure.axes[0])
    axes = steps.picture()
    assert axes.texts[0].xy[0] <= axes.get_xlim()[1]  # elsewhere matplotlib leaves it out


def test_picture_has_a_dot_and_its_value_a_rung(ladder_of, monkeypatch):
    monkeypatch.setattr(bench, "COMMIT", "0123456789")
    steps = climb(ladder_of)
    steps.rungs.append(replace(steps.rungs[0], notebook="04_third", size=1000))
    monkeypatch.setattr(figures, "Picture", lambda figure, alt, shades: (figure.axes[0], alt))
    axes, alt = steps.picture()
    *dots, ceiling = axes.lines
    assert [dot.get_xdata()[0] for dot in dots] == [rung.share for rung in steps.shown]
    assert list(ceiling.get_xdata()) == [1, 1]
    said = [re.fullmatch(r"(.*%), (.* µs) \w+ (\S+)", t.get_text()).groups() for t in axes.texts]
    assert said == [
        ("31 %", "50 µs", "2²⁴"), ("16 %", "100 µs", "2²⁴"), ("31 %", "50 µs", "1,000"),
    ]  # fmt: skip
    looks = [(dot.get_marker(), dot.get_color()) for dot in dots]
    assert len(set(looks)) == 2 and looks[1] == looks[2]
    assert re.search(r"02 step 31 %, 50 µs \w+ 2²⁴; 04 step", alt)


@pytest.mark.parametrize("share, text", [(0.00012, "0.012 %"), (0.0354, "3.5 %"), (0.923, "92 %")])
def test_percent(share, text):
    assert ladder.percent(share) == text


def test_overview_is_what_was_recorded_and_what_the_readme_says():
    alt = ladder.overview().alt
    readme = (bench.RECORDED.parents[1] / "README.md").read_text()
    rungs = {rung.step: rung for rung in ladder.load(bench.RECORDED / "ladder.csv")}
    for step in ladder.MILESTONES:
        us, share = plots.digits(rungs[step].median_us), ladder.percent(rungs[step].share)
        assert f"({step}) {us} µs, {share}" in alt and f"{us} µs" in readme


def test_the_whole_course_in_a_figure():
    shown = repr(ladder.course())
    assert re.search(r"02_naive_gpu_reduce: one_thread 0\.00\d+ %, atomic .*, halving \d+ %", shown)
    assert "empty" not in shown and "cold_cache" not in shown and "16_attention" not in shown
    assert "09_elementwise_broadcast: strided " in shown and "11_im2col: elements " in shown
    assert "float16" not in shown and "one_scalar" not in shown  # one case of each notebook
    for rung in ladder.load(bench.RECORDED / "ladder.csv"):  # as their notebooks say
        (row,) = re.findall(rf"{rung.notebook}: ([^;]+)[.;]", shown)
        assert f"{rung.step} {ladder.percent(rung.share)}" in row
