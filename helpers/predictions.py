"""A place to answer before a measurement, and what an answer that is off was probably thinking of.

A notebook asks in its prose, has a cell `answer = None`, and ends the cell that measures with
predict("00.past_the_end", answer, measured). What is right and why, and the answers that people
give for a reason, stand in notebooks/predictions. None of it is on screen before there is an
answer, or somebody asks for it by `answer = "show"`."""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

from . import badges
from .language import told
from .words import Answer, Shown

__all__ = ["ComparedAnswer", "find", "names", "predict", "said"]

ROOT = Path(__file__).resolve().parent.parent / "notebooks" / "predictions"
SHOW = "show"


@cache
def _all() -> dict[str, dict]:
    files = sorted(ROOT.glob("*.json"))
    return {
        f"{file.stem}.{key}": value
        for file in files
        for key, value in json.loads(file.read_text()).items()
    }


def names() -> list[str]:
    """Every prediction that the notebooks ask for."""
    return list(_all())


def find(name: str) -> dict:
    """What is known of a prediction: what, right, because, and the mistakes."""
    return _all()[name]


def predict(name: str, answer: Any, measured: Any) -> "ComparedAnswer":
    """What was predicted beside what was measured; the first answer is kept for the score.

    answer: None, if nobody has answered: nothing is revealed yet. "show": nobody will."""
    known = find(name)
    measured = _plain(measured)
    if measured != known["right"]:
        raise AssertionError(f"{name}: measured {measured}, expected {known['right']}")
    made = ComparedAnswer(
        name, known["what"], measured, known["because"], _plain(answer), _thoughts(known)
    )
    if answer is not None and not made.is_text:
        made.score = _kept(made)
    return made


def _kept(made: Any) -> str:
    """The score so far, this answer counted if it is the first one."""
    from .exercises import progress  # not above: notebooks predict before they have exercises

    progress.keep_prediction(made.name, made.is_right)
    return Shown.SCORE(score=progress.score())


def _plain(value: Any) -> Any:
    """A number as Python has it; several as a list."""
    if isinstance(value, (tuple, list)):
        return [_plain(v) for v in value]
    return value.tolist() if hasattr(value, "tolist") else value


def _thoughts(known: dict) -> list[tuple[Any, str]]:
    return [(mistake["answer"], mistake["thought"]) for mistake in known["mistakes"]]


@dataclass(repr=False)
class ComparedAnswer:
    """An answer and a measurement, compared in words."""

    name: str
    what: str  # "bytes past the end"
    measured: Any
    because: str
    answer: Any
    mistakes: list  # of (answer, the thought that leads to it)
    score: str = ""

    @property
    def is_right(self) -> bool:
        return self.answer == self.measured

    @property
    def is_text(self) -> bool:
        """Whether the answer, or a part of it, is neither a number nor SHOW."""
        parts = self.answer if isinstance(self.answer, list) else [self.answer]
        return self.answer != SHOW and any(isinstance(part, str) for part in parts)

    @property
    def badge(self) -> tuple[str, str]:
        """(a word, its mood) in front of the first sentence; ("", "") without an answer."""
        if self.answer in (None, SHOW) or self.is_text:
            return "", ""
        return (told(Answer.RIGHT()), "good") if self.is_right else (told(Answer.WRONG()), "bad")

    def __repr__(self) -> str:
        return "\n".join(self._told(badges.plain, str))

    def _repr_html_(self) -> str | None:
        if self.answer is None:
            return None  # JupyterLab shows the first line of a folded output as it is written
        return "".join(f"<p>{sentence}</p>" for sentence in self._told(badges.html, _in_html))

    def _repr_markdown_(self) -> str | None:
        return "\n\n".join(self.sentences()) if self.answer is None else None

    def _told(
        self, badge: Callable[[str, str], str], written: Callable[[str], str]
    ) -> Iterator[str]:
        first, *others = self.sentences()
        yield f"{badge(*self.badge)} {written(first)}".strip()
        yield from map(written, others)

    def sentences(self) -> Iterator[str]:
        """What to say, a line each. JupyterLab shows the first line of an output that is folded."""
        if self.answer is None:
            yield told(Answer.NONE())
            yield told(Answer.GIVE_UP())
            return
        if self.is_text:
            yield told(Answer.TEXT())
            return
        result = f"{said(self.measured)} {told(self.what)}"
        if self.answer == SHOW:
            yield told(Answer.RESULT(result=result))
        elif self.is_right:
            yield told(Answer.AS_PREDICTED(result=result))
        else:
            answer = {"answer": said(self.answer), "distance": self._distance()}
            yield told(Answer.COMPARED(result=result, **answer))
            yield from (told(thought) for answer, thought in self.mistakes if answer == self.answer)
        yield told(self.because)
        if self.score:
            yield told(self.score)

    def _distance(self) -> str:
        numbers = all(isinstance(n, (int, float)) for n in (self.answer, self.measured))
        if not numbers or isinstance(self.answer, bool):
            return ""
        if self.answer * self.measured <= 0:
            return Answer.AWAY(number=said(abs(self.answer - self.measured)))
        is_high, ratio = self.answer > self.measured, self.answer / self.measured
        if ratio >= 2 or ratio <= 0.5:
            fold = max(ratio, 1 / ratio)
            number = f"{fold:,.0f}" if fold >= 100 else f"{fold:.3g}"
            return (Answer.FOLD_HIGH if is_high else Answer.FOLD_LOW)(number=number)
        percent = Answer.PERCENT_HIGH if is_high else Answer.PERCENT_LOW
        return percent(number=f"{100 * abs(ratio - 1):.2g}")


def said(value: Any) -> str:
    """An answer in words: 1,000 or 3, 232."""
    if isinstance(value, list):
        return ", ".join(map(str, value))  # no comma but between them
    return f"{value:,}" if isinstance(value, (int, float)) else str(value)


def _in_html(text: str) -> str:
    """JupyterLab breaks its lines between words, and plain text anywhere."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text, quote=False))
