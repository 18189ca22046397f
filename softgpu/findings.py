"""The findings of a launch that the sanitizer watched."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from .advice import line_name
from .faults import Fault
from .fidelity import Fidelity
from .phrases import Said, joined
from .words import FindingKind, Place, Report

__all__ = ["FOLDED", "Finding", "Findings", "without_repeats"]

FOLDED = " \n"  # JupyterLab shows no more of HTML that begins with it while the output is folded


@dataclass(frozen=True)
class Finding:
    """One thing that a kernel does wrong at a line, or between two lines.

    Threads and blocks are the first occurrence's; for races and the like, other_... is the other
    side, and other_line may be the same line."""

    kind: FindingKind
    kernel: str
    file: str
    line: int
    message: Said
    advice: Said
    count: int
    block: tuple[int, int, int]
    thread: tuple[int, int, int]
    place: Said | str = ""  # the memory: "argument 1, byte 4096 (one past the end of 4096)"
    source: str = ""  # the line's text
    other_file: str = ""
    other_line: int | None = None
    other_block: tuple[int, int, int] | None = None
    other_thread: tuple[int, int, int] | None = None
    other_source: str = ""
    root_file: str = ""  # where a line of a header is at fault: what called it, in the end
    root_line: int | None = None
    root_source: str = ""
    fault: Fault | None = None  # what ended the launch

    @property
    def lines(self) -> tuple[int, ...]:
        """The lines at fault, in order."""
        return tuple(sorted(line for _, line in self.places))

    @property
    def places(self) -> dict[tuple[str, int], str]:
        """The text of the lines at fault by (file, line), in order."""
        both = {(self.file, self.line): self.source}
        if self.other_line is not None:
            both.setdefault((self.other_file, self.other_line), self.other_source)
        return dict(sorted(both.items()))

    @property
    def _called_at(self):
        return [((self.root_file, self.root_line), self.root_source)] if self.root_line else []

    @property
    def text(self) -> Said:
        """What happened where, without what to do about it."""
        line = Place.LINE(number=self.line) if self.line else Place.UNKNOWN_LINE()
        where = f"{self.file}:{self.line}" if self.file else line
        if self.root_line:
            where = Place.CALLED_AT(line=where, caller=f"{self.root_file}:{self.root_line}")
        times = Report.TIMES(count=self.count) if self.count > 1 else ""
        what = {"kind": self.kind, "where": where, "message": self.message, "times": times}
        lines = [
            f"    {line_name(file, line):>4} | {source}"
            for (file, line), source in [*self.places.items(), *self._called_at]
            if line and source
        ]
        return joined(Report.HEAD(**what), *lines, between="\n")

    def __str__(self):
        return f"{self.text}\n    {self.advice}"


class Findings(list):
    """The findings of one launch, in the order in which they happened."""

    def __init__(
        self,
        kernel: str,
        found=(),
        find_fidelity: Callable[[], Fidelity] | None = None,
        dropped: int = 0,
        lost: bool = False,
        exposed_bytes: int = 0,
    ):
        super().__init__(found)
        self._find_fidelity = find_fidelity
        self.kernel = kernel
        self.dropped = dropped  # occurrences of further findings, which were not kept
        self.lost = lost  # more happened than races could be looked for in
        self.exposed_bytes = exposed_bytes  # of bulk copies that come while nothing else is read

    @property
    def clean(self) -> bool:
        return not self

    def of(self, kind: FindingKind | str) -> Findings:
        """The findings of one kind."""
        return Findings(self.kernel, [f for f in self if f.kind == kind], self._find_fidelity)

    @cached_property
    def fidelity(self) -> Fidelity:
        """Which of the kernel's instructions, run or not, give a GPU's bits."""
        if self._find_fidelity is None:
            raise LookupError(f"{self.kernel}: these findings are of no launch")
        return self._find_fidelity()

    @property
    def more(self) -> list[Said]:
        """What else is to be said."""
        more = [Report.MORE(dropped=self.dropped)] if self.dropped else []
        return more + [Report.LOST()] * self.lost

    def __str__(self):
        head = {0: Report.CLEAN, 1: Report.FOUND_ONE}.get(len(self), Report.FOUND)
        found = [f"{n}. {f}" for n, f in enumerate(self, 1)]
        return "\n".join([head(kernel=self.kernel, count=len(self)), *found, *self.more])

    __repr__ = __str__


def without_repeats(found: list[Finding]) -> list[Finding]:
    """Without what a race at the same lines says already, and reads that come too early by one."""
    race, uninitialised = FindingKind.RACE, FindingKind.UNINITIALISED
    told = (FindingKind.MISSING_SYNCWARP, FindingKind.DOUBLE_WRITE)
    races = [f.places for f in found if f.kind == race]
    pairs = [f.places for f in found if f.kind in (race, told[0]) and len(f.places) > 1]
    early = {place for places in pairs for place in places}
    return [
        f
        for f in found
        if not (f.kind in told and f.places in races)
        and not (f.kind == uninitialised and f.place and (f.file, f.line) in early)
    ]
