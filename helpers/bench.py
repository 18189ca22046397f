"""Time kernels, and say what the times are worth.

A time is the median of many launches between two CUDA events, after a warm-up, with a cold cache.
The software GPU has no times: there, Timings gives the points that a real GPU left in
notebooks/recorded, labelled so, and time_us gives NaN."""

import math
import os
import subprocess
import warnings
from copy import copy as shallow_copy
from dataclasses import dataclass
from datetime import date
from functools import lru_cache, partial
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from . import autoinit, csv_files, sources

__all__ = ["Timing", "Timings", "evict", "evict_by_writing", "peers", "samples_us", "time_us"]

ROOT = Path(__file__).resolve().parent.parent
RECORDED = ROOT / "notebooks" / "recorded"
COMMIT = os.environ.get("HELPERS_RECORD")  # set by make record: write down every time measured
WARM_UP, LAUNCHES, LEAST_LAUNCHES = 4, 30, 5
BUDGET_S = 1.0  # of one measurement, as long as that leaves LEAST_LAUNCHES
L2_SIZES = 4  # an evicting read is so many times the L2 cache
CEILING_BYTES = 1 << 30
SOFTWARE_SIZE = 1 << 20  # Timings.sweep runs nothing larger on the software GPU
PREDICTED = "predicted"  # the device of a Timing that nobody has measured


def time_us(launch, cold=True, before=None):
    """Median time of launch() on the GPU, in microseconds; NaN on the software GPU."""
    return float(np.median(samples_us(launch, cold, before)))


def samples_us(launch, cold=True, before=None, budget_s=BUDGET_S):
    """Times of many runs of launch(), in microseconds, for up to so many seconds.

    cold: before each run the L2 cache is filled with something else, by before(): by default
    evict(), which reads. Writing would leave lines that the GPU must write back during the run, and
    the run would pay for it."""
    if autoinit.is_software:
        launch()
        warnings.warn("the software GPU has no times: NaN", stacklevel=3)
        return np.full(1, math.nan)
    import pycuda.driver as cuda

    start, end = cuda.Event(), cuda.Event()
    wait = sources.kernel("bench/wait.cu")

    def sample(wait_us):
        if cold:
            (before or evict)()
        wait(np.uint64(1000 * wait_us), grid=(1, 1), block=(1, 1, 1))
        host_start = perf_counter()
        start.record()
        launch()
        end.record()
        host_us = 1e6 * (perf_counter() - host_start)
        end.synchronize()
        return 1e3 * start.time_till(end), host_us

    # The wait must last until the host has queued everything up to the second event.
    host_us = max([sample(wait_us=0)[1] for _ in range(WARM_UP)][1:])
    wait_us = min(2 * host_us + 20, 2000)
    samples: list[float] = []
    stop = perf_counter() + budget_s
    while len(samples) < LEAST_LAUNCHES or (len(samples) < LAUNCHES and perf_counter() < stop):
        samples.append(sample(wait_us)[0])
    return np.array(samples)


