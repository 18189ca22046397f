"""What a judged launch would take if it were as large as one that matters.

Judges count small launches. What they counted is multiplied, and the clock asked about that: a
prediction on top of a model. Whether a larger launch has more blocks, or more work for each,
the judge's own launches tell."""

from collections import Counter
from dataclasses import dataclass, replace
from math import ceil, isfinite, prod
from typing import Any

import numpy as np

from softgpu.phrases import Said, joined
from softgpu.xray.clock import SECTOR, Prediction, in_words, memory_us
from softgpu.xray.occupancy import occupancy
from softgpu.xray.report import Report

from ..bench import peer_rows
from ..words import Next, Shown
from .launches import Rate

__all__ = ["ELEMENTS", "Times", "advice", "enlarged", "times"]

ELEMENTS = 1 << 26
BYTES = 4 * ELEMENTS
REGISTER_STEP, FEW_REGISTERS = 8, 64  # of a thread: given out so many at a time; too few for tiles
FEW_SECTORS = 2048  # an array of no more does not grow with its launch: totals, bins


@dataclass(frozen=True)
class Speeds:
    """TFLOP/s of the learner's kernel and of ours, as predicted, and of others, as recorded."""

    yours: float
    ours: float
    others: dict[str, float]

    @property
    def text(self) -> Said:
        others = ", ".join(f"{name} {tflops:.1f}" for name, tflops in self.others.items())
        return Shown.SPEEDS(yours=self.yours, ours=self.ours, others=others)


def speeds(rate: Rate, more: float, *us: float) -> Speeds:
    """Speeds of launches with so many times the operations of a Rate."""
    others = {name: _recorded(case) for name, case in rate.beside.items()}
    yours, ours = (more * rate.operations / t / 1e6 for t in us)
    return Speeds(yours, ours, others)


@dataclass(frozen=True)
class Times:
    """Predictions for a large launch, on an H200: the learner's kernel, ours, and memory alone."""

    size: str
    yours: Prediction
    ours_us: float
    memory_us: float
    speeds: Speeds | None = None  # of what is judged by them
    room: Said | str = ""  # what a multiprocessor has room for

    @property
    def text(self) -> Said:
        if self.speeds:
            at = Shown.SPEEDS_AT(size=self.size, speeds=self.speeds.text)
            return joined(self.yours.text, at, self.room, between="\n")
        us = [in_words(us) for us in (self.yours.us, self.ours_us, self.memory_us)]
        at = Shown.AT_SIZE(size=self.size, yours=us[0], ours=us[1], memory=us[2])
        return joined(self.yours.text, at, between="\n")


def _recorded(case: str) -> float:
    """The TFLOP/s of NVIDIA's library, which PyTorch calls, in a product of make bench-gpu."""
    (row,) = (r for r in peer_rows() if (r["case"], r["contender"]) == (case, "PyTorch"))
    return 2 * float(row["size"]) / float(row["median_us"]) / 1e6


def times(
    n: int | None, yours: Report, ours: Report, blocks_grow: bool, rate: Rate | None = None
) -> Times | None:
    """Times, from the reports of the counted launch; None: there is no prediction.

    n: its elements; None: its size is no such number. rate: the Rate that is asked for."""
    read, written = ours.touched_bytes
    if rate:
        more, what = rate.more, " x ".join(3 * [f"{rate.of_side:,}"])
        yours, ours = (_read_once(r, rate) for r in (yours, ours))
    else:
        more, what = _more(n, read + written)
    mine, best = (enlarged(r, more, blocks_grow).prediction for r in (yours, ours))
    if not (isfinite(mine.us) and isfinite(best.us)):
        return None
    fast = speeds(rate, more, mine.us, best.us) if rate else None
    least = memory_us(more * read, more * written)
    return Times(what, mine, best.us, least, fast, room(yours))


def room(report: Report) -> Said:
    """How many blocks of a launch a multiprocessor holds at once, in words."""
    blocks = report.occupancy.blocks
    blanks = {"registers": report.registers, "threads": prod(report.block)}
    return Shown.ROOM_FOR_ONE(**blanks) if blocks == 1 else Shown.ROOM(**blanks, blocks=blocks)


