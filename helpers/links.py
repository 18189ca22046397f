"""What an all-reduce takes, predicted from what was measured of a link, beside what it took.

    links.figure()     # predictions for 2, 8 and 64 devices, and the times measured on two

notebooks/recorded/ranks.csv is what `make bench-gpu ARGS="links all_reduce split"` left on two
GPUs. The model is of cuda_src/ranks/packets.cu and push.cu, from which ops.all_reduce chooses."""

from dataclasses import dataclass
from typing import Any

from . import bench, csv_files, plots
from .ops.together import PACKET_BYTES

__all__ = ["Link", "NETWORK", "all_reduce_us", "between_machines_us", "figure", "recorded", "rows"]

SIZES = [1 << e for e in range(10, 31)]  # bytes


@dataclass(frozen=True)
class Link:
    """A device's way to others of its machine, through a switch that keeps up with all of them."""

    gb_per_s: float  # in each direction, as loads reach it in both at once
    hand_over_us: float  # until a value is seen behind a fence
    start_us: float  # a call whose array has next to no bytes: the launch, and one way
    memory_gb_per_s: float  # loads within a device


@dataclass(frozen=True)
class Network:
    """A device's way to its counterparts in other machines."""

    gb_per_s: float
    hand_over_us: float


NETWORK = Network(50, 5)
"""400 Gbit/s for each device, as machines of eight have it: from data sheets, not measured."""


def rows(topic: str) -> list[dict[str, str]]:
    """The recorded rows of a topic, as text."""
    found = csv_files.rows(bench.RECORDED / "ranks.csv")
    return [row for row in found if row["topic"] == topic]


def recorded() -> Link:
    """The Link that was measured. What a call without bytes takes is the shortest all-reduce's."""
    times = {row["case"]: row for row in rows("links")}

    def per_turn(name: str) -> float:
        ((case, row),) = ((c, r) for c, r in times.items() if c.startswith(f"links {name} x"))
        return float(row["median_us"]) / int(case.rpartition("x")[2])

    (load,) = (row for row in times.values() if row["case"].startswith("links load"))
    shortest = min(_of("ours"), key=lambda row: int(row["size"]))
    return Link(
        int(load["size"]) / float(load["median_us"]) / 1e3,
        per_turn("hand over behind a fence"),
        float(shortest["median_us"]),
        float(shortest["read_gb_s"]),
    )


def _of(contender: str) -> list[dict[str, str]]:
    return [row for row in rows("all_reduce") if row["contender"] == contender]


def all_reduce_us(nbytes: float, count: int, link: Link) -> float:
    """What an all-reduce over so many devices of one machine takes, predicted.

    Packets are sent to all others at twice the array's size, and pass memory on both ends. Shares
    are loaded and sums stored, between two meetings; memory is faster than links, and not seen."""
    if nbytes * (count - 1) <= PACKET_BYTES:
        over_link, in_memory = 2 * (count - 1) * nbytes, (2 + 4 * (count - 1)) * nbytes
        waits = 0.0
    else:
        over_link, in_memory = 2 * (count - 1) / count * nbytes, 0.0
        waits = 2 * link.hand_over_us
    speeds = link.gb_per_s * 1e3, link.memory_gb_per_s * 1e3
    return link.start_us + waits + over_link / speeds[0] + in_memory / speeds[1]


def between_machines_us(
    nbytes: float, machines: int, count: int, link: Link, network: Network = NETWORK
) -> float:
    """The same over several machines of `count` devices each: each device adds up a share within
    its machine, then with its counterparts in the others, and gives it to all of its own."""
    over_network = 2 * (machines - 1) / machines * nbytes / count
    beyond = 2 * network.hand_over_us + over_network / network.gb_per_s / 1e3
    pushed = 2 * link.hand_over_us + 2 * (count - 1) / count * nbytes / link.gb_per_s / 1e3
    return link.start_us + pushed + beyond


def figure() -> plots.Picture:
    """A Picture: predictions, dashed, and what two devices took, here and by NCCL."""
    link, device = recorded(), _of("ours")[0]["device"]
    lines = {
        "2, predicted": [all_reduce_us(n, 2, link) for n in SIZES],
        "8, predicted": [all_reduce_us(n, 8, link) for n in SIZES],
        "64 (8 machines), predicted": [between_machines_us(n, 8, 8, link) for n in SIZES],
    }
    dots = {"ours": "2, measured", "NCCL": "2, NCCL measured"}
    points = {
        name: [(int(r["size"]), float(r["median_us"])) for r in _of(who) if int(r["size"]) >= 1024]
        for who, name in dots.items()
    }

    def paint(axes: Any) -> None:
        axes.set(title=f"all-reduce over devices; measured: two {device}", ylabel="µs")
        axes.set_xscale("log", base=2)
        axes.set(xlabel="bytes of each device's array", yscale="log")
        for (name, times), colour in zip(lines.items(), plots.COLOURS):
            axes.plot(SIZES, times, "--", color=colour, label=name)
        for (name, some), marker, colour in zip(points.items(), "o^", plots.COLOURS[::3]):
            axes.plot(*zip(*some), marker, color=colour, label=name, markersize=5)
        axes.yaxis.set_major_formatter("{x:,g}")
        axes.grid(axis="y")
        axes.legend(frameon=False)

    said = [
        f"{name}: "
        + ", ".join(f"{n:,} bytes {us:,.3g} µs" for n, us in zip(SIZES[::5], times[::5]))
        for name, times in lines.items()
    ]
    said += [
        f"{name}: " + ", ".join(f"{n:,} bytes {us:,.3g} µs" for n, us in some)
        for name, some in points.items()
    ]
    return plots.draw(paint, f"Times of an all-reduce, {device}; {'; '.join(said)}.")