@lru_cache
def zeros(size_bytes):
    """A buffer of zeros on the GPU that is kept."""
    import pycuda.driver as cuda

    buffer = cuda.mem_alloc(size_bytes)
    cuda.memset_d32(buffer, 0, size_bytes // 4)
    return buffer


def read(size_bytes):
    """Read so many bytes of zeros as fast as the GPU can."""
    blocks = 8 * autoinit.device.multiprocessor_count
    sources.kernel("bench/read.cu")(
        zeros(size_bytes), zeros(4), np.int64(size_bytes // 16), grid=(blocks, 1), block=(256, 1, 1)
    )


def copy(size_bytes):
    """Copy half as many bytes, as fast as the driver can: so many are moved."""
    import pycuda.driver as cuda

    buffer, half = zeros(size_bytes), size_bytes // 2
    cuda.memcpy_dtod(int(buffer) + half, buffer, half)


def evict():
    """Fill the L2 cache with clean lines of something else."""
    read(L2_SIZES * autoinit.device.l2_cache_size)


def evict_by_writing():
    """Fill the L2 cache with lines that are still to be written to memory: how not to do it."""
    import pycuda.driver as cuda

    size_bytes = L2_SIZES * autoinit.device.l2_cache_size
    cuda.memset_d32(zeros(size_bytes), 0, size_bytes // 4)


@dataclass(frozen=True)
class Timing:
    """What one launch took, and where and when that was seen. Times are NaN if nobody has yet."""

    step: str
    size: int
    bytes_moved: int
    median_us: float = math.nan
    low_us: float = math.nan  # a quarter of the launches took less
    high_us: float = math.nan  # a quarter took more
    launches: int = 0
    device: str = ""
    driver: str = ""
    toolkit: str = ""
    date: str = ""
    commit: str = ""

    @property
    def gb_per_s(self):
        """Bytes moved per second, in units of 10^9."""
        return self.bytes_moved / self.median_us / 1e3

    @property
    def is_known(self):
        return not math.isnan(self.median_us)

    def __repr__(self):
        if not self.is_known:
            return f"{self.step}, {self.size:,}: not recorded yet"
        return (
            f"{self.step}, {self.size:,}: {self.median_us:.4g} µs"
            f" (middle half of {self.launches} launches: {self.low_us:.4g} to {self.high_us:.4g}),"
            f" {self.gb_per_s:,.0f} GB/s"
        )


def where(point):
    """Where and when a recorded Timing was seen."""
    return f"recorded on {point.device}, {point.date}"


def load(path):
    """The Timings of a recorded file by step and size; {} if there is none."""
    return {(point.step, point.size): point for point in csv_files.load(path, Timing)}


def save(path, points):
    """Write Timings as a CSV file, a row each."""
    csv_files.save(path, Timing, points, ".3f")


def peer_rows():
    """The rows of what make bench-gpu left, as text."""
    return csv_files.rows(RECORDED / "peers.csv")


def peers(topic):
    """Recorded Timings of libraries at a topic of make bench-gpu; step: whose they are.

    "ours" is helpers.ops. Sizes: elements of a vector, columns of a matrix. Where a topic has
    several cases of one size, the step names the case as well."""
    rows = peer_rows()
    topics = dict.fromkeys(row["topic"] for row in rows)
    if topic not in topics:
        raise ValueError(f"no topic {topic!r}; there is {', '.join(topics)}")
    rows = [row for row in rows if row["topic"] == topic]
    cases = {row["case"]: row["size"] for row in rows}
    alike = len(set(cases.values())) < len(cases)
    points = []
    for row in rows:
        name = "helpers.ops" if row["contender"] == "ours" else row["contender"]
        name += f", {row['case'].removeprefix(f'{topic} ')}" if alike else ""
        told: dict[str, Any] = {
            key: row[key] for key in ("device", "driver", "toolkit", "date", "commit")
        }
        told |= {f"{of}_us": float(row[f"{of}_us"] or math.nan) for of in ("median", "low", "high")}
        told["launches"] = int(row["runs"] or 0)
        points.append(Timing(name, int(row["size"]), int(row["bytes_moved"]), **told))
    return points


@lru_cache
def circumstances():
    """Where and when this process measures: the last five fields of a Timing."""
    query = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader", "--id=0"]
    try:
        driver = subprocess.run(query, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        driver = "unknown"
    return {
        "device": autoinit.name,
        "driver": driver,
        "toolkit": str(autoinit.compiler),
        "date": date.today().isoformat(),
        "commit": COMMIT or "",
    }


MOVERS = {"copy": copy, "read": read}


@lru_cache
def measured_ceiling(limit):
    """The Timing of the fastest known way to read, or to copy, on this machine's GPU."""
    size_bytes = CEILING_BYTES
    launch = partial(MOVERS[limit], size_bytes)
    point = measured(f"ceiling ({limit})", size_bytes, launch, size_bytes)
    zeros.cache_clear()  # so large a buffer is not kept
    return point


def measured(step, size, launch, bytes_moved, cold=True, before=None):
    """The Timing of launch() on this machine's GPU."""
    samples = samples_us(launch, cold, before)
    low, median, high = np.percentile(samples, [25, 50, 75])
    times = median, low, high, len(samples)
    return Timing(step, size, bytes_moved, *times, **circumstances())


class Timings:
    """The times of one notebook or experiment: measured on the GPU or, without one, recorded.

    name: the file in notebooks/recorded. limit: what bounds these kernels, "copy" (they read and
    write) or "read" (they write next to nothing). ceiling: a Timing of the fastest that is known
    to go at that limit; no kernel here will move its bytes faster."""

    def __init__(self, name, limit="copy"):
        if limit not in MOVERS:
            raise ValueError(f"no limit {limit!r}; there is {', '.join(MOVERS)}")
        self.path = RECORDED / f"{name}.csv"
        self.points, self.foreseen, self.others = {}, {}, []
        if autoinit.is_software:
            self.recorded = load(self.path)
            ceiling = f"ceiling ({limit})", CEILING_BYTES
            self.ceiling = self.recorded.get(ceiling, Timing(*ceiling, CEILING_BYTES))
        else:
            self.ceiling = measured_ceiling(limit)

    def measure(self, step, size, launch, bytes_moved, cold=True, before=None):
        """The Timing of launch(). On the software GPU it runs once, and the record is looked up;
        for what nobody has recorded, such as a kernel of your own, the time on an H200 is
        predicted, and shown apart."""
        if autoinit.is_software:
            point = self._recall(step, size, bytes_moved)
            if point.is_known:
                launch()
            else:
                self._foresee(step, size, launch, bytes_moved)
            return point
        point = self.points[step, size] = measured(step, size, launch, bytes_moved, cold, before)
        if COMMIT:
            save(self.path, [self.ceiling, *self.points.values()])
        return point

    def sweep(self, step, sizes, prepare, bytes_each, cold=True, before=None):
        """The Timings of prepare(size)() over sizes, for a step that moves bytes_each an element.

        The software GPU runs those up to SOFTWARE_SIZE only; it looks up all of them."""
        for size in sizes:
            if autoinit.is_software and size > SOFTWARE_SIZE:
                self._recall(step, size, round(size * bytes_each))
            else:
                self.measure(step, size, prepare(size), round(size * bytes_each), cold, before)
        return self.of(step)

    def _recall(self, step, size, bytes_moved):
        point = self.recorded.get((step, size), Timing(step, size, bytes_moved))
        self.points[step, size] = point
        return point

    def _foresee(self, step, size, launch, bytes_moved):
        from softgpu.xray.profiler import predicted_us  # which loads softgpu

        point = Timing(step, size, bytes_moved, predicted_us(launch), device=PREDICTED)
        if point.is_known:
            self.foreseen[step, size] = point

    def beside(self, points):
        """A copy of these Timings with others' among them, as for a figure of both."""
        both = shallow_copy(self)
        both.points = self.points | {(point.step, point.size): point for point in points}
        both.others = [*self.others, *points]
        return both

    @property
    def steps(self):
        """The names of the steps so far, in order."""
        return list(dict.fromkeys(step for step, size in self.points))

    def of(self, step):
        """The Timings of one step, smallest size first."""
        if step not in self.steps:
            raise KeyError(f"no step {step!r}; there is {', '.join(self.steps) or 'none yet'}")
        return sorted((p for p in self.points.values() if p.step == step), key=lambda p: p.size)

    def predicted(self, step):
        """The Timings that are predicted of one step, smallest size first."""
        found = (point for (name, _), point in self.foreseen.items() if name == step)
        return sorted(found, key=lambda point: point.size)

    @property
    def source(self):
        """Where the times come from: to be said wherever they are shown."""
        own, others = self._own_source(), [point for point in self.others if point.is_known]
        if not others or own == where(others[0]):
            return own
        return f"{own}; others {where(others[0])}"

    def _own_source(self):
        asked = [point for point in self.points.values() if point not in self.others]
        known = [point for point in asked or [self.ceiling] if point.is_known]
        if known:
            return where(known[0]) if autoinit.is_software else f"measured on {known[0].device}"
        if not self.recorded:
            return f"no times: no GPU here, and no {self.path.name} recorded"
        steps = ", ".join(dict.fromkeys(step for step, size in self.recorded))
        if not asked:
            return f"no times asked for yet; {self.path.name} has {steps}"
        return f"no times: no GPU here, and none of these in {self.path.name}, which has {steps}"

    def rows(self):
        """A table of all steps: name, size, bytes moved, µs, GB/s and share of the ceiling."""
        yield "step", "size", "MB moved", "µs", "GB/s", "of the ceiling"
        for point in [*self.points.values(), self.ceiling]:
            times = "not recorded", "", ""
            if foreseen := self.foreseen.get((point.step, point.size)):
                times = f"{foreseen.median_us:,.4g} predicted", "", ""
            if point.is_known:
                share = point.gb_per_s / self.ceiling.gb_per_s
                share = f"{share:.1%}" if self.ceiling.is_known else ""
                digits = ",.0f" if point.median_us >= 1e4 else ",.4g"
                times = f"{point.median_us:{digits}}", f"{point.gb_per_s:,.4g}", share
            yield point.step, f"{point.size:,}", f"{point.bytes_moved / 1e6:,.4g}", *times

    def __repr__(self):
        return "\n".join([self.source, *map("  ".join, self.rows())])

    def _repr_html_(self):
        return csv_files.table(self.source, self.rows())
