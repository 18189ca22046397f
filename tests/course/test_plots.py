"""Figures show what they are given, name where it comes from, and can be read on any background."""

import io
import math
import re
from dataclasses import replace

import matplotlib.image
import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from helpers import bench, plots, sources, windows
from softgpu.tests.facts import contrast, missing, numbers, refused
from tests import ROOT

from .timings import CEILING, H200

BACKGROUNDS = "#ffffff", "#111111"  # JupyterLab's light and dark


@pytest.fixture
def timings(tmp_path, monkeypatch):
    """Two steps at three sizes, as recorded on an H200."""
    monkeypatch.setattr(bench, "RECORDED", tmp_path)
    monkeypatch.setattr(bench.autoinit, "is_software", True)
    bench.save(tmp_path / "some.csv", [CEILING])
    timings = bench.Timings("some")
    for step, slowness in ("add", 1.0), ("slow", 100.0):
        for size in (1 << 10, 1 << 17, 1 << 24):
            times = 3 + slowness * size / 3e5, 1.0, 1.0
            timings.points[step, size] = bench.Timing(step, size, 12 * size, *times, 30, *H200)
    return timings


@pytest.mark.parametrize("background", BACKGROUNDS)
def test_colours_stand_out(background):
    assert contrast(plots.INK, background) > 4
    for colour in (*plots.COLOURS, *sources.COLOURS.values()):
        assert contrast(colour, background) > 3


def test_figures_can_be_read_in_both_themes_of_jupyterlab():
    script = (ROOT / "helpers/labextension/static/kernel_cells.js").read_text()
    found = re.findall(r"filter: brightness\(([\d.]+)\)", script)
    for background, brightness in zip(BACKGROUNDS, map(float, found), strict=True):
        for colour in (plots.INK, *plots.COLOURS):
            seen = [min(brightness * part, 1) for part in to_rgb(colour)]
            assert contrast(seen, background) > 4.5
    drawn = plots.draw(lambda axes: None, "")._repr_html_()
    photograph = plots.draw(lambda axes: None, "", shades=True)._repr_html_()
    assert '<img class="drawn" ' in drawn and "drawn" not in photograph and "img.drawn" in script


def test_picture_is_transparent_and_described(timings, tmp_path):
    picture = plots.time(timings)
    pixels = matplotlib.image.imread(io.BytesIO(picture.png))
    assert pixels[0, 0, 3] == 0 and pixels[..., 3].max() > 0.99  # to one step of 255
    assert pixels.shape[1] == pytest.approx(2 * picture.width, abs=1)
    html = picture._repr_html_()
    assert re.search(r'<img [^>]*alt="[^"]{40,}"', html) and html.count("<") == 1
    assert repr(picture) == picture.alt
    assert picture._repr_png_() == (picture.png, {"width": picture.width})
    picture.save(tmp_path / "picture.png")
    assert (tmp_path / "picture.png").read_bytes() == picture.png


def test_alternative_text_is_escaped():
    picture = plots.draw(lambda axes: None, 'a "b" < c')
    assert 'alt="a &quot;b&quot; &lt; c"' in picture._repr_html_()


def test_time_is_drawn_over_its_floor(timings, axes_of):
    axes, alt = axes_of(plots.time, timings)
    add, slow, floor = axes.lines
    assert list(add.get_xdata()) == [1 << 10, 1 << 17, 1 << 24]
    assert list(slow.get_ydata()) == [p.median_us for p in timings.of("slow")]
    # 12 * 2^24 bytes at the ceiling's 2^30 bytes in 250 µs
    assert floor.get_ydata()[-1] == pytest.approx(12 * (1 << 24) / (1 << 30) * 250)
    assert floor.get_linestyle() == "--"
    assert axes.get_ylabel() == "µs" and axes.get_xlabel() == "elements"
    assert axes.get_title(loc="left").endswith("NVIDIA H200, 2026-11-20")
    facts = "NVIDIA H200, 2026-11-20: add 3 µs", "1,024", "58.9 µs", "16,777,216;"
    assert not missing(alt, *facts)


def test_bandwidth_is_drawn_under_the_ceiling(timings, axes_of):
    axes, alt = axes_of(plots.bandwidth, timings, "add")
    add, ceiling = axes.lines
    assert list(add.get_ydata()) == [p.gb_per_s for p in timings.of("add")]
    assert set(ceiling.get_ydata()) == {CEILING.gb_per_s}
    assert axes.get_ylabel() == "GB/s" and axes.get_ylim()[0] == 0
    assert "slow" not in alt


