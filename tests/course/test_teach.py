"""For teachers: answers that the software GPU finds; notes and syllabus that fit the course."""

import importlib.util
import re

import pytest

from helpers import autoinit, predictions
from tests import ROOT

NOTEBOOKS = sorted(path.name[:2] for path in (ROOT / "notebooks").glob("*.ipynb"))


def script(name):
    spec = importlib.util.spec_from_file_location(f"teach_{name}", ROOT / f"teach/{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


EXAM = script("exam")
QUESTIONS = EXAM.questions()


def test_there_are_twenty_questions_in_the_notebooks_order():
    headings = re.findall(r"^## (.+)$", EXAM.EXAM.read_text(), re.M)
    assert [question.title for question in QUESTIONS] == headings
    assert [int(title.partition(".")[0]) for title in headings] == [*range(1, 21)]
    taught = [question.notebook for question in QUESTIONS]
    assert taught == sorted(taught) and {*taught} <= {*NOTEBOOKS}


@pytest.mark.skipif(not autoinit.is_software, reason="about the software GPU")
@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.title)
def test_the_software_gpu_finds_the_answer(question):
    assert question.found() == question.answer


def test_the_sheet_asks_everything_and_gives_nothing_away():
    sheet = EXAM.sheet()
    assert "Answer" not in sheet and "```python" not in sheet and "make exam" not in sheet
    for question in QUESTIONS:
        number, title = question.title.split(". ", 1)
        assert f"## {number}\n" in sheet and question.cuda in sheet and title not in sheet


def test_notes_have_each_prediction_with_its_question():
    notes = script("notes")
    asked = [pair for path in notes.NOTEBOOKS.glob("*.ipynb") for pair in notes.asked(path)]
    assert sorted(name for _, name in asked) == sorted(predictions.names())
    for question, name in asked:
        assert "?" in question or "." in question, name
    text = "\n\n".join(notes.notes(next(notes.NOTEBOOKS.glob("03_*.ipynb"))))
    assert text.startswith("## 03 · ") and "](" not in text.replace("`", "")
    for mistake in predictions.find("03.barriers")["mistakes"]:
        assert mistake["thought"] in text


def test_minutes_of_the_syllabus_are_the_course_s():
    row = r"^\| \[(\d\d)_.*\| (\d+) \|$"
    minutes = {n: int(m) for n, m in re.findall(row, (ROOT / "README.md").read_text(), re.M)}
    assert sorted(minutes) == NOTEBOOKS
    page = (ROOT / "teach/README.md").read_text()
    rows = re.findall(r"^\| [^|]*\| [^|]*\| ([\d, ]+) \| (\d+) \|$", page, re.M)
    for notebooks, total in rows:
        assert sum(minutes[number] for number in notebooks.split(", ")) == int(total), notebooks
    weeks = [n for notebooks, _ in rows[-12:] for n in notebooks.split(", ")]
    assert weeks == NOTEBOOKS
