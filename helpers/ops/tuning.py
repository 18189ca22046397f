"""Which way a product, a convolution or an attention takes, where there are several: kernels,
tiles of several sizes, and sums in one part or in splits.

Each way has an estimate: so many rounds of blocks, each of so many steps, and the bytes of the
splits that are added up. The least estimate decides, unless this shape was tuned on a GPU of this
kind: then what was measured does. docs/choices.md says more."""

import fcntl
import json
import os
import re
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, ClassVar

from softgpu import settings

from .. import autoinit, bench
from .launch import ceil_divide, cuda, multiprocessors

__all__ = ["MOST_JOINED", "Other", "Tiling", "blocks_us", "quickest", "splits_to_try", "sum_us",
           "tune"]  # fmt: skip

SPLIT_US, SPLIT_BYTES_PER_US = 2.6, 2.5e6  # a launch that adds parts up, and its speed
ALL_SPLITS = 8  # so many, and fewer, are all tried
MOST_JOINED = 8  # splits that a cluster adds
MOST_MEASURED, FAR = 8, 2.5  # ways; times the least estimate
NEVER, FIRST, AGAIN = "0", "1", "again"  # whether to measure: a shape's first time, or each time

caches: list = []  # of prepared calls that were chosen here
mode = os.environ.get("HELPERS_TUNE", "")


@dataclass(frozen=True)
class Tiling:
    """How blocks divide a product: each one's Tile, their number, the splits along k, the estimated
    time, and whether a cluster adds the splits."""

    tile: Any
    tiles: int
    splits: int
    us: float
    joined: bool = False

    BY = ""  # whom, if its name has to say
    ways: ClassVar[Any]  # a method that returns all tilings

    @property
    def name(self):
        """Return what is remembered of it."""
        size = f"{self.tile.rows} x {self.tile.columns}"
        return f"{size}{self.BY} / {self.splits}{' joined' * self.joined}"

    @classmethod
    def of(cls, *sizes, **options):
        """Return the tiling with the least estimated time; arguments: as of ways."""
        return min(cls.ways(*sizes, **options), key=lambda tiling: tiling.us)


@dataclass(frozen=True)
class Other:
    """A way that no tiling describes: its name, its estimate, and what prepares it."""

    name: str
    us: float
    prepare: Callable


def tune(operation, *arguments, **options):
    """Call an operation, such as tune(ops.matmul, a, b), and return its result. Each way that a
    product or a convolution of these shapes might take is timed first. The quickest is used from
    now on, also by later programs on a GPU of this kind. HELPERS_TUNE=1 does so for all shapes that
    are not known yet, HELPERS_TUNE=0 ignores what was measured. The software GPU has no times:
    there, estimates decide."""
    global mode
    before, mode = mode, AGAIN
    for prepared in caches:
        prepared.clear()
    try:
        return operation(*arguments, **options)
    finally:
        mode = before


def blocks_us(blocks, deep, tile):
    """Return the estimated time of this many blocks of a tile, each `deep` steps: in rounds of
    tile.blocks on each multiprocessor, which take turns if they are several."""
    rounds, left = divmod(ceil_divide(blocks, multiprocessors()), tile.blocks)
    us = deep * rounds * max(tile.alone_us, tile.blocks * tile.each_us)
    if left:
        us += deep * max(tile.alone_us, left * tile.each_us)
    return us + (rounds + bool(left)) * tile.rest_us


def splits_to_try(most):
    """Return the numbers of splits to consider, up to a maximum."""
    few = range(1, min(most, ALL_SPLITS) + 1)
    return sorted({1, *few, *(max(1, most * share // 4) for share in (1, 2, 3, 4))})


def sum_us(count, splits):
    """Return the time to add the splits of this many results; 0 without splits."""
    return SPLIT_US + 8 * count * splits / SPLIT_BYTES_PER_US if splits > 1 else 0


def quickest(problem, ways, prepare):
    """Return prepare(way), a call, of the quickest of these ways, which have a name and an estimate
    `us`; an Other prepares itself. problem: all that the choice depends on, as numbers and
    words."""
    ways, prepare = sorted(ways, key=lambda way: way.us), partial(_prepared, prepare)
    key, names = " ".join(map(str, problem)), {way.name: way for way in ways}
    known = None if mode == NEVER or len(ways) == 1 else remembered().get(key)
    if known in names and mode != AGAIN:
        return prepare(names[known])
    if mode not in (FIRST, AGAIN) or len(ways) == 1 or autoinit.is_software:
        return prepare(ways[0])
    chosen = None

    def call(*arguments):
        nonlocal chosen
        chosen = chosen or _measured(key, ways, prepare, arguments)
        return chosen(*arguments)

    return call


def _prepared(prepare, way):
    return way.prepare() if isinstance(way, Other) else prepare(way)


def _measured(key, ways, prepare, arguments):
    """Return the call of the way that takes the least time with these arguments; remember it."""
    least, times, calls = ways[0].us, {}, {}
    for way in ways[:MOST_MEASURED]:
        if way.us > FAR * least:
            break
        calls[way.name] = call = prepare(way)
        times[way.name] = bench.time_us(lambda call=call: call(*arguments))
    name = min(times, key=lambda name: times[name])
    remember(key, name, times[name])
    return calls[name]


def file():
    """Return the path of what was measured on GPUs of this kind."""
    device = cuda.Context.get_device()
    name = re.sub(r"\W+", "-", f"{device.name()} {device.multiprocessor_count}")
    return settings.cache_folder() / "tuned" / f"{name}.jsonl"


def remembered():
    """Return the names of ways by problem, as measured on GPUs of this kind."""
    return _read(file())


@cache
def _read(path):
    """Return what a file remembers; a line that is none of ours is left out, with a warning."""
    found, lost = {}, 0
    with suppress(OSError):  # not there, or not to be read
        for line in path.read_bytes().splitlines():
            try:
                told = json.loads(line)
                found[told["problem"]] = told["way"]
            except (ValueError, TypeError, KeyError):
                lost += 1
    if lost:
        warnings.warn(
            f"{path}: {lost} lines are damaged, and ignored: delete the file to tune all shapes"
            " again",
            stacklevel=2,
        )
    return found


def remember(problem, way, us):
    """Add a line to the file, which other processes may add to."""
    path = file()
    remembered()[problem] = way
    line = json.dumps({"problem": problem, "way": way, "us": round(us, 2)}) + "\n"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o666)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            size = os.fstat(descriptor).st_size
            whole = not size or os.pread(descriptor, 1, size - 1) == b"\n"
            os.write(descriptor, ("" if whole else "\n").encode() + line.encode())
        finally:
            os.close(descriptor)
    except OSError as error:
        warnings.warn(f"{path}: {error.strerror}: what was tuned lasts as long as this program",
                      stacklevel=2)  # fmt: skip
