"""Predictions: none made, right, and off by a thought that was foreseen."""

import json
import re

import numpy as np
import pytest

from helpers import predictions
from helpers.numbering import number_of
from helpers.predictions import said
from helpers.words import Answer
from softgpu.tests.facts import refused
from tests import ROOT

pytestmark = pytest.mark.usefixtures("work")
NOTEBOOKS = ROOT / "notebooks"
MISTAKES = [(n, m["answer"]) for n, known in predictions._all().items() for m in known["mistakes"]]


def right(name):
    return predictions._all()[name]["right"]


@pytest.mark.parametrize("name", predictions.names())
def test_none_was_made(name):
    known = predictions._all()[name]
    made = predictions.predict(name, None, right(name))
    assert made._repr_html_() is None
    for shown in (repr(made), made._repr_markdown_()):
        assert Answer.NONE().partition(":")[0] in shown and known["what"] not in shown
        assert said(right(name)) not in re.findall(r"[\d.,]+", shown)
    assert known["because"] not in repr(made)


@pytest.mark.parametrize("name", predictions.names())
def test_who_gives_up_is_shown(name):
    known = predictions._all()[name]
    result, because, score = repr(predictions.predict(name, "show", right(name))).splitlines()
    assert result == f"{said(known['right'])} {known['what']}." and because == known["because"]
    assert score.startswith("Score: ")


@pytest.mark.parametrize("name", predictions.names())
def test_the_right_one(name):
    made = predictions.predict(name, right(name), right(name))
    assert made.is_right and Answer.AS_PREDICTED(result="") in repr(made)


@pytest.mark.parametrize("name, answer", MISTAKES)
def test_a_foreseen_mistake_is_told_its_thought(name, answer):
    made = predictions.predict(name, answer, right(name))
    (thought,) = [thought for a, thought in made.mistakes if a == answer]
    assert not made.is_right and thought in repr(made) and answer != right(name)


@pytest.mark.parametrize(
    "answer, shown, distance",
    [
        (95, "95", Answer.PERCENT_LOW(number="1")),
        (95.99, "95.99", Answer.PERCENT_LOW(number="0.01")),
        (96 * 2**20, "100,663,296", Answer.FOLD_HIGH(number="1,048,576")),
        (960, "960", Answer.FOLD_HIGH(number="10")),
        (1.5, "1.5", Answer.FOLD_LOW(number="64")),
        (-96, "-96", Answer.AWAY(number="192")),
        (0, "0", Answer.AWAY(number="96")),
        ((95, 1), "95, 1", ""),
    ],
)
def test_any_other_is_told_how_far_off(answer, shown, distance):
    compared = Answer.COMPARED(result="", answer=shown, distance=distance)
    assert compared in repr(predictions.predict("00.past_the_end", answer, 96))


@pytest.mark.parametrize("answer", ["96", "96 bytes", (96, "bytes")])
def test_text_is_no_answer_and_does_not_count(answer):
    made = predictions.predict("00.past_the_end", answer, 96)
    assert repr(made) == Answer.TEXT() and not made.score


def test_a_notebook_breaks_lines_between_words():
    made = predictions.predict("00.past_the_end", None, 96)
    assert "`answer =`" in made._repr_markdown_() and "\n\n" in made._repr_markdown_()
    made = predictions.predict("00.past_the_end", "show", 96)
    assert made._repr_markdown_() is None
    assert made._repr_html_().count("<p>") == len(list(made.sentences()))
    assert predictions._in_html("a < b && `x[i]`") == "a &lt; b &amp;&amp; <code>x[i]</code>"


def test_an_array_is_an_answer():
    made = predictions.predict("09.merged", np.array([2048, 3136]), (2048, 3136))
    assert made.is_right


def test_commas_stand_between_numbers_alone():
    assert "2048, 3136 is the shape" in repr(predictions.predict("09.merged", "show", (2048, 3136)))


def test_what_is_measured_must_be_right():
    with refused(AssertionError, "00.past_the_end", 95, 96):
        predictions.predict("00.past_the_end", None, 95)


def first_line(cell):
    """What JupyterLab shows of a cell's output when it is folded: that line, as it is written."""
    output = (cell["outputs"] or [{}])[0]
    data = output.get("data", {"text": output.get("text", [""])})
    kinds = "text/html", "text/markdown", "text/plain", "text"
    return next(data[kind] for kind in kinds if kind in data)[0]


def numbers_shown(cell):
    return re.findall(r"\d[\d,.]+\b", first_line(cell))  # one digit is there by chance


@pytest.mark.parametrize("path", sorted(NOTEBOOKS.glob("*.ipynb")), ids=lambda path: path.name)
def test_notebooks_leave_room_and_hide_the_result(path):
    asked, questions, answer, told = [], 0, None, False
    for cell in json.loads(path.read_text())["cells"]:
        source = "".join(cell["source"])
        for name, measured in re.findall(r'\bpredict\("([^"]*)", answer, (.*)\)', source):
            asked.append(name)
            assert answer, name
            told = True
            assert str(right(name)) not in re.findall(r"\b\d+\b", measured), name
        if told and cell["cell_type"] == "code":  # the one that measures, and those that tell more
            assert cell["metadata"]["jupyter"] == {"outputs_hidden": True}, asked[-1]
            assert not first_line(cell).startswith("<"), asked[-1]
            assert said(right(asked[-1])) not in numbers_shown(cell), (
                "in its first line, which shows"
            )
        if cell["cell_type"] == "code":
            answer = re.fullmatch(r"answer = None  # .*", source)
        else:
            told = False
            questions += source.count("**Predict")
    number = number_of(path)
    assert asked == [name for name in predictions.names() if name.startswith(f"{number}.")]
    assert 2 <= len(asked) <= 6 and questions == len(asked), "any other question is plain prose"
