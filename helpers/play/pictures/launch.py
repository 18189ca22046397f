"""Any small launch, to be stepped through by warp and line: a debugger."""

import numpy as np

from ..page import Page, packed
from ..trace import record

__all__ = ["launch"]

MOST_BYTES = 28_000  # of the data, packed
MOST_CELLS = 512  # of an array that are shown
_OPERATIONS = ["load", "store", "atomic", "shuffle", "barrier"]


def launch(kernel, *args, grid, block, shared=0):
    """A launch that can be stepped through, warp by warp, line by line: what each lane has in its
    variables, what it reads and writes, in which order. The arguments do not change.

    kernel: a kernel of helpers.sources or %%kernel, or a pair (CUDA source, name). The launch
    should be small: what no longer fits onto the page is left out, and the page says so."""
    done = record(kernel, *args, grid=grid, block=block, shared=shared)
    data = {
        "kernel": done.kernel,
        "grid": done.grid,
        "block": done.block,
        "arguments": [[name, _number(value)] for name, value in done.arguments],
        "variables": [name for name, _ in done.variables],
        "first": min(done.lines),
        "lines": list(done.lines.values()),
        "arrays": [_array(array) for array in done.arrays],
        "findings": [_finding(finding, done.file) for finding in done.findings],
    }
    sizes = {a.bytes for step in done.steps for a in step.accesses if a.array == -1}
    data["unit"] = min(sizes) if len(sizes) > 1 else 0
    steps = [_step(step, data["unit"]) for step in done.steps]
    kept = _fitting(data, steps)
    data |= {"steps": steps[:kept], "left": len(steps) - kept, "incomplete": done.incomplete}
    words = (
        f"{done.kernel}: {len(steps)} steps of {_warps(done)} warps; open it as HTML to play them"
    )
    return Page("launch", f"{done.kernel}, step by step", data, words, height=640)


def _warps(done):
    return int(np.prod(done.grid)) * done.warps


def _fitting(data, steps):
    """How many of the steps fit onto the page."""
    size = len(steps)
    while size and len(packed(data | {"steps": steps[:size]})) > MOST_BYTES:
        size = size * 4 // 5
    return size


def _number(value):
    """A number as JSON has it, floats as short as they are told apart."""
    if isinstance(value, (np.floating, float)):
        known = float(f"{value:.6g}")
        return known if np.isfinite(known) else str(known)
    if isinstance(value, (np.integer, np.bool_, int)):
        return int(value)
    return str(value)


def _numbers(values):
    """Of each active lane: [first, step] where they grow evenly, else {"v": all}."""
    if values.dtype.kind in "iu" and len(values):
        steps = np.diff(values.astype(np.int64))
        if not len(steps) or (steps == steps[0]).all():
            return [int(values[0]), int(steps[0]) if len(steps) else 0]
    return {"v": [_number(value) for value in values]}


def _array(array):
    """An array as it is at first; of a long one, its beginning."""
    shown = array.values[:MOST_CELLS]
    plain = shown.dtype.kind in "fiub"
    return [array.name, array.values.size, [_number(v) for v in shown] if plain else []]


def _finding(finding, file):
    """The lines of the kernel's file that it is about, 0 for others, and what it says."""
    sides = (finding.file, finding.line), (finding.other_file, finding.other_line)
    lines = [line if name == file and line else 0 for name, line in sides]
    return [*lines, finding.kind, finding.message, finding.advice]


def _step(step, unit):
    values = [[n, mask, _numbers(found)] for n, (mask, found) in step.values.items()]
    return [step.warp, step.line, step.mask, values, [_access(a, unit) for a in step.accesses]]


def _access(access, unit):
    """unit: bytes in which shared memory is counted where elements of several sizes lie there."""
    found = [_OPERATIONS.index(access.what), access.mask, access.array]
    if access.index is not None:
        counted = unit and access.array == -1
        found.append(_numbers(access.index * access.bytes // unit if counted else access.index))
    if access.value is not None:
        found.append(_numbers(access.value))
    return found
