"""Loads in flight: the table is what the software GPU predicts, and controls show it."""

import pytest

from helpers import play
from helpers.play.pictures import flight
from helpers.play.tables import recorded
from softgpu.tests.facts import missing, numbers


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
