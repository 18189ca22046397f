"""What an exercise's `judge.py` says: `JUDGE = Judge(...)`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from functools import cache
from numbers import Integral, Real
from types import UnionType
from typing import Any, ClassVar, Union, get_args, get_origin, get_type_hints

import numpy as np

from .launches import SIZES, Launch, Rate

__all__ = ["Check", "Judge"]

Counts = dict[str, int | tuple[int, int]]


class Check:
    """Something more that a judge looks at. Most have one of these methods."""

    launches: ClassVar[int] = 0  # of its own, which the verdict counts
    needs_text: ClassVar[bool] = False  # it is left out for a kernel whose text is not known

    def before(self, trial: Any) -> None:
        """Before the counted launch."""

    def counted(self, trial: Any, run: Any, reports: list) -> None:
        """After the counted launch: its Run, and a report for each block that was watched."""

    def after(self, trial: Any) -> None:
        """At the end, before what is `far`."""


@dataclass(frozen=True, kw_only=True)
class Judge:
    """How an exercise is judged. Each launch, the counted one too, is run plainly and compared,
    and watched, unless it is `large` or `far`; two are watched without optimisation as well."""

    launch: Callable[..., Launch]
    """`launch(rng, size)`: the launch of a size. It takes the numbers of `choices` by name."""

    sizes: tuple = SIZES
    """The sizes: numbers, or tuples of what a launch needs."""

    drawn: Callable | None = None
    """`drawn(rng)`: more sizes, at random, one beyond ten blocks; numbers get two by default."""

    large: tuple = ()
    """Sizes far outside of those that are drawn: run plainly and compared, not watched."""

    undefined: dict[str, str] = field(default_factory=dict)
    """`{kind: why}`, of `values.KINDS`: what the floats that come in never are, or what `launch`
    itself puts there; for each other kind there is a launch, by `numbers` and its like."""

    far: Callable[..., Launch] | None = None
    """`far(rng)`: a launch on `Far` arrays, for places that 32 bits do not hold. A few pieces of
    them are filled and compared, and a few blocks run; where these leave pieces out, others run,
    too: a kernel may share the work out as it likes."""

    spare: int = 0
    """The threads per block of one more launch, with a block to spare: where the grid is open."""

    choices: tuple[str, ...] = ()
    """The names of numbers that the learner chooses in the text."""

    ours: str | None = None
    """The step of the course that solves it, `reduce/shared.cu`, in place of `solution.cu`."""

    counted: Any
    """The size of the launch that is counted."""

    budget: Counts
    """Counters of the solution: `best`, or `(best, most)`; a hunt may have none, `{}`."""

    limits: dict[str, float | tuple[int] | None] | None = field(default_factory=dict)
    """How many times the solution's counts are allowed, where `costs.FACTORS` don't fit;
    `{counter: (most,)}`: this many; `{counter: None}`: no limit; `None`: `budget` alone."""

    idea: dict[str, tuple[int, str]] = field(default_factory=dict)
    """`{counter: (least, advice)}`: what the counted launch must do, where that is the exercise."""

    shared_bytes: int = 16_384
    """The most shared memory of a block: with more, fewer blocks of 256 fit on a multiprocessor."""

    warps: float | None = None
    """How many times the instructions of an average warp one may do, where all do the same."""

    even: bool = True
    """Whether all blocks have about as much to do."""

    rate: Rate | None = None
    """The TFLOP/s that the clock must predict of the counted launch, made large."""

    without: dict[str, str] = field(default_factory=dict)
    """`{pattern: advice}`: what the kernel's PTX must not contain."""

    may_read: Callable[[Launch], list] | None = None
    """`may_read(launch)`: `[(argument, ranges of elements, advice)]`, what block 0 may read."""

    checks: list[Check] = field(default_factory=list)
    """What else is looked at (helpers/exercises/extra_checks.py, or an exercise's own `Check`)."""

    inputs: Callable | None = None
    """`inputs(launch, place)`: what element `place` of the output is made from, `same_place` for
    most: the verdict shows it for the first wrong element."""

    beside: Callable | None = None
    """`beside(launch, places, got)`: `{name: values}`, more rows of the table of elements around
    the first wrong one, where its inputs have other places."""

    explain: Callable | None = None
    """`explain(launch, out, got)`: what to look at next in a wrong output, where a usual mistake
    shows in its values; or `None`."""

    advice: dict[str, str] = field(default_factory=dict)
    """`{kind of finding or fault, or counter: advice}` in place of the usual one; `time`: no end;
    `clock`: it is too slow."""

    rounding: str | None = None
    """The advice where all that is wrong is off by little, and the usual mistakes do that."""

    padding: float | None = None
    """What counts outside of the input, where that may be expected of an output."""

    seen: Callable | None = None
    """`seen()`: a `Seen` (a picture, and a launch that makes another of it), or a list of them, of
    which the first wrong one counts: the verdict shows both, and what was expected."""

    survivors: dict[str, str] = field(default_factory=dict)
    """`{piece of a changed line: why}`: small changes to the solution that are as good."""

    def __new__(cls, **given: Any) -> "Judge":
        for name in given.keys() - cls.__dataclass_fields__.keys():
            near = get_close_matches(name.lower(), cls.__dataclass_fields__, n=1, cutoff=0)[0]
            raise TypeError(f"Judge has no field {name!r}: did you mean {near!r}?")
        return super().__new__(cls)

    def __post_init__(self) -> None:
        for name, hint in _hints().items():
            if not _fits(value := getattr(self, name), hint):
                wanted = str(hint).replace("typing.", "").replace("collections.abc.", "")
                wanted = hint.__name__ if isinstance(hint, type) else wanted
                raise TypeError(f"Judge: pass {name} as {wanted}, not {value!r}")


@cache
def _hints() -> dict[str, Any]:
    hints = get_type_hints(Judge)
    return {each.name: hints[each.name] for each in fields(Judge)}


def _fits(value: Any, hint: Any) -> bool:
    """Whether a value is of the type of a hint, as far as can be seen without calling it."""
    origin, of = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return any(_fits(value, each) for each in of)
    if hint is Any or origin is Callable or hint is Callable:
        return hint is Any or callable(value)
    if origin is dict:
        return isinstance(value, Mapping) and all(
            _fits(key, of[0]) and _fits(each, of[1]) for key, each in value.items()
        )
    if origin is list or origin is tuple and of[-1] is ...:
        return isinstance(value, origin) and all(_fits(each, of[0]) for each in value)
    if origin is tuple:
        return isinstance(value, tuple) and len(value) == len(of) and all(map(_fits, value, of))
    if hint in (int, float):
        number = Integral if hint is int else Real
        return isinstance(value, number) and not isinstance(value, (bool, np.bool_))
    return isinstance(value, hint)
