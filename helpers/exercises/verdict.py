"""What the judge says: a short table, the first case that fails, and what to look at next."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from html import escape

from softgpu.phrases import Said, joined
from softgpu.xray.report import Report

from .. import badges
from ..language import told
from ..words import Kind, Next, Refusal, Shown, counter

__all__ = ["Count", "Reason", "Refused", "Unwritten", "Verdict"]

ASTRAY = {
    Kind.COMPILER,
    Kind.NAME,
    Kind.PARAMETERS,
    Kind.SANITIZER,
    Kind.TIME,
    Kind.LAUNCH,
    Kind.BOUNDS,
    Kind.INPUTS,
}
ADVICE = {
    "lds": Next.BANKS,
    "sts": Next.BANKS,
    "red": Next.ATOMICS,
    "atom": Next.ATOMICS,
    "atomics": Next.ATOMICS,
    "atoms": Next.ATOMICS,
    "ldl": Next.LOCAL,
    "stl": Next.LOCAL,
    "barriers": Next.BARRIERS,
    "shared": Next.LESS_AT_A_TIME,
}


@dataclass(frozen=True)
class Count:
    """A counter of the launch beside that of our solution, and the most allowed."""

    key: str
    value: int
    best: int
    most: int
    may_exceed: bool = False  # both branches store

    @property
    def name(self):
        return counter(self.key)

    @property
    def advice(self):
        return ADVICE.get(self.key.partition(".")[0], Next.LINES)()

    @property
    def mood(self):
        is_bad = self.value > self.most and not self.may_exceed
        return "bad" if is_bad else "good" if self.value <= self.best else ""

    @property
    def text(self):
        is_room = self.most > self.best
        phrase = Refusal.COUNT_AT_MOST if is_room else Refusal.COUNT
        more = {"most": self.most} if is_room else {}
        return phrase(what=self.name, value=self.value, best=self.best, **more)


@dataclass(frozen=True)
class Reason:
    """Why a kernel is refused. case: the launch that failed, in full; first: its wrong element;
    short: the text without what `first` says as well."""

    kind: Kind
    text: Said
    advice: str  # a Said, or an exercise's own
    case: str = ""
    first: str = ""
    short: str = ""

    def __str__(self):
        return Shown.REASON(kind=self.kind, text=self.text)

    @property
    def code(self):
        """What it is refused for, without its sentences: the kind and the text's code."""
        return f"{self.kind}: {self.text.code}"

    @property
    def beside_first(self):
        """What a verdict says that goes on with `first`."""
        return Shown.REASON(kind=self.kind, text=self.short or self.text)


class Refused(Exception):
    """A kernel is refused, and nothing more is tried: for a Reason, given by its words."""

    def __init__(self, kind, text, advice, case="", first="", short=""):
        self.reason = Reason(Kind(kind), text, advice, case, first, short)

    @property
    def is_rounding(self):
        """Whether all that is wrong is off by little."""
        return self.reason.text.has(Refusal.ROUNDING)


class Unwritten(Refused):
    """All that is wrong are elements that no block has written of those that ran."""


