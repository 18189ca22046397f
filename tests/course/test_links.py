"""What is predicted of links, beside what was measured."""

import re
from dataclasses import replace

import pytest

from helpers import links
from tests import ROOT

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


BYTES = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}


def test_the_times_beside_nccl_were_recorded():
    page = (ROOT / "docs/peers.md").read_text()
    told = re.findall(
        r"^\| (\d+) ([KMG]?i?B) \| ([\d,.]+) \| ([\d,.]+) \| ([\d.]+) \|$", page, re.M
    )
    assert len(told) == 7
    recorded = {
        (int(row["size"]), row["contender"]): float(row["median_us"])
        for row in links.rows("all_reduce")
    }
    for count, unit, ours, theirs, ratio in told:
        times = [recorded[int(count) * BYTES[unit], who] for who in ("ours", "NCCL")]
        assert [ours, theirs] == [f"{us:,.{0 if us >= 100 else 1}f}" for us in times]
        assert ratio == f"{times[0] / times[1]:.2f}"


def test_what_two_gpus_do_in_less_time_was_recorded():
    page = " ".join((ROOT / "docs/peers.md").read_text().split())
    for case in "split sum 2147483648 float32", "split product 16384 float16":
        both, one = (
            float(row["median_us"])
            for who in ("ours", "one GPU")
            for row in links.rows("split")
            if (row["case"], row["contender"]) == (case, who)
        )
        assert (
            f"{both:,.0f}" in page and f"{one:,.0f}" in page and f"{one / both:.2f} times" in page
        )
