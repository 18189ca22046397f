"""The tree of a sum in shared memory, level by level, with barriers that can be taken out."""

import numpy as np

from ... import sources
from ..page import Page
from ..trace import lanes_of, record

__all__ = ["tree"]

THREADS = 128
BARRIER = "__syncthreads();"


def tree():
    """A block of 128 threads adds up 128 ones. Level by level: who reads and writes what; without a
    barrier, who reads what has not been written yet."""
    text, runs = sources.text("reduce/shared.cu"), {}
    for name, kept in (("both", (1, 1)), ("only the first", (1, 0)), ("only the loop's", (0, 1))):
        runs[name] = _run(text, kept)
    for name in reversed(runs):  # "both", which the others are compared with, last
        _mark(runs[name], runs["both"])
    words = "the tree of a sum, with barriers that can be taken out; open it as HTML to play it"
    return Page("tree", "A sum in shared memory", {"runs": runs}, words, height=430)


def _run(text, kept):
    """The tree with some of its two barriers: values, and reads, of each level."""
    from pycuda import gpuarray

    head, *rest = text.split(BARRIER)
    for keeps, part in zip(kept, rest, strict=True):
        head += (BARRIER if keeps else "") + part
    ones, out = gpuarray.to_gpu(np.ones(THREADS, np.float32)), gpuarray.zeros(1, np.float32)
    done = record(head, ones, out, np.int64(THREADS), grid=1, block=THREADS, shared=4 * THREADS)
    found = done.findings[0] if done.findings else None
    ((_, result),) = done.accesses("store", 1)
    return {
        "levels": _levels(done),
        "result": _shown(result.value[0]),
        "finding": f"{found.kind}: {found.message}. {found.advice}" if found else "",
    }


def _mark(run, right):
    """Instead of how many stores came before each read: whether that is fewer than is right."""
    for level, good in zip(run["levels"], right["levels"]):
        stale = [read[3] < asked[3] for read, asked in zip(level["reads"], good["reads"])]
        level["reads"] = [[*read[:3], old] for read, old in zip(level["reads"], stale)]


def _levels(done):
    """[half, values after it, reads]; a read: [thread, element, value, stores there before]."""
    half = next(n for n, (name, _) in enumerate(done.variables) if name == "half")
    at, stores = {}, np.zeros(THREADS, int)
    levels = {width: {"half": width, "values": {}, "reads": []} for width in _widths()}
    for step in done.steps:
        if half in step.values:
            at[step.warp] = int(step.values[half][1][0])
        level = levels.get(at.get(step.warp, THREADS))
        for access in step.accesses:
            if access.array != -1 or level is None:
                continue
            for lane, place, value in zip(lanes_of(access.mask), access.index, access.value):
                place = int(place)
                if access.what == "store":
                    stores[place] += 1
                    level["values"][place] = _shown(value)
                elif level["half"]:
                    thread = 32 * step.warp + lane
                    level["reads"].append([thread, place, _shown(value), int(stores[place])])
    for level in levels.values():
        level["reads"].sort(key=lambda read: read[:2])
    return list(levels.values())


def _widths():
    """The whole block for the loads, then the width of each level."""
    return [THREADS >> level for level in range(THREADS.bit_length())]


def _shown(value):
    return int(value) if np.isfinite(value) else "?"
