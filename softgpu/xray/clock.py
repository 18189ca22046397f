"""The time that a launch would take on a GPU, from what it asks of each part of it.

Every resource alone would need a time: its amount of work over what the chip can do (chip.py). What
works side by side (memory, L2, pipes) takes as long as the slowest of it. Waiting (for memory, for
steps that depend on each other, at barriers) adds up along a block's chain of steps; as many blocks
as have a seat wait at a time, and while they wait others work: _both says what the two take
together. All constants are measured, none is fitted to a kernel; docs/clock.md says how far the
times are off.

Terms: bottleneck model, roofline (Williams et al. 2009; docs/terms.md).
"""

import json
from collections import defaultdict
from dataclasses import dataclass, field, replace
from functools import cache
from math import ceil, log
from pathlib import Path
from typing import Any

from ..phrases import Said, joined
from ..sass import second_factor
from ..words import Predicted, Unpredicted
from .chip import Chip, chip

__all__ = ["Prediction", "errors", "in_words", "memory_us", "predict", "short_us"]

ERRORS = Path(__file__).parent / "errors.json"
SECTOR = 32
LANES = 32
GUARD = 13  # cycles, as ptxas makes it for sm_90, from what sets a predicate to what it guards
BRANCH = 5  # the same, from a branch to the next instruction
IN_LINE = 2  # cycles that a warp waits for each further wavefront of a load; others wait for one
FAR_STORE = 0.5  # more cycles of the L1 for each line of a store but one
PIPES = {  # which pipe an opcode goes through; what is not here goes through alu
    "fma32": "FFMA FADD FMUL",
    "mad": "IMAD IDP",
    "fma64": "DFMA DADD DMUL DSETP",
    "fma16": "HFMA2 HADD2 HMUL2 HSETP2 HMNMX2",
    "special": "MUFU POPC FLO BREV",
    "to_int": "I2F F2I F2F I2I FRND",
    "redux": "REDUX",
    "tensor": "HMMA IMMA BMMA DMMA HGMMA QGMMA IGMMA BGMMA",
    "none": "BRA EXIT NOP BSSY BSYNC BAR WARPSYNC RET CALL LDG STG LDS STS LDL STL LDGSTS RED REDG"
    " ATOM ATOMG ATOMS LDC ULDC S2R S2UR CS2R MEMBAR ERRBAR SHFL DEPBAR BREAK LD ST YIELD KILL"
    " NANOSLEEP CCTL LDSM STSM LDGDEPBAR SYNCS UTMALDG UTMASTG UTMAREDG UTMAPF UTMACCTL"
    " UTMACMDFLUSH UBLKCP UBLKRED WARPGROUP ELECT USETMAXREG FENCE UCGABAR_ARV UCGABAR_WAIT",
}
PIPE_OF = {opcode: pipe for pipe, opcodes in PIPES.items() for opcode in opcodes.split()}
KIND_OF = {  # a kind of launches, by what takes longest; what is not here is work
    "memory": "memory", "L2 reads": "memory", "L2 writes": "memory", "L2 atomics": "atomics",
    **dict.fromkeys(["launch", "launching blocks", "latency of memory", "dependent steps",
                     "barriers", "turns of blocks", "copies"], "latency"),
}  # fmt: skip
SAID = {
    "latency of memory": "waiting for memory",
    "dependent steps": "steps that wait for each other",
    "turns of blocks": "blocks that take each other's place",
    "instructions": "issuing instructions",
    "launch": "the launch itself",
    "launching blocks": "starting its blocks",
    "pipe alu": "the integer pipe",
    "pipe mad": "the pipe of products",
    "pipe fma64": "the pipe of doubles",
    "pipe fma16": "the pipe of halves",
    "pipe special": "the pipe of special functions",
    "pipe to_int": "the pipe of conversions",
    "pipe tensor": "the tensor cores",
}


