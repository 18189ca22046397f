"""What a launch asks of the hardware beyond its own accesses: machine instructions and caches."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import contract
from ..contract import ffi
from ..jit.builds.profile import SITE_COUNTERS
from ..jit.compile import KernelCode
from ..loaded import LoadedModule
from ..sass import Refused, SassBlock, executions
from .chip import Chip

__all__ = ["Caches", "MachineRuns", "machine_counts", "replay", "waves"]

_SITE = contract.dtype("CacheSite")
BLOCK_WARPS = contract.DEVICE["block_threads"] // contract.LANES


@dataclass(frozen=True)
class MachineRuns:
    """A kernel's blocks of machine code, how often warps ran each, and which warps of the watched
    block did."""

    blocks: list[SassBlock]
    runs: list[float]
    warps: list[frozenset[int]]

    @property
    def executed(self) -> float:
        """Instructions of warps."""
        return sum(n * len(b.instructions) for b, n in zip(self.blocks, self.runs))

    @property
    def opcodes(self) -> dict[str, float]:
        """{opcode: how many of them}, of those that ran."""
        found: defaultdict[str, float] = defaultdict(float)
        for block, runs in zip(self.blocks, self.runs):
            for instruction in block.instructions if runs else ():
                found[instruction.opcode] += runs
        return found


@dataclass(frozen=True)
class Caches:
    """What the caches did, in sectors, or in lines or pages where the name says so.

    l1_*: what warps asked for, what the L1 did not have, and what it had asked for but not got;
    l2_*: look-ups in the L2, whose halves ask each other, what it did not have, and, in the first
    wave, what it had asked for but not got; stored: what warps stored; dram_*: what
    memory moved; *_pages: how many it opened for that; bulk*: what bulk copies asked the L2 for;
    by_line: of each line of PTX that loads, how many lines it accessed, and l1_missed_lines,
    l1_late_lines, l2_missed_lines and l2_late_lines of it; of one with an atomic, too.
    sample: one page in so many was looked at."""

    sample: int
    l1_loads: int
    l1_misses: int
    l1_missed_lines: int
    l1_late_lines: int
    l2_reads: int
    l2_writes: int
    l2_missed_lines: int
    l2_late_lines: int
    dram_reads: int
    dram_writes: int
    read_pages: int
    write_pages: int
    stored: int
    stored_lines: int
    bulk: int
    bulk_lines: int
    bulk_missed_lines: int
    bulk_late_lines: int
    by_line: dict[int, tuple[int, ...]]


def machine_counts(
    module: LoadedModule, code: KernelCode, counters: np.ndarray, events: np.ndarray
) -> MachineRuns:
    """The MachineRuns of a profiled launch, by the counts of its PTX; or sass.Refused."""
    blocks = module.machine_code.get(code.kernel)
    if not blocks:
        raise Refused("ptxas left no machine code of the kernel")
    lines = module.token_lines
    by_line: defaultdict[int, float] = defaultdict(float)
    ran: defaultdict[int, set[int]] = defaultdict(set)  # which warps did, by line
    steps = events[events["what"] >> 31 == 0]  # the others are barriers
    ran_by: defaultdict[int, set[int]] = defaultdict(set)
    for pair in np.unique(steps["what"].astype(np.int64) * BLOCK_WARPS + steps["warp"]):
        ran_by[int(pair) // BLOCK_WARPS].add(int(pair) % BLOCK_WARPS)
    for n, ((first, _), tokens) in enumerate(zip(code.notes["blocks"], code.notes["tokens"])):
        copies = Counter(tokens)  # the profile build unrolls some loops itself
        for line, often in {lines[token]: c for token, c in copies.items()}.items():
            by_line[line] += often * float(counters[first])
            ran[line] |= ran_by[n]
    warps = float(counters[code.notes["blocks"][0][0]]) if code.notes["blocks"] else 0.0
    runs, turns = executions(blocks, by_line, warps), _turns_of_atomics(code, counters)
    runs = [n * turns if _is_atomic(b) else n for b, n in zip(blocks, runs)]
    return MachineRuns(blocks, runs,
                       [_most(ran[m.line] for m in b.instructions if m.line in ran)
                        for b in blocks])  # fmt: skip


def _is_atomic(block: SassBlock) -> bool:
    """Whether it is a loop that adds to shared memory until nobody was faster."""
    return block.is_loop and any(m.opcode.startswith("ATOMS.CAS") for m in block.instructions)


def _turns_of_atomics(code: KernelCode, counters: np.ndarray) -> float:
    """How many turns a warp takes, on average, for an atomic on shared memory that is a loop."""
    turns = atomics = 0
    for site, first in zip(code.sites, code.notes["sites"]):
        if first >= 0 and site.space == "shared" and site.kind not in ("load", "store"):
            of = dict(zip(SITE_COUNTERS, map(int, counters[first : first + len(SITE_COUNTERS)])))
            if of["loop_loads"]:
                turns += of["loop_loads"] - of["loop_more"]
                atomics += of["shared"]
    return turns / atomics if atomics else 1.0


def _most(sets: Iterable[set[int]]) -> frozenset[int]:
    """What most of these are."""
    found = Counter(map(frozenset, sets)).most_common(1)
    return found[0][0] if found else frozenset()


def waves(runtime: Any, of: Chip, resident: int) -> tuple[float, float] | None:
    """Of the launch that was profiled last, on a Chip: (the busiest multiprocessor's work over the
    average, how many average blocks come one after the other); None if there was no memory."""
    shape = {"multiprocessors": of.multiprocessors, "resident": resident}
    found = ffi.new("Waves *")
    done = runtime.sg_waves(ffi.new("CacheShape *", shape), found)
    return (found.shared, found.seated) if done else None


def replay(
    runtime: Any, code: KernelCode, of: Chip, resident: int, shared_bytes: int, places: list[int]
) -> Caches | None:
    """The Caches of the launch that was profiled last, on a Chip. places: the line of PTX on which
    each token stands."""
    taken = resident * (shared_bytes + contract.DEVICE["block_system_shared"])
    l1_bytes = max(of.l1_bytes - taken, 16 << 10)
    shape = {
        "multiprocessors": of.multiprocessors,
        "resident": resident,
        "gpcs": of.gpcs,
        "in_step": any(site.kind == "tensor" for site in code.sites),  # such blocks stay in step
        "l1_bytes": l1_bytes,
        "l2_bytes": of.l2_bytes,
    }
    counts, sites = ffi.new("CacheCounts *"), ffi.new("CacheSite[]", max(len(code.sites), 1))
    counts.sites = sites
    if not runtime.sg_caches_replay(ffi.new("CacheShape *", shape), counts):
        return None
    by_site = np.frombuffer(ffi.buffer(sites), _SITE)[: len(code.sites)]
    loads = [n for n, site in enumerate(code.sites) if site.kind == "load"]
    total = {key: int(by_site[key][loads].sum()) for key in _SITE.names or ()}
    in_bulk = by_site["bulk_lines"] > 0
    bulk_missed, bulk_late = (
        int(by_site[key][in_bulk].sum()) for key in ("missed_lines", "under_way_lines")
    )
    k = counts.sample
    return Caches(
        sample=k,
        l1_loads=k * total["sectors"],
        l1_misses=k * total["l2_sectors"],
        l1_missed_lines=k * total["l2_lines"],
        l1_late_lines=k * total["late_lines"],
        l2_reads=k * counts.l2_reads,
        l2_writes=k * counts.l2_writes,
        l2_missed_lines=k * (total["missed_lines"] - bulk_missed),
        l2_late_lines=k * (total["under_way_lines"] - bulk_late),
        dram_reads=k * counts.dram_reads,
        dram_writes=k * counts.dram_writes,
        read_pages=k * counts.read_pages,
        write_pages=k * counts.write_pages,
        stored=k * int(by_site["sectors"][[s.kind == "store" for s in code.sites]].sum()),
        stored_lines=k * counts.stored_lines,
        bulk=k * total["bulk_sectors"],
        bulk_lines=k * total["bulk_lines"],
        bulk_missed_lines=k * bulk_missed,
        bulk_late_lines=k * bulk_late,
        by_line=_by_line(code, by_site, places),
    )


_OF_LINES = "lines", "l2_lines", "late_lines", "missed_lines", "under_way_lines"


def _by_line(
    code: KernelCode, by_site: np.ndarray, places: list[int]
) -> dict[int, tuple[int, ...]]:
    """As Caches says, of the sample."""
    found: dict[int, tuple[int, ...]] = {}
    for number, token in code.notes["site_tokens"].items():
        site, line = by_site[int(number)], places[token]
        if code.sites[int(number)].kind != "store" and site["lines"]:
            before = found.get(line, (0,) * len(_OF_LINES))
            found[line] = tuple(a + int(site[key]) for a, key in zip(before, _OF_LINES))
    return found
