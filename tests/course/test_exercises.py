"""Exercises: the judge passes each solution and refuses each wrong kernel, for the right reason."""

import ast
import builtins
import re
from functools import cache

import nbformat
import pytest

from helpers import autoinit, exercises, sources
from helpers.exercises import judging, progress, texts
from helpers.exercises.launches import Wrong

from . import batch

NAMES = exercises.names()

# beside a real GPU xray wants a kernel's source, and its driver maps more memory than is allowed
software = pytest.mark.skipif(not autoinit.is_software, reason="about the software GPU")


@pytest.fixture(autouse=True)
def work(monkeypatch, tmp_path):
    """A learner's folder of its own."""
    monkeypatch.setenv("HELPERS_WORK", str(tmp_path))
    return tmp_path


# --- what an exercise is --------------------------------------------------------------------------


def test_each_folder_is_in_the_course_once():
    assert sorted(NAMES) == sorted(path.parent.name for path in texts.ROOT.glob("*/judge.py"))
    assert [name[:2] for name in NAMES] == sorted(name[:2] for name in NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_it_has_its_parts(name):
    exercise = texts.find(name)
    assert re.fullmatch(r"\d\d\.[a-z0-9_]+", name) and exercise.title and exercise.statement
    assert 2 <= len(exercise.hints) <= 3
    assert len(exercise.rules.WRONG) >= 5 and exercise.rules.BUDGET


def used_in_notebook(number):
    """The Python names of a notebook's cells, those of its exercises left out."""
    (path,) = texts.ROOT.parent.glob(f"notebooks/{number}_*.ipynb")
    cells = [c for c in nbformat.read(path, as_version=4).cells if c.cell_type == "code"]
    own = [c.source for c in cells if "exercise:" not in str(c.metadata.get("tags"))]
    return {node.id for node in ast.walk(ast.parse("\n".join(own))) if isinstance(node, ast.Name)}


@pytest.mark.parametrize("name", NAMES)
def test_its_kernel_takes_no_name_from_the_notebook(name):
    assert texts.find(name).kernel not in used_in_notebook(name[:2]) | set(dir(builtins))


@pytest.mark.parametrize("name", NAMES)
def test_the_stub_is_the_solution_less_the_answer(name):
    exercise = texts.find(name)
    marked = (exercise.folder / "solution.cu").read_text()
    outside = re.sub(r" *// BEGIN(.|\n)*?// END\n", "", marked).splitlines()
    for text in (exercise.stub, exercise.solution):
        lines = iter(text.splitlines())
        assert all(line in lines for line in outside), "lines outside of the answer differ"
        assert not re.search(r"// (BEGIN|STUB|END)", text)
    assert not exercise.is_stub(exercise.solution)


@pytest.mark.parametrize("name", NAMES)
def test_the_stub_is_open(name):
    assert exercises.judge(name, exercises.stub(name)).is_open


STUB = Wrong(r"^(?!compiler|name|parameters)", {})


def wrong(name):
    """What must be refused of an exercise, by what is wrong with it; the stub, too."""
    return {"the stub": STUB} | texts.find(name).rules.WRONG


@cache
def kernels(name):
    """Their kernels, and the solution's."""
    exercise = texts.find(name)
    changes = exercise.rules.WRONG.items()
    changed = {what: how.text(exercise.solution, exercise.kernel) for what, how in changes}
    given = {"the solution": exercise.solution, "the stub": exercise.stub}
    return batch.compiled(given | changed, exercise.kernel)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_the_solution_passes_with_the_best_counters(name):
    verdict = judging.trial(texts.find(name), kernels(name)["the solution"])
    assert verdict, verdict
    assert [(c.key, c.value) for c in verdict.counts] == [(c.key, c.best) for c in verdict.counts]


@pytest.mark.slow
@pytest.mark.parametrize("name, what", [(name, what) for name in NAMES for what in wrong(name)])
def test_a_wrong_kernel_is_refused_for_its_reason(name, what):
    verdict = judging.trial(texts.find(name), kernels(name)[what])
    refused = wrong(name)[what].refused
    assert any(re.search(refused, str(reason)) for reason in verdict.reasons), verdict


# --- the verdict ----------------------------------------------------------------------------------

FIRST = "00.double"


def changed(old, new):
    return exercises.solution(FIRST).replace(old, new)


def test_a_verdict_says_where_and_what_next():
    verdict = exercises.judge(FIRST, changed("i < n", "i < n && i != 32"))
    assert not verdict and str(verdict.reasons[0]).startswith("values: n = 33: out[32]: got nan")
    text = repr(verdict)
    assert "00.double Twice as much: not yet" in text and "grid 1, block 256" in text
    assert re.search(r"element +30 +31 +32\n", text) and "Next: NaN is what the judge" in text
    assert "<pre " in verdict._repr_html_()


def test_counters_stand_beside_the_best():
    verdict = exercises.judge(FIRST, exercises.solution(FIRST))
    assert ("sectors loaded", "8,192", "best 8,192") in verdict.rows()
    assert re.search(r"\n  predicted: .+ µs, on an H200, not measured; limited by ", repr(verdict))
    assert "<p>predicted: " in verdict._repr_html_()
    wasteful = "0 * x[i / 32 * 32 % 1000] + 0 * x[(i ^ 255) < n ? i ^ 255 : i] + 2 * x[i]"
    verdict = exercises.judge(FIRST, changed("2 * x[i]", wasteful))
    assert re.search(r"sectors loaded \d\d,\d{3}, best 8,192", str(verdict.reasons[0]))


@pytest.mark.parametrize(
    "text, kind, says",
    [
        (changed("if (i < n) out", "if (i < n out"), "compiler", r"kernel.cu\(5\): error"),
        (changed("twice", "thrice"), "name", "no kernel named 'twice'"),
        (changed(", long long n", ", int n"), "parameters", "is of type int64"),
        (changed("if (i < n)", "for (;;) if (i < n)"), "time", "n = 1: fault"),
        (changed("out[i] =", "out[i + 64] = out[i] ="), "sanitizer", "out of bounds"),
        (changed("out[i] =", "((float *)x)[i] = 7, out[i] ="), "inputs", "x has changed"),
        (changed("if (i < n)", "__trap(); if (i < n)"), "sanitizer", "fault"),
    ],
)
def test_each_kind_of_mistake_has_its_words(monkeypatch, text, kind, says):
    monkeypatch.setattr(judging, "LIMIT_S", 1.0)
    reasons = exercises.judge(FIRST, text).reasons
    assert [r.kind for r in reasons] == [kind]
    assert re.search(says, str(reasons[0])) and reasons[0].advice


@software
def test_a_kernel_may_be_judged_as_pycuda_made_it():
    from pycuda.compiler import SourceModule

    function = SourceModule(exercises.solution(FIRST)).get_function("twice")
    assert exercises.judge(FIRST, function)
    assert exercises.judge(FIRST, sources.kernel(exercises.solution(FIRST)))
    with pytest.raises(TypeError, match="takes a kernel or a CUDA text, not int"):
        exercises.judge(FIRST, 3)


def test_graders_get_an_exception():
    exercises.check(FIRST, exercises.solution(FIRST))
    with pytest.raises(AssertionError, match="00.double Twice as much: open"):
        exercises.check(FIRST, exercises.stub(FIRST))


def test_an_unknown_name_is_met_with_near_ones():
    with pytest.raises(LookupError, match="no exercise '00.dubble'; there is 00.double"):
        exercises.stub("00.dubble")


# --- progress -------------------------------------------------------------------------------------


def test_progress_is_kept(work):
    assert progress.state_of(FIRST) == "open" and exercises.mine(FIRST) == exercises.stub(FIRST)
    exercises.judge(FIRST, exercises.stub(FIRST))
    assert not list(work.iterdir())
    wrong = changed("2 * x[i]", "3 * x[i]")
    exercises.judge(FIRST, wrong)
    assert progress.state_of(FIRST) == "tried" and exercises.mine(FIRST) == wrong
    exercises.judge(FIRST, exercises.solution(FIRST))
    exercises.judge(FIRST, wrong)
    assert progress.state_of(FIRST) == "done" and exercises.mine(FIRST) == wrong
    drawn = exercises.map()
    assert drawn.done == 1 and "● double" in repr(drawn)
    assert 'title="ld.sectors 8,192 (best 8,192)' in drawn._repr_html_()
