"""What few exercises ask for besides: `checks=(Repeatable(), ...)` of their Judge."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from statistics import median
from typing import Any, ClassVar

from softgpu.xray.clock import in_words

from .. import sources
from ..words import Kind, Next, Refusal, counter
from . import handed
from .costs import COMMENT
from .instructions import some_path_skips, work_before
from .judges import Check
from .launches import Launch
from .verdict import Count, Refused

__all__ = [
    "Alone",
    "Blocks",
    "Exposed",
    "FETCHED_AHEAD",
    "HandedOver",
    "Meanwhile",
    "OF_ONE_DEVICE",
    "OnEveryPath",
    "Operator",
    "Otherwise",
    "OtherTypes",
    "Pace",
    "PtxHas",
    "Repeatable",
    "TakenAhead",
    "TextHas",
    "USE_SYSTEM",
    "Waits",
]

REPEATS = 2
ALONE_S = 3.0  # for which a block waits that must not go on: about ten million turns
OPERATOR = re.compile(r"^using\s+Op\s*=[^;]*;", re.MULTILINE)
UNCHANGED = r".*\]\s*,\s*(0|-1|(?P<same>\S+)\s*,\s*(?P=same))$"  # what an atomic looks with
ATOMIC = r"(?<![.\w])(atom|red)\."  # bar.red is none
POSTS = rf"\bst\.(volatile|relaxed|release|mmio)\b|{ATOMIC}(?!{UNCHANGED})"
BARRIER = r"\b(bar|barrier)\."
DATA, READS = r"\bst\.global\.(?!volatile|relaxed|release)", r"\bld\.global\.(?!volatile)"
IN_ONE_ORDER = r"\b(membar|fence\.sc)\.sys\b"
OF_ONE_DEVICE = (
    rf"(?P<what>{ATOMIC}(?!shared|\S*\.sys\b)\S*|\b(ld|st)\.\S*\.(cta|cluster|gpu)\b\S*)"
)
LOOKS = rf"\bld\.(volatile|relaxed|acquire|mmio)\b|\batom\.(?={UNCHANGED})"

USE_SYSTEM = (
    "Ranks are devices, and an atomic orders its own device alone, unless its name ends in"
    " `_system` or its scope is `.sys`: use one of these, or a `volatile` pointer."
)

Paths = dict[tuple[str, str], tuple[str, str]]


# --- another text ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Operator(Check):
    """One more launch with this line in place of the text's `using Op = ...;`: what is written for
    one operator alone shows."""

    line: str
    launch: Callable[..., Launch]
    launches: ClassVar[int] = 1
    needs_text: ClassVar[bool] = True

    def before(self, trial: Any) -> None:
        text, lines = OPERATOR.subn(lambda line: self.line, trial.verdict.text)
        if not lines:
            raise Refused("operator", Refusal.NO_OPERATOR(), Next.KEEP_OPERATOR())
        use = Next.USE_OPERATOR()
        trial.try_changed("operator", text, self.launch, "another operator as Op", use)


@dataclass(frozen=True)
class Otherwise(Check):
    """One more launch with other numbers where the text leaves them open, `{"CAUSAL": 1}`: what
    takes them for fixed shows."""

    numbers: dict[str, int]
    launch: Callable[..., Launch]
    launches: ClassVar[int] = 1
    needs_text: ClassVar[bool] = True

    def before(self, trial: Any) -> None:
        what = ", ".join(f"{name} = {value}" for name, value in self.numbers.items())
        try:
            text = sources.text(trial.verdict.text, **self.numbers)
        except TypeError as error:
            raise Refused("choice", Refusal.BECAUSE(why=error), Next.KEEP_CHOICE()) from None
        advice = Next.CHOSEN_OTHERWISE(what=what)
        trial.try_changed("choice", text, self.launch, what, advice)


@dataclass(frozen=True)
class Alone(Check):
    """One more launch, of whose blocks the first alone runs: which does what is asked for."""

    launch: Callable[..., Launch]
    advice: str
    launches: ClassVar[int] = 1

    def before(self, trial: Any) -> None:
        trial.try_other("values", self._first_block, "", self.advice)

    def _first_block(self, rng: Any) -> Launch:
        launch = self.launch(rng)
        what = f"{launch.what}, block 0 alone"
        return replace(launch, blocks=[range(1)], what=what)


class OtherTypes(Check):
    """The text compiles with these types as T, too, as the notebook does."""

    needs_text = True

    def __init__(self, *types: str):
        self.types = types

    def after(self, trial: Any) -> None:
        if not trial.verdict.reasons:
            handed.compile_for_types(trial.exercise, trial.verdict.text, self.types)


@dataclass(frozen=True)
class TextHas(Check):
    """`{pattern: advice}`: what its text must contain, comments aside, if nothing else tells."""

    patterns: dict[str, str]
    needs_text: ClassVar[bool] = True

    def counted(self, trial: Any, run: Any, reports: list) -> None:
        text = COMMENT.sub("", trial.verdict.text)
        for pattern, advice in self.patterns.items():
            if not re.search(pattern, text):
                trial.verdict.refuse("text", Refusal.TEXT_LACKS(), advice)


# --- the compiled kernel --------------------------------------------------------------------------


@dataclass(frozen=True)
class PtxHas(Check):
    """`{pattern: advice}`: what the kernel's PTX must contain."""

    patterns: dict[str, str]

    def counted(self, trial: Any, run: Any, reports: list) -> None:
        for pattern, advice in self.patterns.items():
            if not re.search(pattern, trial.verdict.instructions):
                trial.verdict.refuse("instructions", Refusal.COMPILED_LACKS(), advice, first=True)


