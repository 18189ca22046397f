"""The grid: its table is recorded, the tail is named, and the guard can be taken out."""

from helpers import play
from helpers.play.pictures import grid
from helpers.play.tables import recorded
from softgpu.tests.facts import numbers


def test_the_recorded_counts_are_those_of_today():
    assert recorded("grid") == grid.table()


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