@dataclass(frozen=True)
class Prediction:
    """us: NaN where `why` says why there is none. limits: {resource: µs it alone would need}.
    kind: of launches, whose errors errors.json has: memory, latency, atomics, work or tensor; ""
    where nobody has checked it."""

    us: float
    limits: dict[str, float]
    of: Chip
    why: str = ""
    kind: str = ""

    @property
    def interval_us(self) -> tuple[float, float] | None:
        """From when to when: nine of ten measured times of its kind lay as near to the predicted
        one, in launches that were predicted before a GPU had run them. None: nobody knows."""
        if not self.kind or self.why:
            return None
        least, most = errors()[self.kind]["measured / predicted"]
        return least * self.us, most * self.us

    @property
    def time(self) -> str:
        if self.why or not (interval := self.interval_us):
            return "none" if self.why else in_words(self.us)
        least, most = map(short_us, interval)
        return f"{in_words(self.us)} ({least}–{most})" if self.us < 1e5 else in_words(self.us)

    @property
    def limited(self) -> Said:
        """What limits it, and what would next."""
        if self.why:
            return Predicted.NONE(why=self.why)
        (first, most), (second, less) = sorted(self.limits.items(), key=lambda i: -i[1])[:2]
        limited = Predicted.LIMITED if self.kind else Predicted.UNCHECKED
        return limited(
            chip=self.of.words,
            first=SAID.get(first, first),
            most=in_words(most),
            second=SAID.get(second, second),
            less=in_words(less),
        )

    @property
    def text(self) -> Said:
        return self.limited if self.why else joined(self.time, self.limited, between=", ")

    def __str__(self) -> str:
        return self.text


def short_us(us: float) -> str:
    """A time with as many digits as a prediction deserves."""
    return f"{us:,.0f}" if us >= 100 else f"{us:.2g}" if us < 10 else f"{us:.3g}"


def in_words(us: float) -> str:
    """The same with its unit: seconds where it is seconds."""
    return f"{us / 1e6:,.3g} s" if us >= 1e5 else f"{short_us(us)} µs"


def predict(report):
    """The Prediction of a profiled launch."""
    if why := _unknowable(report):
        return Prediction(float("nan"), {}, report.chip, why)
    of = _at_work(report)
    pipes, waits, first = _pipes(report, of), _waits(report, of), _first(report, of)
    memory = _memory(report, of)
    busy = memory | _atomics(report, of) | _launching(report, of) | pipes
    near = pipes["L1"] + pipes["shared memory"]  # one way leads to both
    stores = 0 if _by_groups(report) else memory["L2 writes"]  # boxes come ahead of products
    turns = memory["L2 reads"] + stores + _scattered_us(report, of)  # in the L2
    work = max(near, *busy.values(), turns)
    waiting = max(sum(waits.values()) - first, 0)
    queued, in_step = memory.values(), 0
    if not _multiplies(report):  # whose chains take turns at pipes themselves
        queued = near, *memory.values(), *pipes.values()
        in_step = _in_step(report, of, waiting, waiting - waits["dependent steps"], near, pipes)
    together = _both(waiting, work, max(in_step, of.queueing * waiting * max(queued)))
    limits = {what: us for what, us in (busy | waits).items() if us} | {"launch": of.launch_us}
    kind = _kind(report, max(limits, key=lambda what: limits[what]))
    return Prediction(of.launch_us + first + together, limits, of, kind=kind)


def _in_step(report, of, waiting, away, near, pipes):
    """Contention of the blocks of a wave, which begin together: they wait together, and then all
    want the L1 and shared memory. Pipes change between warps at each step, so that only those who
    were away, for memory or at a barrier, stand in line there.

    Who comes first in line is first at the next turn of a loop, too: after a few turns blocks work
    while others wait, and so do warps between two barriers."""
    blocks = min(max(report.occupancy.blocks, 1), ceil(report.block_count / of.multiprocessors))
    warps = blocks * ceil(report.thread_count / LANES)
    turns = _turns(report)
    between = turns / max(_barriers(report), 1)  # two barriers
    others = 1 - 1 / blocks, 1 / blocks - 1 / warps  # shares of other blocks, and of a block's own
    kept = _kept_in_step(report)
    share = others[0] * max(1 / turns, kept) + others[1] * max(1 / max(between, 1), kept)
    near_us = near * share
    pipe_us = max(pipes.values()) * max(share - (QUARTERS - 1) / warps, 0)
    # a block that is alone on its multiprocessor has none of another wave beside it
    apart = _waves(report)[1] if report.occupancy.blocks > 1 else 1
    issued = report.machine.executed / report.warp_count / of.cycles_per_us  # a warp does not wait
    idle = max(waiting - _waves(report)[1] * issued, 0)
    return max(idle * near_us, away * pipe_us) / max(apart, 1)


def _kept_in_step(report):
    """The share of a warp's waits that are for what another has just asked for: it comes to both at
    once."""
    caches, machine = report.caches, report.machine
    lines = caches.sample * sum(lines for lines, *_ in caches.by_line.values())
    late = min((caches.l1_late_lines + caches.l2_late_lines) / max(lines, 1), 1)
    waits = far = 0.0
    for block, runs in zip(machine.blocks, machine.runs):
        for bases in _waited_for(block.instructions) if runs else ():
            waits += runs
            far += runs * bool(bases & {*GLOBAL_LOADS})
    return late * far / max(waits, 1)