@dataclass(repr=False)
class Verdict:
    """True for a kernel that passes. is_open: it is the stub as it was."""

    name: str
    title: str
    text: str
    is_open: bool = False
    seed: int | None = None  # of the sizes and values
    said: str = ""  # by the compiler, of what it took
    instructions: str = ""  # its PTX
    cases: int = 0  # that passed
    of: int = 0  # as many as there are
    counts: list = field(default_factory=list)
    report: Report | None = None  # xray's, of the launch that was counted
    reasons: list = field(default_factory=list)
    find_times: Callable | None = None  # returns real.Times, of a launch that is large enough
    find_picture: Callable | None = None  # returns what the kernel makes of one, for people to see
    score: str = ""

    def __bool__(self):
        return not (self.is_open or self.reasons)

    def refuse(self, kind, text, advice, first=False):
        """first: before other reasons, which it explains."""
        place = 0 if first else len(self.reasons)
        self.reasons.insert(place, Reason(Kind(kind), text, advice))

    @property
    def state(self):
        return "open" if self.is_open else "tried" if self.reasons else "done"

    @property
    def heading(self):
        return f"{self.name} {self.title}: {'. '.join(self._said)}"

    @property
    def _said(self):
        """Its state in words, and what to do."""
        return {
            "open": (Shown.OPEN(), Shown.WRITE()),
            "tried": (Shown.NOT_YET(),),
            "done": (Shown.DONE(),),
        }[self.state]

    def _heading(self, badge):
        mood = {"open": "open", "tried": "bad", "done": "good"}[self.state]
        word, *more = map(told, self._said)
        name = badge(f"{self.name} {told(self.title)}:", "")
        return f"{name} {badge(word, mood)}{badge(''.join(f'. {text}' for text in more), '')}"

    def rows(self):
        """[(what, value, beside it)] of the table."""
        return [row for row, _ in self._rows()]

    def _rows(self):
        """The same, each with its mood."""
        if self.is_open:
            return
        if self.of:
            launches = Shown.LAUNCHES(launches=self.of, seed=self.seed)
            mood = "good" if self.cases == self.of else ""
            yield (told(Shown.RIGHT()), f"{self.cases}", told(launches)), mood
        for c in self.counts:
            yield (told(c.name), f"{c.value:,}", told(Shown.OURS(best=c.best))), c.mood

    @property
    def time(self):
        """What a launch of a size that matters would take, and what limits it, if it passes."""
        if not (self and self.report):
            return ""
        return Shown.PREDICTED(times=(self.times or self.report.prediction).text)

    @cached_property
    def times(self):
        """real.Times, or None where there is no prediction."""
        return self.find_times() if self.find_times else None

    @cached_property
    def picture(self):
        """What it makes of a picture, or None: where a launch went astray, there is no other."""
        if self.find_picture and not any(r.kind in ASTRAY for r in self.reasons):
            return self.find_picture()
        return None

    def _after(self):
        """What follows the table: lines."""
        return told(joined(self.time, self.score, between="\n")).splitlines()

    def __repr__(self):
        lines = [self._heading(badges.plain)]
        for (what, value, beside), mood in self._rows():
            lines.append(f"  {what:<32}{badges.plain(f'{value:>12}', mood)}   {beside}")
        lines += [f"  {line}" for line in self._after()]
        if self.reasons:
            reason = self.reasons[0]
            lines += [f"  {told(r.beside_first)}" for r in self.reasons]
            lines += [f"  {badges.plain(told(reason.first), 'bad')}"] * bool(reason.first)
            lines += [f"    {line}" for line in told(reason.case).splitlines()]
            lines.append(f"  {told(Shown.NEXT(advice=reason.advice))}")
        lines += [f"  {line}" for line in self.said.splitlines()]
        return "\n".join(lines)

    def _repr_html_(self):
        left = "<td style='text-align:left'>"
        rows = "".join(
            f"<tr>{left}{escape(what)}</td>{left}{badges.html(value, mood)}</td>"
            f"{left}{escape(beside)}</td></tr>"
            for (what, value, beside), mood in self._rows()
        )
        parts = [f"<p><b>{self._heading(badges.html)}</b></p>"]
        parts += [f"<table>{rows}</table>"] * bool(rows)
        parts += [f"<p>{escape(line)}</p>" for line in self._after()]
        if self.picture:
            parts.append(self.picture._repr_html_())
        if self.reasons:
            reason = self.reasons[0]
            for r in self.reasons:
                first, _, rest = told(r.beside_first).partition("\n")
                parts += [f"<p>{escape(first)}</p>", *[_listing(rest)] * bool(rest)]
            parts += [f"<p>{badges.html(told(reason.first), 'bad')}</p>"] * bool(reason.first)
            parts += [_listing(told(reason.case))] * bool(reason.case)
            parts.append(f"<p>{escape(told(Shown.NEXT(advice=reason.advice)))}</p>")
        parts += [_listing(self.said)] * bool(self.said)
        return "".join(parts)


def _listing(text):
    """Lines as HTML: JupyterLab would break them inside words."""
    return f"<pre style='word-break:normal'>{escape(text)}</pre>"
