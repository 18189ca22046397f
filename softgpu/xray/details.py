"""Counts laid out as `ncu --page details` prints them: the same sections, names and units."""

from html import escape

from .occupancy import limits

__all__ = ["Details"]

SCHEDULERS = 4  # of a multiprocessor
UNITS = {"requests": "", "sectors": "sector", "bytes": "byte", "inst": "inst"}
NOTE = "software GPU; only what xray knows. The times of {} are in report.prediction."


class Details(dict):
    """{metric: value} under Nsight Compute's names; shown, a page of its sections.

    Sections hold what is counted or follows from the launch; one of modelled numbers says so."""

    def __init__(self, report):
        super().__init__(report.counted() | report.modelled())
        self.heading, self.note = _heading(report), NOTE.format(report.chip.words)
        self.sections = _sections(report, self)

    def __repr__(self) -> str:
        lines = [f"  {self.heading}", f"    {self.note}"]
        for title, rows in self.sections.items():
            lines += ["", f"    Section: {title}", *_table(rows)]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        parts = [f"<p>{escape(self.heading)}<br>{self.note}</p>"]
        for title, rows in self.sections.items():
            cells = "".join(
                f"<tr><td {LEFT}>{escape(name)}</td><td>{unit}</td><td>{_number(value)}</td></tr>"
                for name, unit, value in rows
            )
            head = f"<th {LEFT}>Metric Name</th><th>Metric Unit</th><th>Metric Value</th>"
            parts.append(f"<p>Section: {title}</p><table><tr>{head}</tr>{cells}</table>")
        return "".join(parts)


LEFT = "style='text-align:left'"


def _heading(report):
    grid, block = (f"({', '.join(map(str, size))})" for size in (report.grid, report.block))
    return f"{report.kernel} {grid}x{block}, CC 9.0"


def _sections(report, metrics):
    """{title: [(name, unit, value)]}, in ncu's order."""
    counted = report.counted()
    found = {"Command line profiler metrics": _raw(counted)}
    if modelled := {name: value for name, value in metrics.items() if name not in counted}:
        found["Command line profiler metrics (modelled)"] = _raw(modelled)
    if "smsp__inst_executed.sum" in metrics:
        executed = metrics["smsp__inst_executed.sum"]
        per = executed / (SCHEDULERS * report.chip.multiprocessors)
        found["Instruction Statistics (modelled)"] = [
            ("Avg. Executed Instructions Per Scheduler", "inst", per),
            ("Executed Instructions", "inst", executed),
        ]
    found["Launch Statistics"] = _launch(report)
    if report.registers is not None:
        found["Occupancy"] = _occupancy(report)
    return found


def _launch(report):
    rows = [("Block Size", "", report.thread_count), ("Grid Size", "", report.block_count)]
    if report.registers is not None:
        rows.append(("Registers Per Thread", "register/thread", report.registers))
    rows += [
        ("Dynamic Shared Memory Per Block", "byte/block", report.dynamic_shared),
        ("Static Shared Memory Per Block", "byte/block", report.static_shared),
        ("# SMs", "SM", report.chip.multiprocessors),
        ("Threads", "thread", report.block_count * report.thread_count),
    ]
    if report.registers is not None and report.occupancy.blocks:
        seats = report.chip.multiprocessors * report.occupancy.blocks
        rows.append(("Waves Per SM", "", report.block_count / seats))
    return rows


def _occupancy(report):
    """Without the limit of shared memory, which ncu works out for what the driver set apart."""
    shared = report.static_shared + report.dynamic_shared
    most = limits(report.thread_count, report.registers, shared, report.chip)
    rows = [
        (f"Block Limit {name}", "block", most[key])
        for name, key in (
            ("SM", "blocks"),
            ("Registers", "registers"),
            ("Warps", "warps"),
        )
    ]
    warps = report.occupancy.warps
    return [
        *rows,
        ("Theoretical Active Warps per SM", "warp", warps),
        ("Theoretical Occupancy", "%", 100 * report.occupancy.share),
    ]


def _raw(metrics):
    """Metrics under the names that `ncu --metrics` takes, with their units."""
    return [(name, _unit(name), value) for name, value in sorted(metrics.items())]


def _unit(name: str) -> str:
    return next((unit for piece, unit in UNITS.items() if f"_{piece}_" in name), "")


def _table(rows):
    """Lines of a table whose columns are as wide as what is in them."""
    cells = [(name, unit, _number(value)) for name, unit, value in rows]
    cells.insert(0, ("Metric Name", "Metric Unit", "Metric Value"))
    wide = [max(len(row[n]) for row in cells) for n in range(3)]
    rule = " ".join("-" * n for n in wide)
    lines = [f"{a:<{wide[0]}} {b:>{wide[1]}} {c:>{wide[2]}}" for a, b, c in cells]
    return [f"    {line}" for line in (rule, lines[0], rule, *lines[1:], rule)]


def _number(value: float) -> str:
    return f"{value:,.2f}" if isinstance(value, float) else f"{value:,}"
