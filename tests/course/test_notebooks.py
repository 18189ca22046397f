"""Notebooks are stored in one form, as run from top to bottom, with results to compare."""

import ast
import importlib.util
import json
import re

import nbformat
import pytest

from helpers import exercises
from softgpu.tests import python
from softgpu.tests.facts import refused
from tests import ROOT

NOTEBOOKS = sorted(ROOT.glob("notebooks/*.ipynb"))
CHECKED = "nbval-check-output"
DOING = "doing"  # of a cell with a line for the learner to write
TAGS = {CHECKED, DOING, "nbval-ignore-output", "nbval-skip"}
EXERCISES = exercises.names()  # a cell of one is tagged exercise:NAME
LINES = 15
FIRST_DOING, FIRST_KERNEL, APART = 12, 20, 15  # cells
WORDS_APART = 800  # of reading: four minutes
WORDS_TO_12, WORDS_OF_ANY = 36_000, 4_000
CHECKED_CELLS = 5
MACHINE = re.compile(r"/(home|root|tmp|Users|opt|work|mnt|var|usr)/|site-packages|\.cache/")


def problems(text, is_course):
    """What is wrong with the text of a notebook, one line each."""
    data = json.loads(text)
    if text != json.dumps(data, indent=1, ensure_ascii=False, sort_keys=True) + "\n":
        yield "not in canonical form: read and write it with nbformat"
    notebook = nbformat.reads(text, as_version=4)
    nbformat.validate(notebook)
    count = checked = 0
    for number, cell in enumerate(notebook.cells):
        tags = set(cell.metadata.get("tags", []))
        if unknown := [tag for tag in tags - TAGS if tag.partition(":")[2] not in EXERCISES]:
            yield f"cell {number}: unknown tags {sorted(unknown)}"
        if cell.cell_type != "code" or not cell.source.strip():
            continue
        if len(cell.source.splitlines()) > LINES and not cell.source.startswith("%%kernel"):
            yield f"cell {number}: {len(cell.source.splitlines())} lines, {LINES} at most"
        count += 1
        if cell.execution_count != count:
            yield f"cell {number}: executed as {cell.execution_count}, expected {count}"
        if CHECKED in tags:
            checked += 1
            if not cell.outputs:
                yield f"cell {number}: nothing stored to compare with"
        for output in cell.outputs:
            if output.output_type == "error":
                yield f"cell {number}: ended in {output.ename}"
            said = [output.get("text", "")]
            said += [value for kind, value in output.get("data", {}).items() if "text" in kind]
            if found := MACHINE.search("\n".join(said)):
                yield f"cell {number}: a path of the machine in its output: {found[0]}"
    if is_course and checked < CHECKED_CELLS:
        yield f"{checked} cells tagged {CHECKED}, {CHECKED_CELLS} at least"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_notebook(path):
    found = list(problems(path.read_text(), is_course=re.match(r"\d\d[a-z]?_", path.name)))
    assert not found, "\n".join([path.name, *found])


COURSE = [path for path in NOTEBOOKS if re.match(r"\d\d[a-z]?_", path.name)]


def asks(cell):
    """Whether a cell is for the learner to write in: a kernel, a prediction, a line."""
    is_doing = DOING in cell.metadata.get("tags", [])
    return is_doing or bool(re.search("^(%%kernel|answer = None)", cell.source, re.MULTILINE))


def words(cells):
    return sum(len(cell.source.split()) for cell in cells if cell.cell_type == "markdown")


def rests(cells):
    """The stretches of cells between those in which the learner does something."""
    rest = []
    for cell in cells:
        if asks(cell):
            yield rest
            rest = []
        else:
            rest.append(cell)
    yield rest


@pytest.mark.parametrize("path", COURSE, ids=lambda path: path.name)
def test_the_learner_soon_has_something_to_do_and_often(path):
    cells = nbformat.read(path, as_version=4).cells
    doings = [n for n, cell in enumerate(cells) if asks(cell)]
    assert doings[0] < FIRST_DOING
    own = [n for n in doings if cells[n].source.startswith("%%kernel")]
    assert own[0] <= FIRST_KERNEL
    for rest in rests(cells):
        assert len(rest) <= APART and words(rest) <= WORDS_APART, rest[0].source[:80]