def test_names_of_lines_do_not_overlap(timings, axes_of):
    for step in ("b", "c", "d"):
        for size in (1 << 10, 1 << 24):
            timings.points[step, size] = bench.Timing(step, size, 1, 60.0, 1, 1, 30, *H200)
    axes, _ = axes_of(plots.time, timings)
    heights = sorted(text.get_position()[1] for text in axes.texts)
    assert len(heights) == 6
    assert min(b - a for a, b in zip(heights, heights[1:])) > 0.08


def test_labels_of_sizes_do_not_touch():
    sizes = [2**k for k in range(5, 20, 2)]
    figure = Figure(figsize=(6.2, 3.1), dpi=96)
    axes = figure.add_subplot()
    axes.set_xscale("log", base=2)
    axes.set_xticks(sizes, plots.apart(sizes), fontsize=11)
    axes.set_xlim(2**4.3, 2**19.7)
    figure.draw_without_rendering()
    shown = [label for label in axes.get_xticklabels() if label.get_text()]
    boxes = [label.get_window_extent() for label in shown]
    assert all(left.x1 + 4 < right.x0 for left, right in zip(boxes, boxes[1:]))
    assert len(shown) >= 6 and shown[-1].get_text() == "524,288"


@pytest.mark.parametrize("plot", [plots.time, plots.bandwidth])
def test_missing_times_leave_a_figure_that_says_so(plot, timings, axes_of):
    others = bench.Timings("some")  # of which the ceiling alone is recorded
    others.measure("add", 1000, lambda: None, 12000)
    for of in others, bench.Timings("nothing"):
        axes, alt = axes_of(plot, of)
        assert not axes.lines and not axes.axison and not axes.get_title(loc="left")
        (text,) = (line.get_text() for line in axes.texts)
        assert text in alt and not numbers(text) and ("GPU" in text) == (of is others)


def test_title_tells_what_was_recorded_elsewhere(timings, axes_of, monkeypatch):
    timings.points["add", 1 << 24] = replace(timings.points["add", 1 << 24], device="Here")
    others = [replace(point, step="library") for point in timings.of("slow")]
    both = timings.beside(others)
    monkeypatch.setattr(bench.autoinit, "is_software", False)
    axes, _ = axes_of(plots.time, both, "add", "library")
    title = axes.get_title(loc="left").replace("\n", " ")
    here, others = title.split("; ")
    assert missing(here, "2026-11-20") and others.endswith("NVIDIA H200, 2026-11-20")


def test_unknown_step_is_refused(timings):
    with refused(KeyError, "'ad'", "add, slow"):
        plots.time(timings, "ad")


@pytest.mark.parametrize(
    "elements, block, blocks, idle, missed", [(12, 4, 3, 0, 0), (10, 4, 3, 2, 0), (10, 4, 2, 0, 2)]
)
def test_grid_shows_each_thread_and_element(elements, block, blocks, idle, missed, axes_of):
    axes, alt = axes_of(plots.grid, elements, block, blocks)
    squares = [patch for patch in axes.patches if isinstance(patch, Rectangle)]
    assert len(squares) == block * blocks + elements + idle
    assert sum(square.get_hatch() is not None for square in squares) == idle
    assert re.search(rf"\b{idle} [^,;]*, {missed} ", alt)
    shown = [text.get_text() for text in axes.texts]
    assert ("outside the array" in shown) == (idle > 0)
    assert ("no thread comes here" in shown) == (missed > 0)


def test_tree_draws_each_addition(axes_of):
    halves = [{t: (t, t + half) for t in range(half)} for half in (4, 2, 1)]
    axes, alt = axes_of(plots.tree, 8, halves, who="addition")
    squares = [patch for patch in axes.patches if isinstance(patch, Rectangle)]
    arrows = [text for text in axes.texts if getattr(text, "arrow_patch", None)]
    assert len(squares) == 8 + 7 and len(arrows) == 2 * 7
    added = re.findall(r"addition (\d) \w+ (\d) \w+ (\d)", alt)
    assert len(added) == 7 and ("3", "7", "3") in added


def test_owners_are_named_and_what_is_nobodys_is_hatched(axes_of):
    axes, alt = axes_of(plots.owners, [[0, 1, 0, 1], [0, 0, -1]], ["strided", "packed"])
    squares = [p for p in axes.patches if isinstance(p, Rectangle)]
    assert len(squares) == 7 and sum(bool(p.get_hatch()) for p in squares) == 1
    assert "strided: 0 1 0 1; packed: 0 0 -1" in alt


def test_places_of_a_window_stand_apart_under_their_heads(axes_of):
    axes, alt = axes_of(plots.owners, [[0, None, 1]], ["pixel 0"], heads="abc", group=2)
    assert [text.get_text() for text in axes.texts[:3]] == ["a", "b", "c"]
    assert [p.get_x() for p in axes.patches] == [0, 2.6] and "pixel 0: 0 · 1" in alt