def _waited_for(instructions):
    """The groups of loads that a block of code waits for: what they are."""
    loads: dict[str, str] = {}  # by the registers that they write
    for m in instructions:
        if loads.keys() & {*m.reads, *m.writes}:
            yield {*loads.values()}
            loads.clear()
        if m.base in LOADS:
            loads |= dict.fromkeys(m.writes, m.base)
    if loads:
        yield {*loads.values()}


def _barriers(report):
    """At how many barriers a warp waits."""
    return report.total["barriers"] / report.warp_count


def _turns(report):
    """How many times over a warp runs its code, by instructions."""
    machine, warps = report.machine, report.warp_count
    once = sum(
        min(runs / warps, 1) * len(block.instructions)
        for block, runs in zip(machine.blocks, machine.runs)
    )
    return max(machine.executed / warps / max(once, 1), 1)


def _kind(report, limit):
    """Its kind of launches; "" for those that use local memory or spill registers."""
    t, opcodes = report.total, report.machine.opcodes
    if t["ldl.requests"] or t["stl.requests"] or any(o.startswith(("LDL", "STL")) for o in opcodes):
        return ""
    if _multiplies(report) or report.caches.bulk_lines:
        return "tensor"
    return KIND_OF.get(limit, "work")


@cache
def errors() -> dict[str, Any]:
    """{kind: how far predictions were off}, as softgpu.tests.xray.clock.validate has written it."""
    return json.loads(ERRORS.read_text())


def _at_work(report):
    """The chip as fast as it is while its tensor cores work: they need so much power that it has
    fewer cycles the longer they do."""
    of, cycles = report.chip, _product_cycles(report, report.chip)
    if not cycles or not of.loaded:
        return of
    kind = "groups" if _by_groups(report) else "warps"
    us = cycles * _waves(report)[0] / of.multiprocessors / of.cycles_per_us
    return replace(of, cycles_per_us=_interpolated(of.loaded[kind], us))


def _both(latency: float, work: float, contention: float) -> float:
    """What waiting and working take, one beside the other: at least the longer of the two, and
    more where they are alike, as then some wait for those who work."""
    return (latency + work + ((latency - work) ** 2 + 4 * contention) ** 0.5) / 2


def _unknowable(report):
    if report.machine_unknown:
        return report.machine_unknown
    if not report.occupancy.blocks:
        return Unpredicted.NO_ROOM()
    if report.caches is None or report.waves is None:
        return Unpredicted.NO_MEMORY()
    opcodes = report.machine.opcodes
    fences = sum(n for o, n in opcodes.items() if o.startswith("MEMBAR") and ".CTA" not in o)
    # fences of shared memory for bulk copies and warpgroups are made of one, too
    if fences > sum(n for o, n in opcodes.items() if o.startswith("FENCE.VIEW.ASYNC")):
        return Unpredicted.ORDER()
    if any(opcode.startswith(("LDG", "LD.")) and "STRONG" in opcode for opcode in opcodes):
        return Unpredicted.LOADS()
    if "NANOSLEEP" in opcodes:
        return Unpredicted.SLEEPS()
    if report.caches.bulk_lines and not report.chip.box:
        return Unpredicted.COPIES(chip=report.chip.words)
    unknown = [o for o in opcodes if _pipe(o) == "tensor" and not report.chip.product(o)]
    if unknown:
        names = ", ".join(sorted(unknown))
        return Unpredicted.INSTRUCTIONS(names=names, chip=report.chip.words)
    return ""


def _memory(report, of):
    """What the whole chip's memory and L2 need."""
    caches, local = report.caches, _local_stores(report)
    written = caches.dram_writes + local * _evicted(report, of)
    read_ns, write_ns = _moving(SECTOR * caches.dram_reads, SECTOR * written, of)
    read_ns += caches.read_pages * of.read_page_ns
    write_ns += caches.write_pages * of.write_page_ns
    stored = caches.stored + local
    # in local memory, lanes store side by side: whole lines, of 4 sectors
    stores_ns = _accesses(of.l2_write_ns, caches.stored_lines + local / 4, stored)
    once = min((float(report.arrays["written"].sum()) + local) / max(stored, 1), 1)
    return {  # each sector takes the way to memory once, even if the L2 keeps it
        "memory": (read_ns + max(write_ns, once * stores_ns)) / 1e3,
        "L2 reads": _accesses(
            of.l2_read_ns,
            caches.l1_missed_lines + caches.bulk_lines,
            caches.l1_misses + caches.bulk,
        )
        / 1e3,
        "L2 writes": stores_ns / 1e3,
    }


