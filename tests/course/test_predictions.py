"""Predictions: none made, right, and off by a thought that was foreseen."""

import json
import re

import pytest

from helpers import predictions
from tests import ROOT

NOTEBOOKS = ROOT / "notebooks"
MISTAKES = [(n, m["answer"]) for n, known in predictions._all().items() for m in known["mistakes"]]


def right(name):
    return predictions._all()[name]["right"]


@pytest.mark.parametrize("name", predictions.names())
def test_none_was_made(name):
    known = predictions._all()[name]
    first, result, because = repr(predictions.predict(name, None, right(name))).splitlines()
    assert first.startswith("No prediction was made") and because == known["because"]
    assert result.endswith(f"{known['what']}.") and known["what"] not in first  # folded, it shows


@pytest.mark.parametrize("name", predictions.names())
def test_the_right_one(name):
    made = predictions.predict(name, right(name), right(name))
    assert made.is_right and "as you predicted" in repr(made)


@pytest.mark.parametrize("name, answer", MISTAKES)
def test_a_foreseen_mistake_is_told_its_thought(name, answer):
    made = predictions.predict(name, answer, right(name))
    (thought,) = [thought for a, thought in made.mistakes if a == answer]
    assert not made.is_right and thought in repr(made) and answer != right(name)


@pytest.mark.parametrize(
    "answer, says",
    [
        (95, "you predicted 95, 1% too low."),
        (95.99, "you predicted 95.99, 0.01% too low."),
        (96 * 2**20, "you predicted 100,663,296, 1,048,576-fold too high."),
        (960, "you predicted 960, 10-fold too high."),
        (1.5, "you predicted 1.5, 64-fold too low."),
        (-96, "you predicted -96, 192 away."),
        (0, "you predicted 0, 96 away."),
        ("many", "you predicted many."),
    ],
)
def test_any_other_is_told_how_far_off(answer, says):
    assert says in repr(predictions.predict("00.past_the_end", answer, 96))


def test_what_is_measured_must_be_right():
    with pytest.raises(AssertionError, match="00.past_the_end: measured 95, expected 96"):
        predictions.predict("00.past_the_end", None, 95)


@pytest.mark.parametrize("path", sorted(NOTEBOOKS.glob("*.ipynb")), ids=lambda path: path.name)
def test_notebooks_leave_room_and_hide_the_result(path):
    asked, questions, answer = [], 0, None
    for cell in json.loads(path.read_text())["cells"]:
        source = "".join(cell["source"])
        for name, measured in re.findall(r'\bpredict\("([^"]*)", answer, (.*)\)', source):
            asked.append(name)
            assert answer and cell["metadata"]["jupyter"] == {"outputs_hidden": True}, name
            assert str(right(name)) not in re.findall(r"\b\d+\b", measured), name
        if cell["cell_type"] == "code":
            answer = re.fullmatch(r"answer = None  # .*", source)
        else:
            questions += source.count("**Predict")
    number = path.name[:2]
    assert asked == [name for name in predictions.names() if name.startswith(f"{number}.")]
    assert 2 <= len(asked) <= 4 and questions == len(asked), "any other question is plain prose"
