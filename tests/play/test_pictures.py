"""Each picture shows what the software GPU counts or predicts, and answers mouse and keys."""

import numpy as np
import pytest

from helpers import play, windows
from helpers.play.pictures import banks, flight, grid
from helpers.play.tables import recorded
from softgpu.tests.facts import missing, numbers


@pytest.mark.parametrize("picture", [grid, banks], ids=["grid", "banks"])
def test_the_recorded_counts_are_those_of_today(picture):
    assert recorded(picture.__name__.rpartition(".")[2]) == picture.table()


# --- the grid -------------------------------------------------------------------------------------


def test_the_tail_writes_outside_once_the_guard_is_gone(opened):
    page = play.grid()
    assert len(page._repr_html_()) < 60_000
    b = opened(page)
    assert numbers(b.text("#said"))[:3] == [10, 12, 2]
    assert len(b.all("#threads .bar")) == 3 and len(b.all("#array .cell")) == 10
    b.hover("#threads [data-i='11']")
    assert "2 * 4 + 3 = 11; 11 < 10 is false" in b.text("#code")
    b.click("[data-choice=guard]:nth-of-type(2)")
    assert numbers(b.text("#said"))[:3] == [12, 12, 8]
    assert b.all("#array .bad") == ["10", "11"]
    b.click("[data-choice='block size']:nth-of-type(4)")
    assert numbers(b.text("#said"))[:3] == [32, 32, 88]
    b.hover("#array [data-i='31']")
    assert "x[31]" in b.text("#code")
    b.js("document.querySelector('input').focus()")
    b.press("ArrowRight")
    assert len(b.all("#array .cell:not(.bad)")) == 11


# --- the banks ------------------------------------------------------------------------------------


def test_sliders_show_conflicts_and_sectors(opened):
    page = play.banks()
    assert len(page._repr_html_()) < 60_000
    b = opened(page)
    assert numbers(b.text("#wavefronts")) == [1]
    assert numbers(b.text("#count")) == [4, 128, 128, 100]
    b.press("Tab", 4)
    assert b.js("document.activeElement.name") == "stride"
    b.press("ArrowRight")
    assert "lane * 2 + 0" in b.text("#code")
    assert numbers(b.text("#wavefronts")) == [2, 1]
    assert len(b.all(".cell.bad")) == 32 and len(b.all("[data-sector]")) == 8
    b.press("Tab")
    b.press("ArrowRight", 3)
    assert numbers(b.text("#count"))[0] == 9 and len(b.all("[data-sector]")) == 9
    b.click("[data-choice='bytes a lane']:nth-of-type(3)")
    assert numbers(b.text("#wavefronts")) == [8, 4]
    assert numbers(b.text("#count"))[0] == len(b.all("[data-sector]"))


def test_lanes_that_want_one_word_share_it(opened):
    b = opened(play.banks())
    b.press("Tab", 4)
    b.press("Home")
    assert numbers(b.text("#wavefronts")) == [1] == numbers(b.text("#count"))[:1]
    assert b.all("#banks .cell.on") == ["*"] and b.all(".cell.bad") == []


# --- the flight -----------------------------------------------------------------------------------


@pytest.mark.parametrize("setting", [(4, 16, 1), (8, 16, 4)])
def test_the_recorded_speeds_are_those_of_today(setting):
    blocks, size, loads = setting
    table = recorded("flight")
    speed = flight._speed(table["multiprocessors"] * blocks, size, loads)
    # which lines share a set of a cache depends on where the arrays happen to lie
    assert table["speeds"][f"{blocks} {size} {loads}"] == pytest.approx(speed, rel=0.01)


def test_the_recorded_constants_are_the_chips(monkeypatch):
    monkeypatch.setattr(flight, "_speed", lambda *setting: 0)
    table, fresh = recorded("flight"), flight.table()
    assert table["speeds"].keys() == fresh.pop("speeds").keys()
    assert {key: table[key] for key in fresh} == fresh


def test_more_bytes_in_flight_fill_the_way_to_memory(opened):
    page = play.flight()
    assert len(page._repr_html_()) < 60_000
    b = opened(page)
    assert numbers(b.text("#sum")) == [2, 128, 4, 1, 1024]
    assert "20 KB" in b.text("#pipe")
    assert len(b.all("#pipe .read")) == 2 and "362 GB/s" in b.text("#said")
    b.click("[data-choice='bytes per load']:nth-of-type(2)")
    assert not missing(b.text("#said"), "20 %")
    b.click("[data-choice='loads in flight per thread']:nth-of-type(3)")
    assert len(b.all("#pipe .read")) == 26
    assert b.all("circle[r='8']", "dataset.key") == ["2 16 4"]
    b.js("document.querySelector('input').focus()")
    b.press("ArrowRight", 2)
    assert numbers(b.text("#sum"))[0] == 8 and len(b.all("circle")) == 24


# --- the tree -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def tree():
    return play.tree()


def stale(run):
    return {level["half"]: sum(read[3] for read in level["reads"]) for level in run["levels"]}