def test_a_descriptor_means_the_same_chunks_of_all_lines(axes_of):
    axes, alt = axes_of(plots.descriptor, shown=9, step=2)
    blue = [p for p in axes.patches if p.get_edgecolor() == axes.patches[0].get_edgecolor()]
    assert len(blue) == 1 + 9 * 2  # the field of where it begins, and two chunks of each line
    assert "line 1: 1 0 3 2 5 4 7 6" in alt and re.search(r" 4 \w+ 5\b", alt)


def test_with_two_pairs_of_tiles_a_block_fetches_while_it_multiplies(axes_of):
    axes, alt = axes_of(plots.double_buffer, turns=2)
    said = [text.get_text() for text in axes.texts]
    starts = [p.get_x() for p in axes.patches]
    bars = list(zip(said, starts))
    once, twice = (dict(part) for part in (bars[:6], bars[6:12]))
    assert once["fetch 1"] > once["multiply 0"] and twice["fetch 1"] == twice["multiply 0"]
    assert len(axes.lines) == 4 + 2


def test_of_two_groups_one_multiplies_while_the_other_computes_powers(axes_of):
    axes, alt = axes_of(plots.turns, tiles=3, head=64)
    rows = {}
    for bar in sorted(axes.patches, key=lambda bar: bar.get_x()):
        rows.setdefault(bar.get_y(), []).append((bar.get_x(), bar.get_x() + bar.get_width()))
    gaps = [[b - a for (_, a), (b, _) in zip(row, row[1:])] for _, row in sorted(rows.items())]
    alone, _, of_two, powers = gaps  # products and powers of one group, then of two
    assert all(gap >= 0 for row in gaps for gap in row), "one unit does one thing at a time"
    assert sum(alone) > 2 * (sum(of_two) - of_two[-1]) and not any(powers)
    assert not missing(alt, "60 %", "86 %")


def test_who_counts_last_adds_up_and_the_counter_goes_back(axes_of):
    axes, alt = axes_of(plots.last_block, sums=(3, 1, 2))
    bars = [(p.get_x(), p.get_width()) for p in axes.patches]
    bars = dict(zip((text.get_text() for text in axes.texts), bars))
    (last, long), (start, _) = bars["count: 2"], bars["add up totals"]
    assert last + long < start and bars["count: 0"][0] < bars["count: 1"][0] < last
    assert bars["2"][0] + bars["2"][1] == pytest.approx(last + long)
    assert re.findall(r"(\d) \w+ (\d)", alt)[-3:] == [("1", "0"), ("2", "1"), ("0", "2")]


@pytest.mark.parametrize("pixel, coloured", [(None, 6), (3, 2), (0, 0)])
def test_a_window_shows_which_of_its_elements_lie_on_a_pixel(pixel, coloured, axes_of):
    side = windows.Side(image=5, kernel=3, dilation=2, stride=2, pad=1)
    axes, alt = axes_of(plots.window, side, pixel=pixel)
    squares = [p for p in axes.patches if p.get_width() < 1]
    assert sum(bool(p.get_hatch()) for p in squares) == 2
    assert sum(0 < p.get_facecolor()[3] < 1 for p in squares) == coloured
    assert numbers(alt)[-8:] == [0, -1, 1, 3, 1, 1, 3, 5]


def test_pairs_of_a_softmax_merge_and_the_lower_one_is_scaled(axes_of):
    axes, alt = axes_of(plots.merge, [1, 3, 2], [2, 4])
    assert len(axes.patches) == 3 + 2 + 5 and len({p.get_facecolor() for p in axes.patches}) == 2
    first, _, last = (p.get_height() for p in (axes.patches[0], axes.patches[4], axes.patches[5]))
    assert first == pytest.approx(math.exp(-2)) and last == pytest.approx(math.exp(-3))
    assert "s = 1.50 · exp(3 − 4) + 1.14 = 1.69" in alt


def test_a_thread_of_a_register_tile_has_a_square_for_each_sum(axes_of):
    shape = {"threads": 4, "each": 3, "deep": 2, "thread": (1, 2), "pair": (2, 1)}
    axes, alt = axes_of(plots.register_tile, **shape)
    assert len(axes.patches) == 3 + 3 + 3 + 9 and "12 x 12" in alt
    ends = {tuple(line.get_xydata()[-1]) for line in axes.lines}
    assert ends == {(1 + 4 * 1, 2 + 4 * 2)}  # where a number of each tile meets
    assert sum(patch.get_facecolor()[3] == 1 for patch in axes.patches) == 3


