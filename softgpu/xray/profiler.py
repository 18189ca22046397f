"""Run a launch in the profile build and gather what it counted, by source line."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from math import nan
from typing import Any

import numpy as np

from .. import contract
from ..contract import ffi
from ..declarations import short_name
from ..fidelity import Fidelity, fidelity_of
from ..jit.builds.profile import SITE_COUNTERS
from ..jit.facts.layout import Layout
from ..loader import Engine
from .chip import MODELLED, Chip
from .chip import chip as chip_named
from .hardware import machine_counts, replay, waves
from .launch import byte_count, is_call, one_at_a_time, shape, target_of
from .occupancy import occupancy
from .report import TENSOR, Report

__all__ = ["predicted_us", "profile", "profile_call", "report"]


_TOUCHED, _EVENT, _SAMPLE = (contract.dtype(name) for name in ("Touched", "Step", "Sample"))


def profile(
    kernel: Any,
    *args: Any,
    grid: int | Sequence[int] | None = None,
    block: int | Sequence[int] | None = None,
    shared: int = 0,
    watch: int | Sequence[int] = 0,
    cooperative: bool = False,
    after: Callable[[Callable[[Any], np.ndarray]], object] | None = None,
    chip: str = MODELLED,
) -> Report:
    """Launch a kernel once, counted: a Report. The arguments do not change.

    kernel: a pair (CUDA source, name) or a PyCUDA function; beside a real GPU one of the course's.
    Or, alone, a function that launches a kernel in a way of its own, whose arguments do change:
    `lambda: add[grid](x, y, n)`.
    watch: the block, by number or index, that the pictures are of.
    chip: the GPU whose time is predicted, as in softgpu/xray/chips: "h200" or "h100".
    cooperative: all blocks are there at once, and can meet: grid.sync().
    after: called before the arguments are put back, with read(array), which returns as a NumPy
    array what an array on the GPU holds then."""
    if grid is None and is_call(kernel):
        if (found := profile_call(kernel, chip)) is None:
            raise ValueError("profile takes a call that launches one kernel on the software GPU")
        return found
    sides, block = shape("grid", grid), shape("block", block)
    shared = byte_count("shared", shared)
    of, target = chip_named(chip), target_of(kernel)
    runtime = target.engine.runtime
    with one_at_a_time:
        runtime.sg_profile_begin(_number(watch, sides))
        runtime.sg_cooperative(cooperative)
        try:
            target.launch(args, sides, block, shared, after=after)
        finally:
            runtime.sg_cooperative(0)
            result = runtime.sg_profile_end()
        return report(target.engine, result, of)


def predicted_us(launch: Callable[[], object], chip: str = MODELLED) -> float:
    """Microseconds that launch() would take on a chip; NaN where it launches several kernels, or
    one whose time cannot be known, and on a GPU."""
    found = profile_call(launch, chip)
    return found.predicted_us if found else nan


def profile_call(launch: Callable[[], object], chip: str = MODELLED) -> Report | None:
    """The Report of the only kernel that launch() launches; None where it launches several, and on
    a GPU."""
    engine = Engine.in_use()
    if engine is None:
        return None
    with one_at_a_time:
        engine.runtime.sg_profile_begin(0)
        try:
            launch()
        finally:
            result = engine.runtime.sg_profile_end()
        return report(engine, result, chip_named(chip)) if result.launches == 1 else None


def _number(watch: int | Sequence[int], grid: Sequence[int]) -> int:
    """The linear number of a block."""
    index = tuple(watch) if isinstance(watch, (tuple, list)) else (watch,)
    x, y, z = (*index, 0, 0)[:3]
    number = x + grid[0] * (y + grid[1] * z)
    if not 0 <= number < grid[0] * grid[1] * grid[2]:
        raise ValueError(f"watch={watch!r}: the grid {grid} has no such block")
    return number


def _array(address: Any, kind: Any, count: int) -> np.ndarray:
    if not count:
        return np.zeros(0, kind)
    size = np.dtype(kind).itemsize * count
    return np.frombuffer(bytes(ffi.buffer(address, size)), kind)


def report(engine: Engine, result: Any, of: Chip | None = None) -> Report:
    """The Report, for a Chip, of what sg_profile_end() has of a launch by this engine, the
    last one profiled."""
    of = of or chip_named()
    module, name = engine.modules[result.module], ffi.string(result.kernel).decode()
    code = module.code(name, "profile")
    counters = _array(result.counters, np.uint64, result.counter_count).astype(np.int64)
    for often, amounts in code.notes["proven"]:
        for counter, amount in amounts:
            counters[counter] += amount * counters[often]
    events = _array(result.events, _EVENT, result.event_count)
    shared = result.static_shared + result.dynamic_shared
    resources = module.resources.get(name, {})
    grid, block = tuple(result.grid), tuple(result.block)
    resident = occupancy(int(np.prod(block)), resources.get("registers", 0), shared, of)
    return Report(
        kernel=short_name(name),
        grid=grid,
        block=block,
        static_shared=result.static_shared,
        dynamic_shared=result.dynamic_shared,
        registers=resources.get("registers"),
        local_bytes=resources.get("local", 0),
        occupancy=resident,
        source_line=module.program.functions[name].source,
        lines=_by_line(code, counters),
        texts=module.source_lines,
        callers=_callers(code),
        arrays=_array(result.touched, _TOUCHED, result.touched_count),
        sites=code.sites,
        blocks=[lines for _, lines in code.notes["blocks"]],
        events=events,
        samples=_array(result.samples, _SAMPLE, result.sample_count),
        incomplete=bool(result.incomplete),
        find_machine=partial(machine_counts, module, code, counters, events),
        find_fidelity=partial(_fidelity, module.layout(name), name, code, counters),
        caches=replay(engine.runtime, code, of, resident.blocks, shared, module.token_lines),
        waves=waves(engine.runtime, of, resident.blocks),
        chip=of,
    )


def _fidelity(layout: Layout, kernel: str, code: Any, counters: np.ndarray) -> Fidelity:
    executed: Counter[int] = Counter()
    for (first, _), tokens in zip(code.notes["blocks"], code.notes["tokens"]):
        for token in tokens:
            executed[token] += int(counters[first])
    return fidelity_of(layout, kernel, executed)


def _callers(code: Any) -> dict[tuple[str, int], list[tuple[str, int]]]:
    """{(file, line): the lines of the kernel's own file that called it}."""
    found: defaultdict[tuple[str, int], list[tuple[str, int]]] = defaultdict(list)
    for file, line, *caller in sorted(code.notes["callers"]):
        found[file, line].append(tuple(caller))
    return dict(found)


def _by_line(code: Any, counters: np.ndarray) -> dict[tuple[str, int], Counter]:
    """{(file, line): Counter of what happened there}."""
    lines: defaultdict[tuple[str, int], Counter] = defaultdict(Counter)
    for (first, places), exchanges in zip(code.notes["blocks"], code.notes["exchanges"]):
        times, missing = (int(n) for n in counters[first : first + 2])
        for file, line, what in exchanges:
            lines[file, line][what] += times
        for file, line, instructions in places:
            lines[file, line]["instructions"] += times * instructions
            lines[file, line]["lanes"] += (32 * times - missing) * instructions
    atoms, polls = set(code.notes["atoms"]), set(code.notes["polls"])
    for number, first in enumerate(code.notes["sites"]):
        if first >= 0:
            site = code.sites[number]
            values = (int(n) for n in counters[first : first + len(SITE_COUNTERS)])
            known, counts = dict(zip(SITE_COUNTERS, values)), lines[site.file, site.line]
            for key, value in _named(site, number in atoms, known):
                counts[key] += value
            if number in polls:
                counts["ld.polls"] += known["sectors"]
    return dict(lines)


def _named(site: Any, counts_as_atom: bool, n: Mapping[str, int]) -> Iterator[tuple[str, int]]:
    """(what, how many) of a site: "ld.requests" for global, "lds.wavefronts" for shared memory."""
    if site.kind == "barrier":
        yield from zip(("barriers", "waits", "idle"), (n["requests"], n["sectors"], n["ideal"]))
        return
    if site.kind == "tensor":
        yield from zip(TENSOR, (n["requests"], n["sectors"], n["ideal"]))
        return
    operation = {"load": "ld", "store": "st"}.get(site.kind, "atom" if counts_as_atom else "red")
    if operation in ("ld", "st") or site.space != "shared":
        for key in ("requests", "sectors", "lines", "ideal", "near"):
            yield f"{operation}.{key}", n[key]
    if operation in ("ld", "st"):
        yield f"{operation}s.requests", n["shared"]
        yield f"{operation}s.wavefronts", n["wavefronts"]
        yield f"{operation}s.conflicts", n["conflicts"]
        yield f"{operation}l.requests", n["local"]
        yield f"{operation}l.sectors", n["local_sectors"]
        return
    yield "atoms.requests", n["shared"]
    yield "atoms.wavefronts", n["atoms"]
    if site.space == "shared":
        yield "lds.wavefronts", n["loop_loads"]
        yield "lds.conflicts", n["loop_more"]
    else:
        yield "ld.requests", n["loop_loads"]
        yield "ld.sectors", n["loop_more"]
