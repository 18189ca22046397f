"""The window: its matrix is what im2col wrote, and it follows the mouse and the keys."""

import numpy as np
import pytest

from helpers import play, windows
from softgpu.tests.facts import missing, numbers


@pytest.fixture(scope="module")
def page():
    return play.window()


def test_the_matrices_are_im2cols(page):
    x = np.arange(1, 31).reshape(5, 6)
    for how, run in page.data["runs"].items():
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


def test_the_window_is_dragged_and_its_column_lights_up(page, opened):
    assert len(page._repr_html_()) < 60_000
    b = opened(page)
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