def test_without_a_barrier_other_warps_sums_are_read_too_early(tree):
    both, first, loop = tree.data["runs"].values()
    assert both["result"] == 128 and not any(stale(both).values()) and not both["finding"]
    assert first["result"] == 96 and stale(first) == stale(both) | {32: 32}
    assert loop["result"] == "?" and stale(loop) == stale(both) | {64: 64}
    assert "race" in first["finding"] and "race" in loop["finding"]
    assert [level["values"][0] for level in both["levels"]] == [1, 2, 4, 8, 16, 32, 64, 128]


def test_what_is_stale_lights_up_when_the_barrier_is_taken_out(tree, opened):
    assert len(tree._repr_html_()) < 60_000
    b = opened(tree)
    b.click("#next")
    b.click("#next")
    assert b.all(".cell.bad") == [] and b.text("#level") == "half = 32" and not b.text("#sum")
    assert len(b.all(".cell.read")) == 32 and len(b.all(".cell.write")) == 32
    b.click("[data-choice=barriers]:nth-of-type(2)")
    assert numbers(b.text("#sum"))[-2:] == [3, 4]
    assert len(b.all(".cell.bad")) == 64 and "s[32 to 63]" in b.text("#stale")
    b.hover("[data-at='5']")
    assert not missing(b.text("#said"), 5, "s[5] = 2", "s[37] = 1")
    assert [e for e in b.all(".hot", "dataset.at")] == ["5", "37"]
    b.press("ArrowRight", 9)
    assert b.text("#result").startswith("out[0] = 96;") and not missing(b.text("#result"), 128)
    b.click("[data-choice=barriers]")
    assert b.text("#result").startswith("out[0] = 128,")


# --- the tile -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def tile():
    return play.tile()


def test_each_thread_uses_its_row_and_column_and_loads_one_of_each_a_step(tile):
    for side, threads in tile.data["runs"].items():
        for number, (loads, uses) in enumerate(threads):
            row, column = divmod(number, 8)
            assert sorted(uses) == sorted(
                [8 * row + i for i in range(8)] + [64 + 8 * i + column for i in range(8)]
            )
            x, y = column % side, row % side
            steps = range(0, 8, side)
            asked = [[8 * row + k + x, 64 + 8 * (k + y) + column] for k in steps]
            assert loads == sum(asked, [])


def test_pointing_shows_who_loads_and_who_uses(tile, opened):
    assert len(tile._repr_html_()) < 60_000
    b = opened(tile)
    assert not missing(b.text("#total"), 256, 1024)
    b.hover("[data-n='155']")
    assert not missing(b.text("#said"), "c[3][3]", "(0, 0)", 4, "a[3][3]")
    assert len(b.all("#a .read")) == 6 and len(b.all("#b .write")) == 2
    b.click("[data-choice='step along k']:nth-of-type(3)")
    b.hover("[data-n='155']")
    assert b.all(".cell.write", "dataset.n") == ["31", "123"]
    b.hover("[data-n='9']")
    assert "a[1][1]" in b.text("#said") and not missing(b.text("#said"), 0)
    b.click("[data-choice='step along k']:nth-of-type(2)")
    b.hover("[data-n='9']")
    assert "a[1][1]" in b.text("#said") and not missing(b.text("#said"), 2)
    assert b.all("#c .write", "dataset.n") == ["137", "141"] and len(b.all("#c .read")) == 6
    b.press("ArrowDown")
    assert b.all(".hot", "dataset.n") == ["17"]
    b.click("[data-choice='side of a tile']:nth-of-type(3)")
    assert not missing(b.text("#total"), 8)


# --- the window -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def window():
    return play.window()


def test_the_matrices_are_im2cols(window):
    x = np.arange(1, 31).reshape(5, 6)
    for how, run in window.data["runs"].items():
        h, w = windows.sides((5, 6), 3, *map(int, how.split()))
        assert run[:2] == [h.places, w.places]
        assert (np.array(run[2]) == windows.im2col(x, h, w).reshape(9, -1)).all()


def test_a_window_that_fits_nowhere_is_said(opened):
    page = play.window(size=(3, 4))
    assert page.data["runs"]["1 0 2"] is None
    b = opened(page)
    b.click("[data-choice=padding]")
    b.click("[data-choice=dilation]:nth-of-type(2)")
    assert b.text("#said") and not numbers(b.text("#said"))
    b.click("[data-choice=padding]:nth-of-type(2)")
    assert "1 × 2" in b.text("#said")


def test_the_window_is_dragged_and_its_column_lights_up(window, opened):
    assert len(window._repr_html_()) < 60_000
    b = opened(window)
    assert b.all("#image .read") == ["0", "0", "0", "0", "1", "2", "0", "7", "8"]
    b.drag("[data-row='0'][data-column='0']", "[data-row='3'][data-column='5']")
    assert b.all("#image .read") == ["17", "18", "0", "23", "24", "0", "29", "30", "0"]
    assert b.all("#matrix .write") == b.all("#image .read")
    assert not missing(b.text("#said"), 23, "(3, 5)", "5 × 6", 6)
    b.hover("[data-row='0'][data-column='0']")
    assert set(b.all("#matrix .hot")) == {"1"} and numbers(b.text("#said"))[-2:] == [1, 4]
    b.press("ArrowLeft", 2)
    assert numbers(b.text("#said"))[0] == 21
    b.click("[data-choice=stride]:nth-of-type(2)")
    b.click("[data-k='4'][data-place='4']")
    assert not missing(b.text("#said"), 4, "(1, 1)", "3 × 3")
