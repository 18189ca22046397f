"""Grading what learners hand in: a row for each, whatever it does."""

import csv
import io
import shutil

import nbformat
import pytest

from helpers import autoinit, exercises
from helpers.exercises import grading

FIRST = "00.double"

software = pytest.mark.skipif(not autoinit.is_software, reason="about the software GPU")


def changed(old, new):
    return exercises.solution(FIRST).replace(old, new)


def test_a_folder_is_graded_whatever_is_in_it(tmp_path, monkeypatch):
    monkeypatch.setenv("SOFTGPU_TIMEOUT", "2")  # for the endless one
    solution, folder = exercises.solution(FIRST), tmp_path / "all"
    endless = changed("if (i < n)", "for (;;) if (i < n)")
    deep = "__device__ __noinline__ int deep(volatile int n) { return deep(n + 1) + n; }\n"
    crashing = deep + changed("2 * x[i]", "deep(n)")
    handed_in = {"ada": solution, "bob": endless, "cy": "../rubbish", "di": exercises.stub(FIRST)}
    for learner, text in (handed_in | {"gil": crashing}).items():
        (folder / learner).mkdir(parents=True)
        (folder / learner / f"{FIRST}.cu").write_text(text)
    cell = nbformat.v4.new_code_cell(
        f"%%kernel\n{solution}", metadata={"tags": [f"exercise:{FIRST}"]}
    )
    nbformat.write(nbformat.v4.new_notebook(cells=[cell]), folder / "eve.ipynb")
    (folder / "fay.ipynb").write_text("{}")
    (folder / "hal.ipynb").write_text(100_000 * "[")
    (folder / "ida" / f"{FIRST}.cu").mkdir(parents=True)
    out = io.StringIO()
    grading.grade(folder, out, seconds=120, megabytes=2048)
    rows = {row["learner"]: row for row in csv.DictReader(io.StringIO(out.getvalue()))}
    assert {learner: row["verdict"] for learner, row in rows.items()} == {
        "ada": "done",
        "bob": "tried",
        "cy": "tried",
        "di": "open",
        "eve": "done",
        "fay": "unreadable",
        "gil": "tried",
        "hal": "unreadable",
        "ida": "unreadable",
    }
    assert rows["ada"]["counters"].startswith("ld.sectors 8192 (best 8192)")
    assert rows["bob"]["reasons"].startswith("time: ")
    assert rows["gil"]["reasons"] == "sanitizer: n = 1: fault"


def test_a_kernel_that_takes_too_long_is_a_row():
    row = grading.judged(FIRST, exercises.solution(FIRST), seconds=0.01, megabytes=2048)
    assert row == {"verdict": "stopped", "reasons": "took more than 0.01 s"}


def test_a_process_that_dies_is_a_row(monkeypatch):
    monkeypatch.setattr(grading.sys, "executable", shutil.which("false"))
    row = grading.judged(FIRST, exercises.solution(FIRST), seconds=120, megabytes=2048)
    assert row == {"verdict": "crashed", "reasons": "ended with 1: no word"}


@software
@pytest.mark.parametrize("megabytes, verdict", [(600, "tried"), (40_000, "done")])
def test_memory_is_limited(megabytes, verdict):
    large = "__device__ char large[1LL << 34];\n" + exercises.solution(FIRST)
    row = grading.judged(FIRST, large, seconds=120, megabytes=megabytes)
    assert row["verdict"] == verdict
    assert ("there is no memory for 17179869" in row["reasons"]) == (verdict == "tried")