def advice(report: Report) -> Said | None:
    """How a second block would fit, where only the registers leave room for one, or None."""
    threads, resident = prod(report.block), report.occupancy
    most = report.chip.registers // (2 * threads) // REGISTER_STEP * REGISTER_STEP
    if resident.blocks != 1 or resident.limit != "registers" or most < FEW_REGISTERS:
        return None
    if occupancy(threads, most, report.shared_bytes, report.chip).blocks < 2:
        return None
    return Next.SECOND_BLOCK(most=most, threads=threads)


def _more(n: int | None, touched: int) -> tuple[int, str]:
    """(how many times as much work as in the judge's launch, what that is in words)."""
    if n:
        more = max(ELEMENTS // n, 1)
        return more, f"n = {more * n:,}"
    more = max(BYTES // max(touched, 1), 1)
    return more, f"{more:,} times this size"


def _read_once(report: Report, rate: Rate) -> Report:
    """The report of a part of a product such that of the whole one a and b come from memory once:
    the L2 keeps what neighbouring blocks share."""
    m, n = rate.size[:2]
    caches: Any = report.caches
    reads = caches.dram_reads * 2 * m * n / (m + n) / rate.of_side
    return replace(report, caches=replace(caches, dram_reads=ceil(reads)))


def enlarged(report: Report, more: int, blocks_grow: bool) -> Report:
    """The Report of a launch with so many times the work, in as many more blocks or in each."""
    lines = {p: Counter({k: more * n for k, n in c.items()}) for p, c in report.lines.items()}
    grid = (report.grid[0] * more, *report.grid[1:]) if blocks_grow else report.grid
    machine = report.machine and replace(
        report.machine, runs=[more * runs for runs in report.machine.runs]
    )
    return replace(
        report,
        lines=lines,
        grid=grid,
        arrays=_arrays(report.arrays, more, blocks_grow),
        find_machine=(lambda: machine) if machine else report.find_machine,
        caches=report.caches and _caches(report, more, blocks_grow),
        waves=_waves(report, prod(grid)) if blocks_grow and report.waves else report.waves,
    )


def _arrays(arrays: np.ndarray, more: int, blocks_grow: bool) -> np.ndarray:
    """The arrays, `more` times as large, with atomics at as many more addresses, or as many more at
    each."""
    found = arrays.copy()
    for way in ("read", "written"):
        found[way] = np.where(arrays[way] <= FEW_SECTORS, arrays[way], arrays[way] * more)
    is_kept = arrays["written"] <= FEW_SECTORS if blocks_grow else np.full(len(arrays), True)
    found["turns"] = arrays["turns"] * more
    found["hottest"] = np.where(is_kept, arrays["hottest"] * more, arrays["hottest"])
    found["spread"] = np.where(is_kept, arrays["spread"], arrays["spread"] * more)
    return found


def _caches(report: Report, more: int, blocks_grow: bool) -> Any:
    """All that the caches did; what is written no longer fits into the L2. More blocks are of later
    waves, whose lines are there."""
    caches: Any = report.caches
    late = 1 if blocks_grow else more
    counts = {key: n * more for key, n in vars(caches).items() if key not in ("sample", "by_line")}
    counts |= {key: late * getattr(caches, key) for key in ("l2_late_lines", "bulk_late_lines")}
    counts["by_line"] = {
        line: (*(more * n for n in known), late * on_the_way)
        for line, (*known, on_the_way) in caches.by_line.items()
    }
    written = more * report.touched_bytes[1] - report.chip.l2_bytes
    counts["dram_writes"] = max(counts["dram_writes"], written // SECTOR, 0)
    return replace(caches, **counts)


def _waves(report: Report, blocks: int) -> tuple[float, float]:
    """(the busiest multiprocessor's work over the average, blocks one after the other) of many."""
    multiprocessors = report.chip.multiprocessors
    seats = multiprocessors * max(report.occupancy.blocks, 1)
    share = blocks / multiprocessors
    return ceil(share) / share, max(blocks / seats, 1.0)
