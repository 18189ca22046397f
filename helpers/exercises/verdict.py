"""What the judge says: a short table, the first case that fails, and what to look at next."""

from dataclasses import dataclass, field
from html import escape

__all__ = ["Count", "Reason", "Refused", "Verdict"]

NAMES = {
    "instructions": "instructions of warps",
    "ld.sectors": "sectors loaded",
    "ld.requests": "requests to load",
    "st.sectors": "sectors stored",
    "st.requests": "requests to store",
    "red.sectors": "sectors of atomics",
    "red.requests": "atomics of warps",
    "atom.sectors": "sectors of atomics that return a value",
    "atom.requests": "atomics of warps that return a value",
    "atomics": "atomics of warps, of both kinds",
    "atomics.sectors": "sectors of atomics, of both kinds",
    "ld.bytes": "bytes a thread loads at a time",
    "st.bytes": "bytes a thread stores at a time",
    "shuffles": "shuffles of warps",
    "votes": "votes of warps",
    "lds.wavefronts": "wavefronts from shared memory",
    "sts.wavefronts": "wavefronts to shared memory",
    "lds.conflicts": "bank conflicts of loads",
    "sts.conflicts": "bank conflicts of stores",
    "atoms.requests": "atomics on shared memory",
    "atoms.wavefronts": "wavefronts of atomics on shared memory",
    "shared": "bytes of shared memory of a block",
    "barriers": "barriers of warps",
    "ldl.sectors": "sectors loaded of local memory",
    "stl.sectors": "sectors stored to local memory",
    "blocks": "blocks",
}
_SECTORS = "xray.profile shows the sectors line by line; xray.draw_access draws a line's."
_BANKS = "xray.draw_banks draws which lanes want the same bank."
_ATOMICS = "Add up more before each atomic."
_LOCAL = "An array whose indices the compiler does not know lies in local memory: unroll its loops."
_LINES = "xray.profile shows the instructions line by line."
ADVICE = {
    "ld": _SECTORS,
    "st": _SECTORS,
    "lds": _BANKS,
    "sts": _BANKS,
    "red": _ATOMICS,
    "atom": _ATOMICS,
    "atomics": _ATOMICS,
    "atoms": _ATOMICS,
    "ldl": _LOCAL,
    "stl": _LOCAL,
    "barriers": "Which of the barriers has nothing to protect?",
}


@dataclass(frozen=True)
class Count:
    """A counter of the launch beside that of our solution, and the most allowed."""

    key: str
    value: int
    best: int
    most: int

    @property
    def name(self):
        return NAMES[self.key]

    @property
    def advice(self):
        return ADVICE.get(self.key.partition(".")[0], _LINES)

    def __str__(self):
        most = f", {self.most:,} at most" if self.most > self.best else ""
        return f"{self.name} {self.value:,}, ours {self.best:,}{most}"


@dataclass(frozen=True)
class Reason:
    """Why a kernel is refused. case: the launch that failed, in full."""

    kind: str  # compiler, name, parameters, sanitizer, time, launch, bounds, inputs, values, ...
    text: str
    advice: str
    case: str = ""

    def __str__(self):
        return f"{self.kind}: {self.text}"


class Refused(Exception):
    """A kernel is refused, and nothing more is tried: for a Reason, given by its words."""

    def __init__(self, *words, case=""):
        self.reason = Reason(*words, case=case)


@dataclass(repr=False)
class Verdict:
    """True for a kernel that passes. is_open: it is the stub as it was."""

    name: str
    title: str
    text: str
    is_open: bool = False
    seed: int | None = None  # of the sizes and values
    said: str = ""  # by the compiler, of what it took
    cases: int = 0  # that passed
    of: int = 0  # as many as there are
    counts: list = field(default_factory=list)
    report: object = None  # xray's, of the launch that was counted
    reasons: list = field(default_factory=list)

    def __bool__(self):
        return not (self.is_open or self.reasons)

    def refuse(self, kind, text, advice, case=""):
        self.reasons.append(Reason(kind, text, advice, case))

    @property
    def state(self):
        return "open" if self.is_open else "tried" if self.reasons else "done"

    @property
    def heading(self):
        says = {
            "open": "open. Write your lines into the cell above, run it, and run this one again",
            "tried": "not yet",
            "done": "done",
        }
        return f"{self.name} {self.title}: {says[self.state]}"

    def rows(self):
        """[(what, value, beside it)] of the table."""
        if self.is_open:
            return []
        launches = f"of {self.of} launches, seed {self.seed}"
        rows = [("right and clean", f"{self.cases}", launches)] if self.of else []
        rows += [(c.name, f"{c.value:,}", f"ours {c.best:,}") for c in self.counts]
        return rows

    @property
    def time(self):
        """What the launch that was counted would take, and what limits it, if it passes."""
        return f"predicted: {self.report.prediction}" if self and self.report else ""

    def __repr__(self):
        lines = [self.heading]
        lines += [f"  {what:<32}{value:>12}   {beside}" for what, value, beside in self.rows()]
        lines += [f"  {self.time}"] * bool(self.time)
        if self.reasons:
            reason = self.reasons[0]
            lines += [f"  {r}" for r in self.reasons]
            lines += [f"    {line}" for line in reason.case.splitlines()]
            lines.append(f"  Next: {reason.advice}")
        lines += [f"  {line}" for line in self.said.splitlines()]
        return "\n".join(lines)

    def _repr_html_(self):
        rows = "".join(
            "<tr>"
            + "".join(f"<td style='text-align:left'>{escape(cell)}</td>" for cell in row)
            + "</tr>"
            for row in self.rows()
        )
        parts = [f"<p><b>{escape(self.heading)}</b></p>", f"<table>{rows}</table>" if rows else ""]
        parts += [f"<p>{escape(self.time)}</p>"] * bool(self.time)
        if self.reasons:
            reason = self.reasons[0]
            parts += [f"<p>{escape(str(r))}</p>" for r in self.reasons]
            parts += [_listing(reason.case)] * bool(reason.case)
            parts.append(f"<p>Next: {escape(reason.advice)}</p>")
        parts += [_listing(self.said)] * bool(self.said)
        return "".join(parts)


def _listing(text):
    """Lines as HTML: JupyterLab would break them inside words."""
    return f"<pre style='word-break:normal'>{escape(text)}</pre>"
