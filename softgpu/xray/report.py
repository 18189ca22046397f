"""What a profiled launch did: totals, a listing of the source with counts, comparisons."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from math import isnan
from pathlib import Path

import numpy as np

from ..advice import line_name
from ..fidelity import Fidelity
from ..ptx.program import SourceLine
from ..sass import Refused
from ..words import Place
from .chip import Chip, chip
from .clock import SAID, Prediction, predict
from .details import Details
from .hardware import Caches, MachineRuns
from .occupancy import Occupancy

__all__ = ["Comparison", "Report", "compare"]

TENSOR = ("hmma", "imma", "dmma")  # what a tensor pipe multiplies: floats, integers, doubles
GLOBAL = {"ld": "loads", "st": "stores", "red": "reductions", "atom": "atomics"}
SHARED = {"lds": "loads", "sts": "stores"}
LOCAL = {"ldl": "loads", "stl": "stores"}
HOT = 0.2  # a line with this share of the launch is marked


def _ratio(a: float, b: float) -> float:
    return a / b if b else 0.0


def _short(value: float) -> str:
    """A number as short as it stays readable."""
    return f"{value:,.1f}".removesuffix(".0") if isinstance(value, float) else f"{value:,}"


def _s(count, what):
    """A noun in the number that goes with a count."""
    return what if str(count) == "1" else f"{what}s"


def _bytes(count: float) -> str:
    for unit in ("B", "KiB", "MiB"):
        if count < 1024:
            return f"{_short(float(count))} {unit}"
        count /= 1024
    return f"{_short(float(count))} GiB"


@dataclass(repr=False)
class Report:
    """One launch. Instructions are PTX's; memory counts are Nsight Compute's on an H200.

    `lines`: {(file, line): counts}; counts are Counters with keys such as "ld.sectors" (global
    loads), "ld.polls" (of these, those that wait for others), "st.fences" (sectors that fences of
    the system count as), "sts.wavefronts" (shared stores),
    "ldl.requests" (local loads), "instructions" (of warps), "lanes" (thread instructions),
    "shuffles", "votes", "barriers", "waits", "hmma" (machine instructions of that pipe).
    `callers`: {(file, line): the lines that called it, in the end}, of functions in other files.
    `arrays`: per allocation the distinct 32-byte sectors read and written. The rest is for
    draw.py."""

    kernel: str
    grid: tuple
    block: tuple
    static_shared: int
    dynamic_shared: int
    registers: int | None
    occupancy: Occupancy
    source_line: SourceLine  # where the kernel begins
    lines: dict
    texts: dict
    callers: dict
    arrays: np.ndarray
    sites: list
    blocks: list
    events: np.ndarray
    samples: np.ndarray
    incomplete: bool
    find_machine: Callable[[], MachineRuns]  # or sass.Refused
    find_fidelity: Callable[[], Fidelity]
    caches: Caches | None = None
    waves: tuple[float, float] | None = None  # hardware.waves
    chip: Chip = field(default_factory=chip)  # whose time is predicted
    _read: dict = field(default_factory=dict)

    @cached_property
    def total(self):
        """Counts of the whole launch."""
        return sum(self.lines.values(), Counter())

    def __getitem__(self, line):
        """Counts of one source line, by number or by a piece of its text."""
        return self.lines.get(self.place(line), Counter())

    def nsight(self):
        """Totals under the names that Nsight Compute has for them, laid out like its details."""
        return Details(self)

    def counted(self) -> dict[str, int]:
        """The totals that are counted, not modelled."""
        unit = "l1tex__t_{}_pipe_lsu_mem_global_op_{}.sum"
        names = {
            unit.format(what, op): f"{op}.{what}"
            for what in ("requests", "sectors")
            for op in GLOBAL
        }
        for what, key in (
            ("pipe_lsu_wavefronts", "wavefronts"),
            ("bank_conflicts_pipe_lsu", "conflicts"),
        ):
            for op in ("ld", "st"):
                names[f"l1tex__data_{what}_mem_shared_op_{op}.sum"] = f"{op}s.{key}"
        for pipe in filter(self.total.get, TENSOR):
            names[f"sm__inst_executed_pipe_tensor_op_{pipe}.sum"] = pipe
        return {name: self.total[key] for name, key in names.items()}

    def modelled(self) -> dict[str, int]:
        """What is modelled, not counted: machine instructions and what the caches did."""
        found = {}
        if self.machine:
            found["smsp__inst_executed.sum"] = round(self.machine.executed)
        if self.caches:
            for way, short in (("read", "reads"), ("write", "writes")):
                found[f"dram__bytes_{way}.sum"] = 32 * getattr(self.caches, f"dram_{short}")
                found[f"lts__t_sectors_op_{way}.sum"] = getattr(self.caches, f"l2_{short}")
        return found

    def as_dict(self) -> dict:
        """What JSON can hold of it; counts have the names that `lines` has."""
        return {
            "kernel": self.kernel,
            "grid": self.grid,
            "block": self.block,
            "shared_bytes": self.shared_bytes,
            "registers": self.registers,
            "occupancy": self.occupancy.share,
            "chip": self.chip.name,
            "predicted_us": None if isnan(self.predicted_us) else self.predicted_us,
            "fidelity": self.fidelity.as_dict(),
            "total": self.total,
            "lines": [
                {"file": file, "line": line, "source": self.source(file).get(line, ""), **+counts}
                for (file, line), counts in sorted(self.lines.items())
            ],
        }

    @property
    def machine(self) -> MachineRuns | None:
        """The kernel's machine code and how often it ran: hardware.MachineRuns, or None."""
        return None if isinstance(self._machine, Refused) else self._machine

    @property
    def machine_unknown(self) -> str:
        """Why there is no machine code; "" where there is."""
        return str(self._machine) if isinstance(self._machine, Refused) else ""

    @cached_property
    def _machine(self) -> MachineRuns | Refused:
        try:
            return self.find_machine()
        except Refused as why:
            return why

    @cached_property
    def fidelity(self) -> Fidelity:
        """Which of the executed instructions give a GPU's bits."""
        return self.find_fidelity()

    @property
    def block_count(self) -> int:
        return int(np.prod(self.grid))

    @property
    def thread_count(self) -> int:
        """Of a block."""
        return int(np.prod(self.block))

    @property
    def warp_count(self) -> int:
        """Of the launch."""
        return self.block_count * -(-self.thread_count // 32)

    @property
    def shared_bytes(self) -> int:
        """Of a block."""
        return self.static_shared + self.dynamic_shared

    @cached_property
    def prediction(self) -> Prediction:
        """What the launch would take on `chip`: clock.py."""
        return predict(self)

    @property
    def predicted_us(self) -> float:
        """Microseconds on `chip`, as bench.time_us measures them; NaN where that is unknown."""
        return self.prediction.us

    @property
    def limits(self) -> dict[str, float]:
        """{resource: microseconds that it alone would need}."""
        return self.prediction.limits

    @property
    def touched_bytes(self):
        """(read, written): 32 bytes for each distinct sector, the least that DRAM must move."""
        return tuple(32 * int(self.arrays[way].sum()) for way in ("read", "written"))

    @property
    def watched_instructions(self) -> np.ndarray:
        """PTX instructions that each warp of the watched block did."""
        lengths = np.array([sum(count for *_, count in lines) for lines in self.blocks])
        steps = self.events[self.events["what"] >> 31 == 0]  # the others are barriers
        warps = -(-int(np.prod(self.block)) // 32)
        return np.bincount(steps["warp"], lengths[steps["what"]], warps).astype(int)

    # --- source -----------------------------------------------------------------------------

    def source(self, file: str) -> dict[int, str]:
        """{line: text} of a file."""
        if file not in self._read:
            if file in self.texts:
                found = self.texts[file]
            elif Path(file).is_file():
                text = Path(file).read_text(errors="replace")
                found = dict(enumerate(text.splitlines(), 1))
            else:
                found = self.texts.get("", {})
            self._read[file] = found
        return self._read[file]

    @property
    def files(self) -> list[str]:
        """Files with counted lines, the kernel's own first, then by instructions."""
        per_file: Counter[str] = Counter()
        for (file, _), counts in self.lines.items():
            per_file[file] += counts["instructions"]
        return sorted(per_file, key=lambda f: (f != self.source_line.file, -per_file[f]))

    def place(self, line):
        """(file, line) of a line given by its number or by a piece of its text."""
        if isinstance(line, tuple):
            return line
        known = sorted(self.lines, key=lambda place: (self.files.index(place[0]), place[1]))
        if isinstance(line, str):
            found = [p for p in known if line in self.source(p[0]).get(p[1], "")]
            if not found:
                raise LookupError(f"no line of {self.kernel} that did anything contains {line!r}")
            return found[0]
        found = [place for place in known if place[1] == line]
        if not found:
            did = ", ".join(sorted({str(p[1]) for p in known if p[0] == self.files[0]}, key=int))
            raise LookupError(f"nothing happened on line {line} of {self.kernel}; lines {did} did")
        return found[0]

    def named(self, place: tuple[str, int]) -> str:
        """A line's name, "line 12" or "tensor.cuh:51, called at line 12"."""
        name, callers = line_name(*place), self._callers(place)
        name = name if ":" in name else Place.LINE(number=name)
        return Place.CALLED_AT(line=name, caller=callers) if callers else name

    # --- tables -----------------------------------------------------------------------------

    @property
    def heading(self) -> str:
        """One line: what was launched."""
        blocks, threads = ("x".join(map(str, _trimmed(s))) for s in (self.grid, self.block))
        sizes = f"{blocks} {_s(blocks, 'block')} of {threads} {_s(threads, 'thread')}"
        text = f"{self.kernel}: {sizes}"
        if shared := self.shared_bytes:
            text += f", {shared:,} bytes of shared memory per block"
        return text if self.chip == chip() else f"{text}; on {self.chip.words}"

    def summary(self):
        """[(what, value, details)] of the launch, without what it did not do."""
        t = self.total
        rows = [("PTX instructions", t["instructions"], f"by warps; {t['lanes']:,} by threads")]
        rows.append(("active lanes", f"{_ratio(t['lanes'], 32 * t['instructions']):.0%}", ""))
        for key, name in GLOBAL.items():
            if t[f"{key}.requests"]:
                rows.append((f"global {name}", t[f"{key}.sectors"], _global(t, key)))
        for key, name in SHARED.items():
            if t[f"{key}.wavefronts"]:
                rows.append((f"shared {name}", t[f"{key}.wavefronts"], _shared(t, key)))
        if t["atoms.requests"]:
            rows.append(("shared atomics", t["atoms.requests"], _s(t["atoms.requests"], "request")))
        for key, name in LOCAL.items():
            if t[f"{key}.requests"]:
                sectors, requests = t[f"{key}.sectors"], t[f"{key}.requests"]
                details = f"{_s(sectors, 'sector')}, {requests:,} {_s(requests, 'request')}"
                rows.append((f"local {name}", sectors, details))
        if products := sum(t[pipe] for pipe in TENSOR):
            rows.append(("tensor cores", products, _s(products, "machine instruction")))
        if t["barriers"]:
            rows.append(("barriers", t["barriers"], _barriers(t)))
        read, written = self.touched_bytes
        if read + written:
            rows.append(
                (
                    "memory touched",
                    _bytes(read + written),
                    f"{_bytes(read)} read, {_bytes(written)} written: the least for DRAM",
                )
            )
        if self.registers is not None:
            o = self.occupancy
            rows.append(("registers", self.registers, "per thread"))
            rows.append(
                (
                    "occupancy",
                    f"{o.share:.0%}",
                    f"{o.blocks} {_s(o.blocks, 'block')}, {o.warps} of 64 warps;"
                    f" limited by {o.limit}",
                )
            )
        rows.append(("predicted time", self.prediction.time, self.prediction.limited))
        return rows

    def __repr__(self) -> str:
        rows = [(what, _cell(value), details) for what, value, details in self.summary()]
        lines = [self.heading, *(f"{a:<18}{b:>14}  {c}".rstrip() for a, b, c in rows), ""]
        columns = self._columns()
        lines.append("  line" + "".join(f"{c.title:>{c.width}}" for c in columns) + "  source")
        for file in self.files:
            if len(self.files) > 1:
                lines.append(f"{Path(file).name}:")
            for place in sorted(p for p in self.lines if p[0] == file):
                cells = "".join(f"{c.text(self.lines[place]):>{c.width}}" for c in columns)
                hot = "*" if any(c.heat(self.lines[place]) >= HOT for c in columns) else " "
                text = self.source(file).get(place[1], "").strip()
                callers = self._callers(place)
                called = f"  (from {callers})" if callers else ""
                line = f"{hot}{place[1]:>5}{cells}  {text}"[: 120 - len(called)]
                lines.append(line + called)
        return "\n".join(lines)

    def _callers(self, place: tuple[str, int]) -> str:
        """ "lines 12, 15": what called a line of another file; "" of the kernel's own."""
        callers = [line_name(*caller) for caller in self.callers.get(place, ())]
        return f"{_s(len(callers), 'line')} {', '.join(callers)}" if callers else ""

    def _columns(self):
        t = self.total

        def summed(title, keys, what, details, *width):
            return Column(
                title, _all(t, keys, what), lambda n: _all(n, keys, what), details, *width
            )

        columns = [
            Column("PTX instr.", t["instructions"], lambda n: n["instructions"], _lanes),
            Column("lanes", 0, lambda n: n["instructions"] and _lanes(n), str, 6),
        ]
        if any(t[f"{key}.requests"] for key in GLOBAL):
            columns.append(summed("sectors", GLOBAL, "sectors", _all_global))
            columns.append(Column("/request", 0, _sectors_a_request, str, 9))
        if any(t[f"{key}.wavefronts"] for key in SHARED):
            columns.append(summed("wavefronts", SHARED, "wavefronts", _all_shared))
            columns.append(summed("conflicts", SHARED, "conflicts", _all_shared))
        if t["atoms.requests"]:
            columns.append(summed("shared atomics", ["atoms"], "requests", str, 16))
        if any(t[f"{key}.requests"] for key in LOCAL):
            columns.append(summed("local sectors", LOCAL, "sectors", str, 15))
        if t["waits"]:
            columns.append(
                Column(
                    "waiting",
                    0,
                    lambda n: n["barriers"] and f"{_ratio(n['waits'], n['barriers']):.0%}",
                    _barriers,
                    9,
                )
            )
        return columns

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th {LEFT}>{escape(what)}</th><td>{_cell(value)}</td>"
            f"<td {LEFT}>{escape(details)}</td></tr>"
            for what, value, details in self.summary()
        )
        listings = "".join(self._listing(file) for file in self.files)
        return (
            f'<div class="xray">{STYLE}<p>{escape(self.heading)}</p>'
            f'<table class="xray-sum">{rows}</table>{listings}</div>'
        )

    def _listing(self, file: str) -> str:
        """The lines of a file around those that did something, with their counts."""
        text = self.source(file)
        counted = sorted(line for f, line in self.lines if f == file)
        main = file == self.files[0]
        around = 2 if main else 1
        shown = {n for line in counted for n in range(line - around, line + around + 1)}
        if main:
            shown |= set(range(counted[0], counted[-1]))
        columns = self._columns()
        head = "".join(f"<th>{escape(c.title)}</th>" for c in columns)
        rows, last = [], None
        for line in sorted(shown & (set(text) | set(counted))):
            if last is not None and line > last + 1:
                rows.append(f'<tr><td colspan="{len(columns) + 2}">⋮</td></tr>')
            last = line
            counts = self.lines.get((file, line))
            cells = "".join(c.html(counts) for c in columns)
            callers = self._callers((file, line))
            called = f"  (from {callers})" if callers else ""
            source = escape(text.get(line, "") + called)
            rows.append(
                f'<tr><td>{line}</td>{cells}<td class="src" {LEFT}>'
                f'<pre style="margin:0">{source}</pre></td></tr>'
            )
        return (
            f"<p>{escape(Path(file).name)}</p><table class='xray-src'>"
            f"<tr><th>line</th>{head}<th class='src' {LEFT}>source</th></tr>{''.join(rows)}</table>"
        )


@dataclass
class Column:
    """One kind of number of the listing: a value of a line's counts, and what explains it."""

    title: str
    total: int  # of the launch; 0: no line is hot for its share of this
    value: Callable
    details: Callable
    width: int = 11

    def text(self, counts):
        value = self.value(counts)
        return _cell(value) if value else ""

    def heat(self, counts):
        return _ratio(self.value(counts), self.total) if self.total else 0

    def html(self, counts):
        if not counts:
            return "<td></td>"
        heat, text = self.heat(counts), self.text(counts)
        strong = f"<b>{text}</b>" if heat >= HOT else text
        shade = f' style="background:rgba(217,102,31,{0.5 * heat:.2f})"' if heat >= 0.03 else ""
        title = escape(str(self.details(counts))) if text and self.details is not str else ""
        return f'<td{shade} title="{title}">{strong}</td>'


LEFT = "style='text-align:left'"  # JupyterLab leaves STYLE out until it trusts the notebook
STYLE = """<style>
.xray table { font-variant-numeric: tabular-nums; border-collapse: collapse; margin: 0.3em 0 }
.xray td, .xray th { text-align: right; padding: 1px 9px; background: none; color: inherit;
  border: none; white-space: nowrap }
.xray .xray-sum th { font-weight: normal }
.xray .xray-sum td:last-child { white-space: normal }
.xray .xray-sum td:nth-child(2) { font-weight: bold }
.xray .xray-src { font-size: 88% }
.xray .xray-src td, .xray .xray-src th { padding: 0 5px }
.xray .xray-src tr { border-bottom: 1px solid rgba(128,128,128,0.18); background: none }
.xray .xray-src td:first-child { opacity: 0.6 }
.xray td.src { white-space: normal; width: 100% }
.xray pre { padding: 0; background: none; color: inherit; font-size: 95%;
  white-space: pre-wrap }
</style>"""


def _trimmed(sizes):
    """Sizes without the ones at the end."""
    while len(sizes) > 1 and sizes[-1] == 1:
        sizes = sizes[:-1]
    return sizes


def _cell(value):
    return value if isinstance(value, str) else _short(value)


def _all(counts: Counter, keys: Iterable[str], what: str) -> int:
    return sum(counts[f"{key}.{what}"] for key in keys)


def _lanes(n: Counter) -> str:
    return f"{_ratio(n['lanes'], 32 * n['instructions']):.0%}"


def _sectors_a_request(n):
    requests = _all(n, GLOBAL, "requests")
    return requests and _short(float(_all(n, GLOBAL, "sectors") / requests))


def _global(n: Counter, key: str) -> str:
    requests, sectors, ideal = (n[f"{key}.{what}"] for what in ("requests", "sectors", "ideal"))
    return (
        f"{_s(sectors, 'sector')}, {_short(_ratio(sectors, requests))} for each of"
        f" {requests:,} {_s(requests, 'request')} (ideal {_short(_ratio(ideal, requests))})"
    )


def _shared(n: Counter, key: str) -> str:
    wavefronts, conflicts = n[f"{key}.wavefronts"], n[f"{key}.conflicts"]
    if not conflicts:
        return f"{_s(wavefronts, 'wavefront')}, no bank conflicts"
    return (
        f"{_s(wavefronts, 'wavefront')}, {conflicts:,} of them bank {_s(conflicts, 'conflict')}"
        f" (ideal {wavefronts - conflicts:,})"
    )


def _all_global(n: Counter) -> str:
    return "; ".join(
        f"{name}: {n[f'{key}.sectors']:,} {_global(n, key)}"
        for key, name in GLOBAL.items()
        if n[f"{key}.requests"]
    )


def _all_shared(n: Counter) -> str:
    return "; ".join(
        f"{name}: {n[f'{key}.wavefronts']:,} {_shared(n, key)}"
        for key, name in SHARED.items()
        if n[f"{key}.wavefronts"]
    )


def _barriers(n: Counter) -> str:
    share = _ratio(n["waits"], n["barriers"])
    arrivals = _s(n["barriers"], "arrival")
    return f"{arrivals} of warps; {share:.0%} wait for a warp with more to do"


# --- two launches ---------------------------------------------------------------------------------


class Comparison:
    """Two reports side by side."""

    def __init__(self, a, b):
        self.a, self.b = a, b

    def rows(self):
        """[(what, value of a, value of b)], without what neither did."""

        def both(what, number):
            values = number(self.a), number(self.b)
            return [(what, *values)] if any(v != 0 for v in values) else []

        def count(key):
            return lambda report: report.total[key]

        rows = both("PTX instructions of warps", count("instructions"))
        rows += both("active lanes", lambda r: _lanes(r.total))
        for key, name in GLOBAL.items():
            for what in ("requests", "sectors"):
                rows += both(f"global {name}: {what}", count(f"{key}.{what}"))
            rows += both(
                f"global {name}: sectors per request",
                lambda r, key=key: _ratio(r.total[f"{key}.sectors"], r.total[f"{key}.requests"]),
            )
        for key, name in SHARED.items():
            for what in ("wavefronts", "conflicts"):
                rows += both(f"shared {name}: {what}", count(f"{key}.{what}"))
        rows += both("shared atomics: requests", count("atoms.requests"))
        for key, name in LOCAL.items():
            rows += both(f"local {name}: sectors", count(f"{key}.sectors"))
        rows += both("barriers: arrivals of warps", count("barriers"))
        for index, way in enumerate(("read", "written")):
            rows += both(
                f"memory {way}: least bytes", lambda r, index=index: r.touched_bytes[index]
            )
        rows += both("registers", lambda r: r.registers or 0)
        rows += both("occupancy", lambda r: f"{r.occupancy.share:.0%}")
        rows += self._predicted()
        return rows

    def _predicted(self):
        """Rows of the predicted times, and of what either is limited by."""
        limits = self.a.limits, self.b.limits
        if not all(limits):
            return []
        rows = [("predicted µs", self.a.predicted_us, self.b.predicted_us)]
        most = dict.fromkeys(name for each in limits for name in sorted(each, key=each.get)[-2:])
        for name in most:
            rows.append(
                (f"{SAID.get(name, name)} alone, µs", *(each.get(name, 0.0) for each in limits))
            )
        return rows

    def _table(self):
        for what, a, b in self.rows():
            times = "" if isinstance(a, str) or not a or a == b else f"x {b / a:.3g}"
            yield what, _cell(a), _cell(b), times

    def __repr__(self) -> str:
        lines = [f"a = {self.a.heading}", f"b = {self.b.heading}"]
        lines.append(f"{'':<38}{'a':>14}{'b':>14}")
        lines += [
            f"{what:<38}{a:>14}{b:>14}  {times}".rstrip() for what, a, b, times in self._table()
        ]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th {LEFT}>{escape(what)}</th><td>{a}</td><td>{b}</td>"
            f"<td {LEFT}>{times}</td></tr>"
            for what, a, b, times in self._table()
        )
        return (
            f'<div class="xray">{STYLE}<p>a: {escape(self.a.heading)}<br>'
            f'b: {escape(self.b.heading)}</p><table class="xray-sum">'
            f"<tr><th></th><td>a</td><td>b</td><td></td></tr>{rows}</table></div>"
        )


def compare(a, b):
    """Two reports of profile() side by side; the last column is b over a."""
    for report in (a, b):
        if not isinstance(report, Report):
            raise TypeError(f"compare takes two reports of profile(), not {type(report).__name__}")
    return Comparison(a, b)
