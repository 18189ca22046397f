"""Exercises: a statement, a stub, hints, a solution and a judge each.

>>> from helpers import exercises
>>> print(exercises.stub("03.padding"))
>>> exercises.judge("03.padding", kernel_or_text)   # a verdict: true or false, with reasons

`python -m helpers.exercises` lists them with what you have done; with `grade FOLDER` it judges what
learners handed in, for teachers: a CSV."""

from typing import TYPE_CHECKING, Any

from ..words import Shown
from . import progress, texts
from .progress import course_map as map
from .progress import mine
from .steps import use
from .texts import names

if TYPE_CHECKING:
    from softgpu.xray import ShownFindings

    from .verdict import Verdict

__all__ = [
    "check",
    "hints",
    "judge",
    "map",
    "mine",
    "names",
    "solution",
    "statement",
    "stub",
    "use",
]


def statement(name: str) -> str:
    """What an exercise asks, in Markdown."""
    return texts.find(name).statement


def hints(name: str) -> list[str]:
    """Its hints, each giving a little more."""
    return texts.find(name).hints


def stub(name: str) -> str:
    """Where to begin: a CUDA text that compiles."""
    return texts.find(name).stub


def solution(name: str) -> str:
    """A CUDA text that passes, with the counters that others are compared with."""
    return texts.find(name).solution


def judge(name: str, kernel: Any, seed: int | None = None) -> "Verdict":
    """The verdict on a kernel or a CUDA text: true if it passes; .reasons say why not.

    seed: of its sizes and values; by default your own, so the same kernel gets the same verdict."""
    from .judging import judge as judged

    verdict = judged(texts.find(name), kernel, seed)
    progress.keep(verdict)
    if verdict:
        verdict.score = Shown.SCORE(score=progress.score())
    return verdict


def watch(name: str, kernel: Any, seed: int | None = None) -> "ShownFindings":
    """The sanitizer's report on the smallest of the judge's launches that has any."""
    from .judging import watch as watched

    return watched(texts.find(name), kernel, seed)


def check(name: str, kernel: Any, seed: int | None = None) -> None:
    """As judge, for graders: raises AssertionError, with the verdict, if it does not pass."""
    from .judging import judge as judged

    verdict = judged(texts.find(name), kernel, seed)
    if not verdict:
        raise AssertionError(str(verdict))
