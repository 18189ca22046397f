"""Learners' copies of the notebooks live beside the course and survive its updates."""

import importlib.util
import json

import pytest

from helpers import exercises
from softgpu.tests.facts import refused
from tests import ROOT
from tests.course.answers import answered, answers


def notebook(source, *outputs):
    """The text of a notebook of one cell, run if it has outputs."""
    cell = {"cell_type": "code", "source": [source], "outputs": [*outputs]}
    cell |= {"execution_count": 1 if outputs else None}
    folded = {"outputs_hidden": True} if outputs else {}
    cell["metadata"] = {"jupyter": {"source_hidden": True} | folded}
    data = {"cells": [{"cell_type": "markdown", "metadata": {}, "source": ["müde"]}, cell]}
    return json.dumps(data, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


@pytest.fixture
def script(monkeypatch, tmp_path):
    """The script, which writes into a folder of the test's."""
    monkeypatch.syspath_prepend(ROOT / "scripts")
    spec = importlib.util.spec_from_file_location("work", ROOT / "scripts/work.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    monkeypatch.setattr(script, "WORK", tmp_path / "work")
    return script


@pytest.fixture
def lab(script, monkeypatch, tmp_path):
    """The script, on a course of one notebook."""
    course, work = tmp_path / "notebooks", tmp_path / "work"
    course.mkdir()
    (course / "glossary.md").write_text("words")
    (course / "03_x.ipynb").write_text(notebook("first", "24 bytes"))
    monkeypatch.setattr(script, "COURSE", course)
    script.update()
    return script, course / "03_x.ipynb", work / "03_x.ipynb"


def test_copies_are_made_once(lab):
    script, _, own = lab
    assert own.read_text() == notebook("first")
    assert (own.parent / "glossary.md").read_text() == "words"
    own.write_text("mine")
    script.update()
    assert own.read_text() == "mine"


def test_a_copy_as_it_was_follows_the_course(lab):
    script, course, own = lab
    course.write_text(notebook("second", "25 bytes"))
    script.update()
    assert own.read_text() == notebook("second")


def test_new_outputs_alone_are_no_change(lab, capsys):
    script, course, own = lab
    own.write_text("mine")
    course.write_text(notebook("first", "26 bytes"))
    script.update()
    assert not capsys.readouterr().out


def test_a_changed_copy_stays_and_is_told(lab, capsys):
    script, course, own = lab
    own.write_text("mine")
    script.update()
    assert not capsys.readouterr().out
    course.write_text(notebook("second", "25 bytes"))
    script.update()
    assert own.read_text() == "mine" and "make fresh NOTEBOOK=03" in capsys.readouterr().out


def test_a_fresh_copy_sets_the_old_one_aside(lab):
    script, _, own = lab
    for text in ("mine", "mine again"):
        own.write_text(text)
        script.update(fresh="03")
        assert own.read_text() == notebook("first")
    old = own.parent / "old"
    assert {path.read_text() for path in old.iterdir()} == {"mine", "mine again"}


def test_a_notebook_that_is_not_there_is_an_error(lab):
    script, _, own = lab
    own.write_text("mine")
    with refused(SystemExit, "99", "03"):
        script.update(fresh="99")
    assert own.read_text() == "mine"


def test_a_number_with_a_letter_is_another_notebook(lab):
    script, course, own = lab
    other = course.with_name("03b_x.ipynb")
    other.write_text(notebook("other"))
    script.update()
    for path in own, own.with_name(other.name):
        path.write_text("mine")
    script.update(fresh="03")
    assert own.read_text() == notebook("first") and own.with_name(other.name).read_text() == "mine"


def test_a_copy_that_was_set_aside_is_never_overwritten(lab):
    script, _, own = lab
    for text in ("first", "second", "third"):
        own.write_text(f"my {text}")
        script.update(fresh="03")
        if text == "second":  # the learner tidies up
            (own.parent / "old/03_x.1.ipynb").unlink()
    old = own.parent / "old"
    assert {path.read_text() for path in old.iterdir()} == {"my second", "my third"}


# --- the students' edition ------------------------------------------------------------------------


def copied(script, monkeypatch, solutions, language=""):
    """{notebook: its cells} of the course in an edition."""
    monkeypatch.setenv("COURSE_SOLUTIONS", solutions)
    monkeypatch.setenv("COURSE_LANGUAGE", language)
    script.update()
    return {
        path.name: json.loads(path.read_text())["cells"] for path in script.WORK.glob("*.ipynb")
    }


def source(cells, *kinds):
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] in kinds]


@pytest.mark.parametrize("language", ["", "zh"])
def test_the_students_edition_has_no_solution_and_all_cells_that_run(script, monkeypatch, language):
    whole = copied(script, monkeypatch, "", language)
    students = copied(script, monkeypatch, "0", language)
    shown = {
        name for cells in whole.values() for name in answered("".join(source(cells, "markdown")))
    }
    assert len(shown) > 50 and shown < {*answers()}
    for name, cells in students.items():
        assert not answered("".join(source(cells, "markdown", "code"))), name
        assert source(cells, "code") == source(whole[name], "code")
    assert copied(script, monkeypatch, "", language) == whole


def test_in_the_students_edition_ours_is_used_and_not_shown(monkeypatch, tmp_path):
    monkeypatch.setenv("HELPERS_WORK", str(tmp_path))
    shown = []
    monkeypatch.setattr("IPython.display.display", shown.append)
    kernel = exercises.use("03.shared")
    assert "__syncthreads" in shown[0]._repr_html_()
    monkeypatch.setenv("COURSE_SOLUTIONS", "0")
    assert exercises.use("03.shared") is kernel
    assert shown[1]._repr_html_() == "<p>03.shared: ours, reduce/shared.cu</p>"
