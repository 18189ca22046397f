"""What is predicted of links, beside what was measured."""

from dataclasses import replace

import pytest

from helpers import links

LINK = links.recorded()
OURS = [
    (int(row["size"]), float(row["median_us"]))
    for row in links.rows("all_reduce")
    if row["contender"] == "ours"
]


@pytest.mark.parametrize("nbytes, measured_us", OURS)
def test_predictions_for_two_are_near_what_was_measured(nbytes, measured_us):
    assert links.all_reduce_us(nbytes, 2, LINK) == pytest.approx(measured_us, rel=0.15)


def test_a_long_array_takes_what_its_bytes_take():
    """2 * (R - 1) / R arrays over each link, whatever else there is."""
    for count in 2, 8:
        over_link_us = 2 * (count - 1) / count * (1 << 34) / LINK.gb_per_s / 1e3
        assert links.all_reduce_us(1 << 34, count, LINK) == pytest.approx(over_link_us, rel=1e-3)
    slow = links.Network(1, 5)
    over_network_us = 2 * 7 / 8 * (1 << 34) / 8 / 1e3
    predicted = links.between_machines_us(1 << 34, 8, 8, replace(LINK, gb_per_s=1e9), slow)
    assert predicted == pytest.approx(over_network_us, rel=1e-3)


def test_a_short_array_takes_no_less_than_a_call():
    for count in 2, 8, 16:
        assert links.all_reduce_us(4, count, LINK) == pytest.approx(LINK.start_us, rel=0.01)


def test_the_figure_says_what_is_predicted_and_of_which_device():
    shown = links.figure().alt
    (device,) = {row["device"] for row in links.rows("all_reduce")}
    assert device in shown
    for name in "2, predicted", "8, predicted", "64 (8 machines), predicted":
        assert f"{name}: 1,024 bytes" in shown
    for name in "2, measured", "2, NCCL measured":
        assert f"{name}: 1,024 bytes" in shown
