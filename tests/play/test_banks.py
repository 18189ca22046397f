"""Banks and sectors: the table is what the software GPU counts, and the sliders show it."""

from helpers import play
from helpers.play.pictures import banks
from helpers.play.tables import recorded
from softgpu.tests.facts import numbers


def test_the_recorded_counts_are_those_of_today():
    assert recorded("banks") == banks.table()


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