@dataclass(frozen=True)
class OnEveryPath(Check):
    """`{(first, last): (pattern, advice)}`: what must lie on every path from one instruction of its
    PTX to another."""

    paths: Paths

    def counted(self, trial: Any, run: Any, reports: list) -> None:
        for (first, last), (what, advice) in self.paths.items():
            if some_path_skips(trial.verdict.instructions, (first, last), what):
                trial.verdict.refuse("instructions", Refusal.PATH_SKIPS(), advice)


@dataclass(frozen=True)
class Meanwhile(Check):
    """`{(first, last): (pattern, advice)}`: what must not lie on one path at least: the result of a
    load is stored after other work."""

    paths: Paths

    def counted(self, trial: Any, run: Any, reports: list) -> None:
        for (first, last), (what, advice) in self.paths.items():
            if not some_path_skips(trial.verdict.instructions, (first, last), what):
                trial.verdict.refuse("instructions", Refusal.NO_MEANWHILE(), advice)


FETCHED_AHEAD = Meanwhile(
    {
        (r"\bld\.global\b|\bcp\.async\b", r"\bfma\b|\bmul(\.rn)?\.f(32|64)\b"): (
            r"\bst\.shared\b",
            "Fetch the next tiles before you multiply these, and put them afterwards: nothing is in"
            " flight while you multiply.",
        )
    }
)


@dataclass(frozen=True)
class TakenAhead(Check):
    """How many multiply-adds most loads from shared memory have, at least, before the first that
    takes their result."""

    least: int
    advice: str

    def counted(self, trial: Any, run: Any, reports: list) -> None:
        found = work_before(trial.verdict.instructions, r"\bld\.shared\b", r"\bfma\b")
        if found and median(found) < self.least:
            trial.verdict.refuse("instructions", Refusal.NO_MEANWHILE(), self.advice)


