"""The tree: who reads too early where a barrier is missing."""

import pytest

from helpers import play
from softgpu.tests.facts import missing, numbers


@pytest.fixture(scope="module")
def page():
    return play.tree()


def stale(run):
    return {level["half"]: sum(read[3] for read in level["reads"]) for level in run["levels"]}


def test_without_a_barrier_other_warps_sums_are_read_too_early(page):
    both, first, loop = page.data["runs"].values()
    assert both["result"] == 128 and not any(stale(both).values()) and not both["finding"]
    assert first["result"] == 96 and stale(first) == stale(both) | {32: 32}
    assert loop["result"] == "?" and stale(loop) == stale(both) | {64: 64}
    assert "race" in first["finding"] and "race" in loop["finding"]
    assert [level["values"][0] for level in both["levels"]] == [1, 2, 4, 8, 16, 32, 64, 128]


def test_what_is_stale_lights_up_when_the_barrier_is_taken_out(page, opened):
    assert len(page._repr_html_()) < 60_000
    b = opened(page)
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