def _moving(read: float, written: float, of: Chip) -> tuple[float, float]:
    """Nanoseconds that memory needs for so many bytes read, and written."""
    share = written / max(read + written, 1)  # reads and writes take turns, which takes time
    turns = _between(4 * share * (1 - share), 1, of.read_gb_per_s / of.copy_gb_per_s)
    return turns * read / of.read_gb_per_s, turns * written / of.write_gb_per_s


def memory_us(read: float, written: float, of: Chip | None = None) -> float:
    """Microseconds that memory needs to move so many bytes at its best."""
    return sum(_moving(read, written, of or chip())) / 1e3


def _accesses(each: tuple[float, float], lines: float, sectors: float) -> float:
    line_ns, sector_ns = each
    return lines * line_ns + sectors * sector_ns


def _atomics(report, of):
    """Turns of atomics in the L2: few lines take them one after the other, so does one address."""
    arrays = report.arrays[report.arrays["turns"] > 0]
    if not len(arrays):
        return {"L2 atomics": 0.0}
    turns, hottest = float(arrays["turns"].sum()), float(arrays["hottest"].max())
    spread = turns**2 / float((arrays["turns"] ** 2 / arrays["spread"]).sum())
    fractions = any(
        opcode.startswith(("RED.", "REDG.", "ATOM")) and ".F" in opcode
        for opcode in report.machine.opcodes
    )
    plain, one = of.same_address_ns["no"], of.same_address_ns["yes" if fractions else "no"]
    slower = turns + min(_repeats(report.total), turns) * (one / plain - 1)
    each_ns = _interpolated(_turn_ns(report, of), spread)
    busiest_ns = max(slower * each_ns, hottest * one)
    return {"L2 atomics": busiest_ns / 1e3}


def _turn_ns(report, of):
    """A turn of its atomics, by how many lines they are spread over."""
    asks = report.total["atom.sectors"] > report.total["red.sectors"]
    return of.fetch_ns if asks else of.atomic_ns


def _scattered_us(report, of):
    """What atomics take of the L2 where they go to so many lines that all of it is busy."""
    return float(report.arrays["turns"].sum()) * min(_turn_ns(report, of).values()) / 1e3


def _repeats(t):
    """Turns of atomics at an address that the same warp has just changed: those beyond one for each
    of a line's four sectors."""
    return max(sum(t[f"{op}.sectors"] - 4 * t[f"{op}.lines"] for op in ("red", "atom")), 0)


def _pipes(report, of):
    """What the busiest multiprocessor's pipes need."""
    busiest = _waves(report)[0] / of.multiprocessors  # its share of the work
    t, machine = report.total, report.machine
    lanes: dict[str, float] = {}
    for opcode, count in machine.opcodes.items():
        pipe = _pipe(opcode)
        lanes[pipe] = lanes.get(pipe, 0) + 32 * count
    lanes.pop("tensor", None)
    lanes["mad"] = lanes.get("mad", 0) + lanes.get("fma32", 0) / 2  # the same pipe at half its rate
    cycles = {f"pipe {p}": n / of.rate[p] for p, n in lanes.items() if p not in ("none", "fma32")}
    cycles["pipe tensor"] = _product_cycles(report, of)
    near = sum(
        max(of.near_cycles * t[f"{op}.requests"], t[f"{op}.near"])
        for op in ("ld", "st", "red", "atom")
    )
    near += FAR_STORE * max(t["st.near"] - t["st.requests"], 0)
    local = sum(
        max(of.near_cycles * t[f"{op}.requests"], t[f"{op}.sectors"] / 4)
        + _spilled(report, opcode, op)
        for opcode, op in (("LDL", "ldl"), ("STL", "stl"))
    )
    shuffles = sum(n for opcode, n in machine.opcodes.items() if opcode.startswith("SHFL"))
    cycles["L1"] = near + local
    cycles["shared memory"] = _shared(report) + shuffles
    cycles["instructions"] = machine.executed / 4
    return {what: n * busiest / of.cycles_per_us for what, n in cycles.items()}


def _shared(report):
    """Wavefronts of shared memory. An access that a predicate turns off for a whole warp takes one;
    what the PTX loads twice, ptxas may keep in a register."""
    opcodes, t = report.machine.opcodes, report.total
    wavefronts = sum(t[f"{op}.wavefronts"] for op in ("lds", "sts", "atoms"))
    if _multiplies(report):  # a fragment's access is several instructions
        return wavefronts
    issued = sum(n for o, n in opcodes.items() if o.partition(".")[0] in ("LDS", "STS", "ATOMS"))
    asked = sum(t[f"{op}.requests"] for op in ("lds", "sts", "atoms"))
    return wavefronts * min(issued / max(asked, 1), 1) + max(issued - asked, 0)


