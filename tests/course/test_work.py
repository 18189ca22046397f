"""Learners' copies of the notebooks live beside the course and survive its updates."""

import importlib.util
import json

import pytest

from tests import ROOT


def notebook(source, *outputs):
    """The text of a notebook of one cell, run if it has outputs."""
    cell = {"cell_type": "code", "source": [source], "outputs": [*outputs]}
    cell |= {"execution_count": 1 if outputs else None}
    folded = {"outputs_hidden": True} if outputs else {}
    cell["metadata"] = {"jupyter": {"source_hidden": True} | folded}
    data = {"cells": [{"cell_type": "markdown", "metadata": {}, "source": ["müde"]}, cell]}
    return json.dumps(data, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


@pytest.fixture
def lab(monkeypatch, tmp_path):
    """The script, on a course of one notebook."""
    spec = importlib.util.spec_from_file_location("work", ROOT / "scripts/work.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    course, work = tmp_path / "notebooks", tmp_path / "work"
    course.mkdir()
    (course / "glossary.md").write_text("words")
    (course / "03_x.ipynb").write_text(notebook("first", "24 bytes"))
    monkeypatch.setattr(script, "COURSE", course)
    monkeypatch.setattr(script, "WORK", work)
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


def test_a_copy_that_was_set_aside_is_never_overwritten(lab):
    script, _, own = lab
    for text in ("first", "second", "third"):
        own.write_text(f"my {text}")
        script.update(fresh="03")
        if text == "second":  # the learner tidies up
            (own.parent / "old/03_x.1.ipynb").unlink()
    old = own.parent / "old"
    assert {path.read_text() for path in old.iterdir()} == {"my second", "my third"}