def test_shares_are_dots_under_a_limit_and_nothing_where_none_is_known(axes_of):
    rows = {"row": {"ours": [0.9, 1.02], "theirs": 0.25}, "matrix": {"ours": 1, "theirs": math.nan}}
    axes, alt = axes_of(plots.shares, rows, "recorded somewhere")
    ours, theirs, limit = axes.lines
    assert list(ours.get_xdata()) == [0.9, 1.02, 1] and list(ours.get_ydata()) == [0, 0, 1]
    assert list(theirs.get_xdata()) == [0.25] and set(limit.get_xdata()) == {1}
    assert not missing(alt, "row: ours 90 %", "102 %, theirs 25 %; matrix: ours 100 %.")
    rows["row"]["nobody's"] = rows["matrix"]["nobody's"] = math.nan
    axes, _ = axes_of(plots.shares, rows, "recorded somewhere")
    assert [line.get_label() for line in axes.lines[:-1]] == ["ours", "theirs"]
    axes, _ = axes_of(plots.shares, {n: {"us": 1} for n in ("a 1", "a 2", "b 1")}, "", "", True)
    assert list(axes.get_yticks()) == [0, 1, 3]
    unknown = plots.shares({"row": {"ours": math.nan}}, "no times")
    assert not numbers(repr(unknown))


def test_pictures_keep_their_shades():
    ramp = np.linspace(0, 1, 64 * 64).reshape(64, 64)
    picture = plots.pictures([ramp, -ramp], ["dawn", "dusk"])
    assert not missing(repr(picture), "dawn; dusk")
    shown = matplotlib.image.imread(io.BytesIO(picture.png))
    assert len(np.unique(shown[shown[..., 3] == 1][:, 0])) > 200
    picture = plots.pictures([ramp, ramp / 4], ["dawn", "night"], [(0, 1), (0, 1)])
    shown = matplotlib.image.imread(io.BytesIO(picture.png))
    night = shown[:, shown.shape[1] // 2 + 40 :]
    assert night[night[..., 3] == 1][:, 0].max() < 0.5  # the title, not white


def test_memories_name_who_sees_them(axes_of):
    axes, alt = axes_of(plots.memories)
    texts = [text.get_text() for text in axes.texts]
    for name in ("multiprocessor 0", "registers", "shared memory", "L2 cache", "global memory"):
        assert any(name in text for text in texts)
    assert texts.count("warp") == 8 and not missing(alt, 132)


def test_who_looks_at_whom_has_a_number_for_each_pair(axes_of):
    axes, alt = axes_of(plots.looks, np.array([[0.25, 0.75], [1.0, 0.0]]), ["a", "b"])
    assert [text.get_text() for text in axes.texts] == ["25", "75", "100", "0"]
    assert re.search(r": a \w+ b \w+; b \w+ a \w+\.", alt)


def test_links_have_a_number_for_each_pair_that_talks(axes_of):
    axes, alt = axes_of(plots.links, [[0, 2000], [500, 0]])
    assert [text.get_text() for text in axes.texts] == ["", "2", "0.5", ""]
    assert numbers(alt) == [0, 1, 2, 1, 0, 0.5]
    axes, alt = axes_of(plots.links, [[0]])
    assert not numbers(alt)


def test_footprints_have_a_line_each_and_say_both_ends(axes_of):
    axes, alt = axes_of(plots.footprints, [2, 4], {"scores": [4e6, 16e6], "values": [2e6, 4e6]})
    assert [list(line.get_ydata()) for line in axes.lines] == [[4, 16], [2, 4]]
    assert numbers(alt)[-8:] == [4, 2, 16, 4, 2, 2, 4, 4]


def test_dots_are_named_over_a_line_that_nothing_gets_below(axes_of):
    axes, alt = axes_of(
        plots.dots, {"halves": (4, 2), "bytes": (2, 1.5)}, "MB", "µs", "foreseen", 0.25
    )
    dots, limit = axes.lines[:2], axes.lines[2]
    assert [(*line.get_xdata(), *line.get_ydata()) for line in dots] == [(4, 2), (2, 1.5)]
    assert {text.get_text() for text in axes.texts} == {"halves", "bytes"}
    assert limit.get_ydata()[1] == 0.25 * limit.get_xdata()[1] and axes.get_ylim()[0] == 0
    assert alt == "µs against MB, foreseen: halves 2 at 4; bytes 1.5 at 2."


def test_names_of_dots_at_one_height_do_not_meet(axes_of, recwarn):
    axes, _ = axes_of(plots.dots, {"8 bits": (16.8, 13.4), "MXFP8": (17.3, 13.4)}, "MB", "µs")
    above, below = (text.xyann[1] for text in axes.texts)
    assert above > 0 > below and not recwarn
