"""The tile: loads and uses are a product's, and pointing shows them."""

import pytest

from helpers import play
from softgpu.tests.facts import missing


@pytest.fixture(scope="module")
def page():
    return play.tile()


def test_each_thread_uses_its_row_and_column_and_loads_one_of_each_a_step(page):
    for side, threads in page.data["runs"].items():
        for number, (loads, uses) in enumerate(threads):
            row, column = divmod(number, 8)
            assert sorted(uses) == sorted(
                [8 * row + i for i in range(8)] + [64 + 8 * i + column for i in range(8)]
            )
            x, y = column % side, row % side
            steps = range(0, 8, side)
            asked = [[8 * row + k + x, 64 + 8 * (k + y) + column] for k in steps]
            assert loads == sum(asked, [])


def test_pointing_shows_who_loads_and_who_uses(page, opened):
    assert len(page._repr_html_()) < 60_000
    b = opened(page)
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