def _spilled(report, opcode, op):
    """Wavefronts of registers that ptxas spills to local memory: the PTX doesn't have them."""
    words = sum(
        n * {"64": 2, "128": 4}.get(full.rpartition(".")[2], 1)
        for full, n in report.machine.opcodes.items()
        if full.partition(".")[0] == opcode
    )
    return max(words - report.total[f"{op}.sectors"] / 4, 0)


def _local_stores(report):
    """Sectors stored to local memory, 4 per wavefront: the L1 keeps them, and the L2 gets them."""
    return report.total["stl.sectors"] + 4 * _spilled(report, "STL", "stl")


def _evicted(report, of):
    """The share of what is stored to local memory that the L2 cannot keep. At most half of the L2
    may be dirty; every resident thread has its own local memory."""
    seats = of.multiprocessors * max(report.occupancy.blocks, 1)
    threads = min(report.block_count, seats) * report.thread_count
    return max(1 - of.l2_bytes / 2 / max(threads * report.local_bytes, 1), 0)


def _product_cycles(report, of):
    """Cycles of busy tensor cores, of all multiprocessors together."""
    machine = report.machine
    return sum(
        runs * sum(of.product(m.opcode)[1 + (fresh and len(of.product(m.opcode)) > 2)]
                   for m, fresh in _fresh(block))
        for block, runs in zip(machine.blocks, machine.runs) if runs
    )  # fmt: skip


def _fresh(block):
    """(instruction, whether its second factor is another one than in the product before) of each
    product: another one has to be read from registers."""
    before = None
    for m in block.instructions:
        if _pipe(m.opcode) == "tensor":
            factor = second_factor(m)
            yield m, factor != before
            before = factor


def _waves(report):
    """report.waves; but blocks that draw their work have as much as each other on a GPU: here, who
    comes first draws nearly all."""
    if not _draws(report):
        return report.waves
    blocks, processors = report.block_count, report.chip.multiprocessors
    return ceil(blocks / processors) * processors / blocks, _rounds(report)


def _rounds(report):
    """How many blocks come one after the other."""
    return ceil(report.block_count / report.chip.multiprocessors / max(report.occupancy.blocks, 1))


def _draws(report):
    """Whether one warp of a block asks memory, again and again, what its block does next."""
    machine = report.machine
    return _tells_by_mbarriers(report) and any(
        len(warps) == 1 and runs >= report.block_count
        for block, runs, warps in zip(machine.blocks, machine.runs, machine.warps)
        if any(m.base == "ATOMG" for m in block.instructions)
    )


def _tells_by_mbarriers(report):
    """Whether warps of a block wait for others of it at mbarriers."""
    return any(opcode.startswith("SYNCS.PHASECHK") for opcode in report.machine.opcodes)


def _pipe(opcode):
    return PIPE_OF.get(opcode.partition(".")[0], "alu")


def _launching(report, of):
    return {"launching blocks": report.block_count / of.blocks_per_us}


def _first(report, of):
    """Until the first data is there, when nothing else can run."""
    caches = report.caches
    first = _interpolated(of.first_us, report.block_count)
    if caches.l2_missed_lines or caches.bulk_missed_lines:
        return first
    level = of.latency["l1"] if caches.l1_loads else 0
    return first - (of.latency["dram"] - level) / of.cycles_per_us