@dataclass(frozen=True)
class HandedOver(Check):
    """Data and a flag, between devices, with the advice where a fence is missing, by PTX's memory
    model: each path has a release and an acquire, and the flag's accesses are the system's. Fences
    of both sides may instead be sequentially consistent, with barriers where that thread is not the
    one that posts, or waits: their one order has the data first."""

    before_the_flag: str
    after_the_wait: str

    def counted(self, trial: Any, run: Any, reports: list) -> None:
        text = trial.verdict.instructions
        shows, sees = (
            rf"(membar|fence\.\w+|acq_rel|{order})(\.\w+)*\.sys\b"
            for order in ("release", "acquire")
        )
        if found := re.search(OF_ONE_DEVICE, text):
            trial.verdict.refuse("instructions", Refusal.COMPILED_HAS(what=found[0]), USE_SYSTEM)
        if some_path_skips(text, (DATA, POSTS), shows):
            trial.verdict.refuse("instructions", Refusal.PATH_SKIPS(), self.before_the_flag)
        by_order = not (
            some_path_skips(text, (DATA, POSTS), IN_ONE_ORDER)
            or some_path_skips(text, (LOOKS, READS), IN_ONE_ORDER)
            or some_path_skips(text, (LOOKS, BARRIER, r"\bld\.(?!param|shared)"), IN_ONE_ORDER)
        )
        looks = rf"^(?!.*{sees}).*({LOOKS})"
        if not by_order and some_path_skips(text, (looks, rf"{BARRIER}|{READS}"), sees):
            trial.verdict.refuse("instructions", Refusal.PATH_SKIPS(), self.after_the_wait)


# --- the counted launch ---------------------------------------------------------------------------


class Repeatable(Check):
    """The counted launch leaves the same bits with its blocks in other orders."""

    def counted(self, trial: Any, run: Any, reports: list) -> None:
        run.run(by_engine=True)
        left = run.outputs()
        for order in range(REPEATS):
            with trial.target.engine.block_order(trial.verdict.seed + order):
                run.run(by_engine=True)
            if run.outputs() != left:
                text = Refusal.OTHER_BITS(launch=run.launch.what)
                raise Refused("bits", text, Next.REPEATABLE())


@dataclass(frozen=True)
class Blocks(Check):
    """How many blocks it must at least have, where the learner chooses."""

    least: int

    def counted(self, trial: Any, run: Any, reports: list) -> None:
        blocks = run.block_count
        if blocks < self.least:
            text = Refusal.AT_LEAST(what=counter("blocks"), value=blocks, least=self.least)
            trial.verdict.refuse("counters", text, Next.FEW_BLOCKS())


@dataclass(frozen=True)
class Exposed(Check):
    """Bytes of bulk copies that come while nothing else that one has brought is read."""

    ours: int
    most: int
    advice: str

    def counted(self, trial: Any, run: Any, reports: list) -> None:
        if run.exposed_bytes > self.most:
            count = Count("exposed", run.exposed_bytes, self.ours, self.most)
            trial.verdict.refuse("counters", count.text, self.advice)


@dataclass(frozen=True)
class Pace(Check):
    """How many times the time predicted of ours it may take, where loads in flight are the
    exercise."""

    most: float

    def counted(self, trial: Any, run: Any, reports: list) -> None:
        times = trial.verdict.times
        if times and times.yours.us > self.most * times.ours_us:
            yours, ours = map(in_words, (times.yours.us, times.ours_us))
            text = Refusal.LONG(yours=yours, ours=ours, most=self.most)
            trial.verdict.refuse("clock", text, times.yours.limited)


class Waits(Check):
    """Blocks wait for each other: the first of the counted launch, alone, never comes to an end."""

    launches = 1

    def after(self, trial: Any) -> None:
        run = trial.counted()
        run.launch.blocks = [range(1)]
        try:
            with trial.target.engine.time_limit(ALONE_S):
                run.run(by_engine=True)
        except Refused as refused:
            if refused.reason.kind == Kind.TIME:
                trial.verdict.cases += 1
                return
        text = Refusal.WENT_ON(launch=run.launch.what)
        raise Refused("time", text, Next.NO_WAY_OUT(), case=run.launch.heading)