@pytest.mark.parametrize("path", COURSE, ids=lambda path: path.name)
def test_a_notebook_begins_with_a_question_and_answers_it(path):
    cells = nbformat.read(path, as_version=4).cells
    head, *others = (cell.source for cell in cells if cell.cell_type == "markdown")
    asked = "**The question.**", "**You will write**", "**You need**", "minutes"
    assert all(piece in head for piece in asked)
    assert any(re.search(r"\*\*[Tt]he answer\b", text) for text in others[len(others) // 2 :])


def test_notebooks_00_to_12_are_read_in_three_hours_and_none_is_long():
    read = [words(nbformat.read(path, as_version=4).cells) for path in COURSE]
    left = WORDS_TO_12 - sum(read[:13])
    assert left >= 0, f"{-left} words too many in 00 to 12: shorten as much elsewhere"
    assert max(read) <= WORDS_OF_ANY, f"shorten {COURSE[read.index(max(read))].name}"


OF_GPUS = [path for path in NOTEBOOKS if not path.name.startswith("01_")]


def python_of(path):
    """The code cells, without kernels that the learner writes."""
    cells = [c for c in nbformat.read(path, as_version=4).cells if c.cell_type == "code"]
    return [cell for cell in cells if not cell.source.startswith("%%kernel")]


def gets_a_function(node):
    return isinstance(node, ast.Call) and ast.unparse(node.func).endswith(".get_function")


def uses_of_functions(code):
    """Where what get_function returns is called, or handed on, by the lines of the code."""
    tree = ast.parse(re.sub("^ *[%!].*", "", code, flags=re.MULTILINE))
    nodes, made = list(ast.walk(tree)), {}
    for node in nodes:
        if isinstance(node, ast.Assign) and gets_a_function(node.value):
            made |= {target.id: node.lineno for target in node.targets}
    for node in nodes:
        if isinstance(node, ast.Call) and any(map(gets_a_function, [node.func, *node.args])):
            yield node.lineno
        if isinstance(node, ast.Name) and node.lineno > made.get(node.id, len(code)):
            yield node.lineno


@pytest.mark.parametrize("path", OF_GPUS, ids=lambda path: path.name)
def test_the_first_kernel_is_compiled_by_pycuda_alone(path):
    code = "\n".join(cell.source for cell in python_of(path))
    assert "from pycuda.compiler import SourceModule\n" in code
    assert 0 < code.find("SourceModule(") < code.find("sources.kernel(")
    assert list(uses_of_functions(code)), "nothing is done with what get_function returns"


@pytest.mark.parametrize(
    "code, lines",
    [
        ("add = SourceModule(text).get_function('add')", []),
        ("add = module.get_function('add')\nadd(x, n)\nrun(add)", [2, 3]),
        ("add(x, n)\nadd = module.get_function('add')", []),
        ("module.get_function('add')(x, n)", [1]),
        ("check(module.get_function('add'))", [1]),
        ("%load_ext helpers.magic\nmodule.get_function('add')", []),
    ],
)
def test_uses_of_functions_are_found(code, lines):
    assert sorted(uses_of_functions(code)) == lines


@pytest.mark.parametrize("path", OF_GPUS, ids=lambda path: path.name)
def test_times_are_plotted_and_name_their_gpu(path):
    outputs = [o.get("data", {}) for cell in python_of(path) for o in cell.outputs]
    figures = [data["text/plain"] for data in outputs if "image/png" in data]
    of_times = [said for said in figures if re.search("µs|GB/s|^(Times|Shares) of", said)]
    assert any(re.search(r"(?<!models )NVIDIA [A-Z]\w+", said) for said in of_times)


def test_exercises_are_as_their_folders_say():
    done = python("scripts/exercises.py", "--check")
    assert not done.returncode, f"run python scripts/exercises.py: {done.stdout}{done.stderr}"


@pytest.fixture
def exercises(monkeypatch):
    """scripts/exercises.py"""
    monkeypatch.setenv("HELPERS_DEVICE", "software")  # which it sets
    spec = importlib.util.spec_from_file_location("exercises", ROOT / "scripts/exercises.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    return script


def order(cells):
    """The exercises, and other cells that are no exercise's, as they stand."""
    found = []
    for cell in cells:
        tag = next(iter(cell.metadata.get("tags", [])), cell.source.partition("\n")[0])
        if found[-1:] != [tag]:
            found.append(tag)
    return found


TEXT = ["# Start", "exercise:09.bias", "## Exercises", "exercise:09.hunt_step"]
LAST = [
    "exercise:09.view",
    "exercise:09.strided",
    "exercise:09.remainder",
    "## On your own",
]


@pytest.mark.parametrize(
    "before",
    [
        [*TEXT, *LAST],
        [*TEXT, "exercise:09.remainder", "exercise:09.view", "## On your own"],
        [*TEXT, "exercise:09.remainder", "## On your own"],
        [*TEXT, "## On your own"],
        ["# Start", "exercise:09.bias", "## Exercises", *LAST],
        ["# Start", "exercise:09.bias", "## On your own"],
    ],
)
def test_exercises_stand_in_the_order_of_the_course(exercises, before):
    cells = []
    for what in before:
        cell = nbformat.v4.new_markdown_cell(what)
        if what.startswith("exercise:"):
            cell.metadata["tags"] = [what]
        cells.append(cell)
    notebook = nbformat.v4.new_notebook(cells=cells)
    assert order(exercises.placed(notebook, "09")) == [*TEXT, *LAST]


def test_no_exercise_moves_out_of_the_text(exercises):
    before = ["# Start", "exercise:09.view", "## Exercises", "exercise:09.bias", "## On your own"]
    cells = []
    for what in before:
        cells.append(nbformat.v4.new_markdown_cell(what))
        cells[-1].metadata["tags"] = [what] if what.startswith("exercise:") else []
    with refused(exercises.Misplaced, "09.view", "09.hunt_step"):
        exercises.placed(nbformat.v4.new_notebook(cells=cells), "09")


def written(*cells):
    notebook = nbformat.v4.new_notebook(cells=list(cells))
    return nbformat.writes(notebook) + "\n"


def code(source="1", count=1, text="1", tags=(CHECKED,)):
    outputs = [nbformat.v4.new_output("stream", text=text)] if text else []
    cell = nbformat.v4.new_code_cell(source, execution_count=count, outputs=outputs)
    cell.metadata["tags"] = list(tags)
    return cell


def test_good_notebook_passes():
    text = written(*(code(count=number) for number in range(1, 6)))
    assert not list(problems(text, is_course=True))


@pytest.mark.parametrize(
    "cell, complaint",
    [
        (code(tags=["nbval-check-outputs"]), "unknown tags"),
        (code(source="x\n" * 16), "16 lines"),
        (code(count=2), "executed as 2"),
        (code(count=None), "executed as None"),
        (code(text=""), "nothing stored"),
        (code(text="in /home/me/x.py"), "path of the machine"),
    ],
)
def test_bad_cell_is_found(cell, complaint):
    (found,) = problems(written(cell), is_course=False)
    assert complaint in found


def test_bad_notebook_is_found():
    text = written(code())
    assert "canonical" in next(problems(text + "\n", is_course=False))
    assert "at least" in next(problems(text, is_course=True))
