"""The grid: its table is recorded, the tail is named, and the guard can be taken out."""

from helpers import play
from helpers.play.pictures import grid
from helpers.play.tables import recorded


def test_the_recorded_counts_are_those_of_today():
    assert recorded("grid") == grid.table()


def test_the_tail_writes_outside_once_the_guard_is_gone(opened):
    page = play.grid()
    assert len(page._repr_html_()) < 60_000
    b = opened(page)
    assert b.text("#said").startswith("10 threads of 12 store; the other 2 of the last block have")
    assert len(b.all("#threads .bar")) == 3 and len(b.all("#array .cell")) == 10
    b.hover("#threads [data-i='11']")
    assert "2 * 4 + 3 = 11; 11 < 10 is false: nothing to do" in b.text("#code")
    b.click("[data-choice=guard]:nth-of-type(2)")
    assert b.text("#said").startswith("12 threads of 12 store; 8 bytes outside the array")
    assert b.all("#array .bad") == ["10", "11"]
    b.click("[data-choice='block size']:nth-of-type(4)")
    assert b.text("#said").startswith("32 threads of 32 store; 88 bytes outside")
    b.hover("#array [data-i='31']")
    assert "there is no x[31]" in b.text("#code")
    b.js("document.querySelector('input').focus()")
    b.press("ArrowRight")
    assert len(b.all("#array .cell:not(.bad)")) == 11
