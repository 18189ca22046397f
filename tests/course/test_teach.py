"""For teachers: answers that the software GPU finds; notes and syllabus that fit the course."""

import dataclasses
import html
import importlib.util
import re
import sys

import numpy as np
import pytest

from helpers import autoinit, exercises, predictions
from helpers.exercises import texts
from helpers.numbering import number_of
from softgpu.tests.facts import missing, refused
from tests import ROOT

pytestmark = pytest.mark.slow

NOTEBOOKS = sorted(number_of(path) for path in (ROOT / "notebooks").glob("*.ipynb"))


def script(name):
    path = ROOT / f"publish/teach/{name}.py"
    spec = importlib.util.spec_from_file_location(f"teach_{name}", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


EXAM = script("exam")
QUESTIONS = EXAM.questions()


def test_there_are_questions_on_all_of_the_course_in_its_order():
    headings = re.findall(r"^## (.+)$", EXAM.EXAM.read_text(), re.M)
    assert [question.title for question in QUESTIONS] == headings
    assert [int(title.partition(".")[0]) for title in headings] == [*range(1, 31)]
    taught = [question.notebook for question in QUESTIONS]
    assert taught == sorted(taught) and {*NOTEBOOKS[13:]} <= {*taught} <= {*NOTEBOOKS}


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


@pytest.mark.skipif(not autoinit.is_software, reason="about the software GPU")
def test_a_seed_draws_a_paper_whose_answers_are_found():
    papers = [EXAM.drawn(seed) for seed in (1, 2, 1)]  # which compares them with what is found
    assert papers[0] == papers[2]
    for one, other, master in zip(*papers[:2], QUESTIONS):
        assert one.title == other.title == master.title
    for made in papers[:2]:
        new = [q for q, m in zip(made, QUESTIONS) if (q.asked, q.cuda) != (m.asked, m.cuda)]
        assert len(new) >= 26  # one or two may meet the old numbers by chance
        assert len({question.answer for question in made}) > 8


def test_a_paper_needs_its_seed(capsys):
    with refused(SystemExit, 2):
        EXAM.main(["--questions", "1"])
    assert not missing(capsys.readouterr().err, "--seed")


@pytest.mark.parametrize("number", range(len(QUESTIONS)))
def test_what_a_question_draws_fits_it_for_any_seed(number):
    question = QUESTIONS[number]
    drawn = [question.drawn(np.random.default_rng(seed)) for seed in range(40)]
    assert len({(q.asked, q.cuda) for q in drawn}) >= 4
    assert all(q.program.count("\n") == question.program.count("\n") for q in drawn)


@pytest.mark.parametrize("number, at_least", [(4, 3), (10, 5), (15, 3), (25, 3), (30, 2)])
def test_no_answer_is_right_on_most_papers(number, at_least):
    question = QUESTIONS[number - 1]
    answers = [question.drawn(np.random.default_rng(seed)).answer for seed in range(60)]
    assert len({*answers}) >= at_least
    assert all(answers.count(answer) <= 40 for answer in answers)


@pytest.mark.skipif(not autoinit.is_software, reason="about the software GPU")
@pytest.mark.parametrize("number", [4, 10, 15, 25, 30])
def test_each_fault_that_is_drawn_is_found(number):
    question, seen = QUESTIONS[number - 1], set()
    for seed in range(40):
        drawn = question.drawn(np.random.default_rng(seed))
        fault = re.sub(r"\d+", "", drawn.cuda), drawn.answer
        if fault not in seen:
            seen.add(fault)
            assert drawn.found() == drawn.answer, drawn.cuda


def test_a_piece_that_a_question_no_longer_has_is_named():
    changed = dataclasses.replace(QUESTIONS[0], asked="How many?", program="answer = 24")
    with refused(LookupError, "1. Idle threads", "1,000"):
        changed.drawn(np.random.default_rng(0))


@pytest.mark.skipif(not autoinit.is_software, reason="about the software GPU")
def test_a_paper_gives_nothing_away_and_its_answers_are_on_another_page(
    monkeypatch, tmp_path, capsys
):
    monkeypatch.setattr(EXAM, "PAPERS", tmp_path)
    EXAM.main(["--seed", "3", "--questions", "1", "12", "--minutes", "9", "--aids", "a & b"])
    assert capsys.readouterr().out.count(".html") == 2
    asked, answers = ((tmp_path / f"{n}-3.html").read_text() for n in ("paper", "answers"))
    name = re.search(r"Paper (\w+)", asked)[1]
    assert name in answers and asked.count("<section>") == 2
    assert not missing(asked, 2, 9, "a &amp; b.")
    for question in EXAM.drawn(3, [1, 12]):
        assert html.escape(question.cuda.strip()) in asked
        assert f"<b>{question.answer}</b>" in answers and question.why not in asked
        assert question.title not in asked and question.program not in asked


def test_notes_have_each_prediction_with_its_question():
    notes = script("notes")
    asked = [pair for path in notes.NOTEBOOKS.glob("*.ipynb") for pair in notes.asked(path)]
    assert sorted(name for _, name, _ in asked) == sorted(predictions.names())
    for question, name, where in asked:
        assert "?" in question or "." in question, name
        assert re.fullmatch(r".+, cell \[\d+\]", where), name
    assert notes.shown([3, 12582912, "nan", 0.5]) == "(3, 12,582,912, nan, 0.5)"
    text = "\n\n".join(notes.notes(next(notes.NOTEBOOKS.glob("03_*.ipynb"))))
    assert text.startswith("## 03 · ") and "](" not in text.replace("`", "")
    for mistake in predictions.find("03.barriers")["mistakes"]:
        assert mistake["thought"] in text


def test_notes_have_each_exercise_with_what_its_judge_refuses():
    notes = script("notes")
    said = {}
    for path in notes.NOTEBOOKS.glob("[0-9]*.ipynb"):
        parts = [*notes.notes(path)]
        heads = [n for n, part in enumerate(parts) if part.startswith("**Usual mistakes**")]
        said |= {parts[n].split()[3].rstrip(","): parts[n + 1].splitlines() for n in heads}
    assert {*said} == {*exercises.names()}
    for name, lines in said.items():
        assert len(lines) == len(texts.find(name).wrong)
        assert all(re.fullmatch(r"- .+: [^|*]+", line) for line in lines), name
    assert "- half the padding: conflicts" in said["03.padding"]
    assert "- no barrier after the fetch: a race, or syncwarp" in said["03.padding"]


def test_minutes_of_the_syllabus_are_the_course_s():
    row = r"^\| \[(\d\d[a-z]?)_.*\| (\d+) \|$"
    minutes = {n: int(m) for n, m in re.findall(row, (ROOT / "README.md").read_text(), re.M)}
    assert sorted(minutes) == NOTEBOOKS
    page = (ROOT / "publish/teach/README.md").read_text()
    rows = re.findall(r"^\| [^|]*\| [^|]*\| ([\da-z, ]+) \| (\d+) \|$", page, re.M)
    for notebooks, total in rows:
        assert sum(minutes[number] for number in notebooks.split(", ")) == int(total), notebooks
    weeks = [n for notebooks, _ in rows[-12:] for n in notebooks.split(", ")]
    assert weeks == NOTEBOOKS
