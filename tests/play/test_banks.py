"""Banks and sectors: the table is what the software GPU counts, and the sliders show it."""

from helpers import play
from helpers.play.pictures import banks
from helpers.play.tables import recorded


def test_the_recorded_counts_are_those_of_today():
    assert recorded("banks") == banks.table()


def test_sliders_show_conflicts_and_sectors(opened):
    page = play.banks()
    assert len(page._repr_html_()) < 60_000
    b = opened(page)
    assert b.text("#wavefronts") == "1 wavefront"
    assert b.text("#count") == "4 sectors: 128 bytes move for 128 that are wanted, 100 %"
    b.press("Tab", 4)
    assert b.js("document.activeElement.name") == "stride"
    b.press("ArrowRight")
    assert b.text("#code") == "lane accesses element lane * 2 + 0, of 4 bytes"
    assert b.text("#wavefronts") == "2 wavefronts, 1 without conflicts"
    assert len(b.all(".cell.bad")) == 32 and len(b.all("[data-sector]")) == 8
    b.press("Tab")
    b.press("ArrowRight", 3)
    assert b.text("#count").startswith("9 sectors") and len(b.all("[data-sector]")) == 9
    b.click("[data-choice='bytes a lane']:nth-of-type(3)")
    assert b.text("#wavefronts") == "8 wavefronts, 4 without conflicts"
    assert b.text("#count").startswith(f"{len(b.all('[data-sector]'))} sectors")


def test_lanes_that_want_one_word_share_it(opened):
    b = opened(play.banks())
    b.press("Tab", 4)
    b.press("Home")
    assert b.text("#wavefronts") == "1 wavefront" and b.text("#count").startswith("1 sector:")
    assert b.all("#banks .cell.on") == ["*"] and b.all(".cell.bad") == []