def _waits(report, of):
    """What chains of steps need, with as many blocks at a time as have a seat."""
    caches, waves = report.caches, _waves(report)[1]
    here, far = Far(_global_loads(report)), _far(report)
    barrier = of.barrier[min(n for n in of.barrier if n >= min(report.thread_count, 1024))]
    steps, near = (_chain(report, of, here, cycles) for cycles in (0, barrier))
    turns = None
    if _multiplies(report):
        warps = -(-report.thread_count // 32)
        turns = Turns(max(warps / QUARTERS, 1), _wavefronts(report) * warps)
    there, away = (_chain(report, of, where, barrier, turns) for where in (here, far))
    cycles = {
        "latency of memory": away - there,
        "dependent steps": there - near + steps + _in_line(report),
        "barriers": near - steps,
    }
    cycles["copies"] = _copies(report, of, away) if caches.bulk_lines else 0
    waits = {what: waves * n / of.cycles_per_us for what, n in cycles.items()}
    return waits | {"turns of blocks": _rounds(report) * of.turn_us}


def _in_line(report):
    """Cycles of a warp whose accesses take more than a wavefront each, which its own next ones
    wait for."""
    t = report.total
    if _multiplies(report):
        return 0
    more = sum(t[f"{op}.near"] - t[f"{op}.requests"] for op in ("st", "red", "atom"))
    more += sum(t[f"{op}.wavefronts"] - t[f"{op}.requests"] for op in ("lds", "sts", "atoms"))
    more += IN_LINE * (t["ld.near"] - t["ld.requests"]) + (IN_LINE - 1) * t["lds.conflicts"]
    return max(more, 0) / report.warp_count


@dataclass(frozen=True)
class Far:
    """Which loads are of global memory, and what share of them the L1 and the L2 do not have: by
    the line of PTX, and of all."""

    loads: tuple[str, ...]
    by_line: dict[int, tuple[float, float]] = field(default_factory=dict)
    average: tuple[float, float] = (0.0, 0.0)

    def past(self, lines):
        """How likely one of these loads is past the L1, and past the L2."""
        shares = [self.by_line.get(line, self.average) for line in lines]
        return [min(1, sum(of)) for of in zip(*shares)]


def _far(report):
    """What the caches have not, or have just asked for. The lines of one load are taken to be there
    or not."""
    caches = report.caches
    # blocks that are in their places for longer than others do not begin any more often
    begun = min(_rounds(report) / _waves(report)[1], 1)
    waits_for_others = report.thread_count > LANES and not _multiplies(report)  # hits under misses

    def shares(lines, missed, late, from_memory, on_the_way):
        late = waits_for_others * late / max(missed, 1)  # for each that the L1 asked for
        each = (1 + late) / max(lines, 1)
        return missed * each, (from_memory + begun * on_the_way) * each

    return Far(
        _global_loads(report),
        {line: shares(*counts) for line, counts in caches.by_line.items()},
        shares(report.total["ld.lines"], caches.l1_missed_lines, caches.l1_late_lines,
               caches.l2_missed_lines, caches.l2_late_lines),
    )  # fmt: skip


def _global_loads(report):
    """The opcodes of loads from global memory; generic loads, too, unless most of them go to
    shared memory."""
    opcodes = report.machine.opcodes
    generic = sum(n for o, n in opcodes.items() if o.partition(".")[0] == "LD")
    return GLOBAL_LOADS if 2 * _generic_shared(report) > generic else (*GLOBAL_LOADS, "LD")


def _generic_shared(report):
    """How many generic loads of warps go to shared memory."""
    named = sum(n for o, n in report.machine.opcodes.items() if o.partition(".")[0] == "LDS")
    return max(report.total["lds.requests"] - named, 0)


@dataclass(frozen=True)
class Turns:
    """What warps that are in step take turns at: by how many they share a quarter's tensor core,
    and how many wavefronts shared memory has for them, for one instruction of each."""

    sharing: float = 0.0
    wavefronts: float = 0.0


def _wavefronts(report):
    """Wavefronts of an instruction that reads shared memory, where products wait for them."""
    opcodes, t = report.machine.opcodes, report.total
    reads = sum(n for o, n in opcodes.items() if o.partition(".")[0] in ("LDS", "LDSM"))
    reads += _generic_shared(report)
    return t["lds.wavefronts"] / reads if reads and _multiplies(report) else 0


def _by_groups(report):
    """Whether warpgroups multiply."""
    return any(opcode.startswith(GROUP_PRODUCTS) for opcode in report.machine.opcodes)


def _multiplies(report):
    """Whether tensor cores do."""
    return any(_pipe(opcode) == "tensor" for opcode in report.machine.opcodes)


def _chain(report, of, far, barrier, turns=None):
    """Cycles that a block takes if nothing else runs. What only some of its warps run, one of them
    runs while the others wait; where they tell each other by mbarriers, they go on meanwhile.
    turns: with others; None: it is alone, and only a product's sum takes time."""
    turns = turns or Turns()
    machine, warps = report.machine, report.warp_count
    if _tells_by_mbarriers(report):
        return max(_by_warp(report, of, far, barrier, turns).values())
    cycles = _pipelined(machine, lambda: _Walk(of, far, barrier, turns))
    return sum(
        max(runs / warps, min(1, runs / report.block_count))
        * (cycles[n] if n in cycles else _cycles(block, of, far, barrier, turns))
        for n, (block, runs) in enumerate(zip(machine.blocks, machine.runs))
        if runs
    )


def _pipelined(machine, new_walk):
    """{number of a block of code: its cycles}, in loops of several blocks where one waits for
    copies (cp.async) that others began, perhaps turns before. Blocks that fewer than half of the
    turns run are left out."""
    found: dict[int, float] = {}
    for first, last in _loops(machine.blocks):
        numbers = [n for n in range(first, last + 1) if 2 * machine.runs[n] > machine.runs[last]]
        blocks = [machine.blocks[n] for n in numbers]
        bases = [{m.base for m in block.instructions} for block in blocks]
        waiting = [b for b, has in zip(blocks, bases) if "DEPBAR" in has]
        if found.keys() & set(numbers) or not waiting or not any("LDGSTS" in has for has in bases):
            continue
        walk, turns = new_walk(), 2 + max(m.keeps for b in waiting for m in b.instructions)
        for turn in range(2 * turns):
            for n, block in zip(numbers, blocks):
                begun = walk.now
                walk.through(block)
                if turn >= turns:  # the loop is under way
                    found[n] = found.get(n, 0) + (walk.now - begun) / turns
    return found


def _loops(blocks):
    """(first, last) of the blocks of loops of several, inner loops first."""
    places = {label: n for n, block in enumerate(blocks) for label in block.labels}
    ends = [(places.get(b.instructions[-1].target, n), n) for n, b in enumerate(blocks)]
    return sorted(((a, b) for a, b in ends if a < b), key=lambda loop: loop[1] - loop[0])


def _by_warp(report, of, far, barrier, turns):
    """{warp of a block: cycles that it takes}: warps that do not wait for each other at each step
    are as long under way as the one with most to do."""
    machine = report.machine
    found: defaultdict[int, float] = defaultdict(float)
    everyone = frozenset(range(-(-report.thread_count // 32)))
    for block, runs, warps in zip(machine.blocks, machine.runs, machine.warps):
        if not runs:
            continue
        who = warps or everyone
        share = len(who) / len(everyone)
        own = Turns(turns.sharing and max(turns.sharing * share, 1), turns.wavefronts * share)
        each = runs / report.block_count / len(who)
        cycles = each * _cycles(block, of, far, barrier, own)
        for warp in who:
            found[warp] += cycles
    return found


def _copies(report, of, chain):
    """Cycles that a block waits for bulk copies beyond its chain's. A place in shared memory
    is taken from when its copy begins until what came is used, and then the next copy begins."""
    caches, expected = report.caches, report.machine.opcodes.get("SYNCS.ARRIVE.TRANS64", 0)
    if not expected:
        return 0
    each = SECTOR * caches.bulk / expected  # bytes that are waited for at once
    stages = max(report.shared_bytes // each, 1)
    steps = expected / report.block_count
    far = caches.bulk_missed_lines + caches.bulk_late_lines
    missed = min(1, each / 128 * far / caches.bulk_lines)
    latency = of.box[0] + each * of.box[1] + missed * (of.latency["dram"] - of.latency["l2"])
    return max(steps / stages * latency + chain / stages - chain, 0)


QUARTERS = 4  # of a multiprocessor, each with pipes of its own
GLOBAL_LOADS = "LDG", "ATOM", "ATOMG"
LOADS = *GLOBAL_LOADS, "LD", "LDS", "LDSM", "ATOMS"
COPIES = "UTMALDG", "UTMASTG", "UTMAREDG", "UBLKCP", "UBLKRED"  # in bulk
GROUP_PRODUCTS = "HGMMA", "QGMMA", "IGMMA", "BGMMA"  # of warpgroups: they go on meanwhile
BRANCHES = "BRA", "BSYNC", "EXIT", "BREAK", "CALL", "RET"
PREDICATES = *(f"P{n}" for n in range(8)), "UP"
KINDS = {"SYNCS": "signal", "LDS": "shared", "LD": "shared", "LDL": "l1", "ATOMS": "shared",
         "SHFL": "shuffle", "VOTE": "ballot", "VOTEU": "ballot",
         "REDUX": "redux", "LDC": "shared", "S2R": "shared", "S2UR": "shared",
         "LDSM": "matrices"}  # fmt: skip


def _cycles(block, of, far, barrier, turns):
    """Cycles of one warp alone in a block of code; of a loop of products, once it is under way."""
    walk = _Walk(of, far, barrier, turns)
    kept = [
        m.keeps for m in block.instructions if m.base == "DEPBAR" or _pipe(m.opcode) == "tensor"
    ]
    turns = 2 + max(kept) if kept and block.is_loop else 1
    begun = 0.0
    for _ in range(turns):
        begun = walk.now
        walk.through(block)
    return walk.now - begun


class _Walk:
    """Of one warp through instructions in order, each when what it reads is there. Loads that are
    under way together wait once, for the farthest of them; copies to shared memory by group."""

    def __init__(self, of, far, barrier, turns):
        self.of, self.far, self.barrier, self.turns = of, far, barrier, turns
        self.shared = 0.0  # when shared memory has nothing left to do
        self.now = 0.0
        self.ready: dict[str, float] = {}
        self.guards: dict[str, float] = {}  # when predicates may guard
        self.groups: list[set] = []  # of copies, those that were closed
        self.copies: set[tuple[int, float, int]] = set()
        self.multiplied = 0.0  # when the warpgroup's products so far are made
        self.ends: list[float] = []  # of groups of these

    def through(self, block):
        loads: dict[str, tuple[int, float, int]] = {}
        for m in block.instructions:
            waits = {loads.pop(name) for name in (*m.reads, *m.writes) if name in loads}
            if waits:
                self._wait(set(loads.values()) | waits)
                loads.clear()
            self.now = max([self.now, *(self.ready.get(name, 0) for name in m.reads)])
            self.now = max(self.now, self.guards.get(m.predicate.lstrip("@!"), 0)) + 1
            set_here = [name for name in m.writes if name[:2] in PREDICATES]
            self.guards |= dict.fromkeys(set_here, self.now - 1 + GUARD)
            if m.base in self.far.loads:
                loads |= dict.fromkeys(m.writes, (m.line, self.now, len(loads)))
            elif m.base == "BAR":
                self.now += self.barrier
            elif m.base in BRANCHES:
                self.now += BRANCH - 1
            elif m.base in COPIES:
                self.now += self.of.latency["copy"] - 1
            elif m.base == "MEMBAR":
                self.now += self.of.latency.get("fence", 0)
            elif m.base in GROUP_PRODUCTS:
                self._multiply(m)
            elif m.opcode == "WARPGROUP.DEPBAR.LE":
                come = self.ends[: len(self.ends) - m.keeps]
                del self.ends[: len(come)]
                self.now = max([self.now, *come])
            elif not self._is_of_copies(m):
                self.ready |= dict.fromkeys(m.writes, self.now + self._latency(m))
        if loads:
            self._wait(set(loads.values()))

    def _wait(self, loads):
        self.now = max(self.now, _arrival(loads, self.of, self.far))

    def _multiply(self, m):
        """A product of a warpgroup, which others follow before it is made."""
        latency, cycles = self.of.product(m.opcode)[:2]
        own = QUARTERS * cycles
        self.multiplied = max(self.now, self.multiplied) + own * self.turns.sharing
        if m.closes:
            self.ends.append(self.multiplied + latency - own)

    def _latency(self, m):
        """Cycles until what an instruction writes is there; a product first has its turn."""
        if _pipe(m.opcode) == "tensor":
            latency, cycles = self.of.product(m.opcode)[:2]
            self.now += max(QUARTERS * cycles * self.turns.sharing - 1, 0)
            return latency
        if m.base in ("LDS", "LDSM", "LD"):
            self.shared = max(self.shared, self.now) + self.turns.wavefronts
            return max(self.shared - self.now, 0) + self.of.latency.get(
                KINDS[m.base], self.of.latency["shared"]
            )
        kind = KINDS.get(m.base) or _pipe(m.opcode)
        return self.of.latency.get(kind, self.of.latency["alu"])

    def _is_of_copies(self, m):
        """Begins a copy, closes a group of them, or waits for all groups but the last few."""
        if m.base == "LDGSTS":
            self.copies.add((m.line, self.now, len(self.copies)))
        elif m.base == "LDGDEPBAR":
            self.groups.append(self.copies)
            self.copies = set()
        elif m.base == "DEPBAR":
            come = self.groups[: len(self.groups) - m.keeps]
            del self.groups[: len(come)]
            if loads := set().union(*come):
                self._wait(loads)
        else:
            return False
        return True


def _arrival(loads, of, far):
    """When the last of several loads is there: with so many, one more likely comes from afar."""
    begun = max(at for _, at, _ in loads)
    near, l2, dram = (of.latency[level] for level in ("l1", "l2", "dram"))
    past_l1, past_l2 = far.past(line for line, _, _ in loads)
    return begun + near + past_l1 * (l2 - near) + past_l2 * (dram - l2)


def _between(share: float, a: float, b: float) -> float:
    return a + share * (b - a)


def _interpolated(table: dict[int, float], at: float) -> float:
    """A table's value between its keys, both on logarithmic scales."""
    keys = sorted(table)
    at = min(max(at, keys[0]), keys[-1])
    low = max(k for k in keys if k <= at)
    high = min(k for k in keys if k >= at)
    if low == high:
        return table[low]
    share = log(at / low) / log(high / low)
    return table[low] * (table[high] / table[low]) ** share
