"""A place to answer before a measurement, and what an answer that is off was probably thinking of.

A notebook asks in its prose, has a cell `answer = None`, and ends the cell that measures with
predict("00.past_the_end", answer, measured). What is right and why, and the answers that people
give for a reason, stand in notebooks/predictions, so that they are not on screen before."""

import json
import re
from dataclasses import dataclass
from functools import cache
from html import escape
from pathlib import Path

__all__ = ["Prediction", "names", "predict"]

ROOT = Path(__file__).resolve().parent.parent / "notebooks" / "predictions"


@cache
def _all():
    files = sorted(ROOT.glob("*.json"))
    return {
        f"{file.stem}.{key}": value
        for file in files
        for key, value in json.loads(file.read_text()).items()
    }


def names():
    """Every prediction that the notebooks ask for."""
    return list(_all())


def predict(name, answer, measured):
    """What was predicted beside what was measured. answer: None, if nobody has answered."""
    known = _all()[name]
    measured = _plain(measured)
    if measured != known["right"]:
        raise AssertionError(f"{name}: measured {measured}, expected {known['right']}")
    return Prediction(
        name, known["what"], measured, known["because"], _plain(answer), _thoughts(known)
    )


def _plain(value):
    """A number as Python has it; several as a list."""
    if isinstance(value, (tuple, list)):
        return [_plain(v) for v in value]
    return value.item() if hasattr(value, "item") else value


def _thoughts(known):
    return [(mistake["answer"], mistake["thought"]) for mistake in known["mistakes"]]


@dataclass(repr=False)
class Prediction:
    """An answer and a measurement, compared in words."""

    name: str
    what: str  # "bytes past the end"
    measured: object
    because: str
    answer: object
    mistakes: list  # of (answer, the thought that leads to it)

    @property
    def is_right(self):
        return self.answer == self.measured

    def __repr__(self):
        return "\n".join(self.sentences())

    def _repr_html_(self):
        return "".join(f"<p>{_in_html(sentence)}</p>" for sentence in self.sentences())

    def sentences(self):
        """What to say, a line each. JupyterLab shows the first line of an output that is folded."""
        result = f"{_said(self.measured)} {self.what}"
        if self.answer is None:
            yield "No prediction was made: write yours after `answer =`, and run both cells again."
            yield f"{result}."
        elif self.is_right:
            yield f"{result}, as you predicted."
        else:
            yield f"{result}; you predicted {_said(self.answer)}{self._distance()}."
            yield from (thought for answer, thought in self.mistakes if answer == self.answer)
        yield self.because

    def _distance(self):
        numbers = all(isinstance(n, (int, float)) for n in (self.answer, self.measured))
        if not numbers or isinstance(self.answer, bool):
            return ""
        if self.answer * self.measured <= 0:
            return f", {_said(abs(self.answer - self.measured))} away"
        many = "too high" if self.answer > self.measured else "too low"
        ratio = self.answer / self.measured
        if ratio >= 2 or ratio <= 0.5:
            fold = max(ratio, 1 / ratio)
            return f", {f'{fold:,.0f}' if fold >= 100 else f'{fold:.3g}'}-fold {many}"
        return f", {100 * abs(ratio - 1):.2g}% {many}"


def _said(value):
    if isinstance(value, list):
        return ", ".join(map(str, value))  # no comma but between them
    return f"{value:,}" if isinstance(value, (int, float)) else str(value)


def _in_html(text):
    """JupyterLab breaks its lines between words, those of plain text anywhere."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text, quote=False))
