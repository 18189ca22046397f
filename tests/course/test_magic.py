"""Cells of CUDA in IPython."""

import sys

import numpy as np
import pytest
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell

import helpers
from helpers import kernels, magic, sources, xray
from softgpu.tests.facts import missing, refused

ONE = "using T = float;\n__global__ void one(T *out) { *out = 1; }\n"


@pytest.fixture
def shell(monkeypatch):
    shell = InteractiveShell()
    monkeypatch.setattr(magic, "get_ipython", lambda: shell)
    magic.register(shell)
    return shell


def test_a_cell_binds_its_kernels(shell):
    shell.run_cell_magic("kernel", "", ONE + "__global__ void two(int n) {}")
    one, two = shell.user_ns["one"], shell.user_ns["two"]
    assert repr(two) == "<kernel two(int n)>" and one.parameters[0].dtype == "float32"
    shell.run_cell_magic("kernel", "one T=double", ONE + "__global__ void two(int n) {}")
    assert shell.user_ns["one"].parameters[0].dtype == "float64" and shell.user_ns["two"] is two


def test_lines_are_those_of_the_cell(shell):
    with refused(kernels.CompileError, "kernel.cu(3)"):
        shell.run_cell_magic("kernel", "", ONE.replace("1;", "1"))


@pytest.mark.parametrize(
    "text", [f"\ufeff{ONE}", ONE.replace("\n", "\r\n"), f"// kᵀ für 中\n{ONE}"]
)
def test_a_cell_may_have_marks_of_editors_and_letters_that_are_not_ascii(shell, text):
    from pycuda import gpuarray

    shell.run_cell_magic("kernel", "", text)
    report = xray.profile(shell.user_ns["one"], gpuarray.zeros(1, np.float32), grid=1, block=1)
    assert not report.machine_unknown


TWO = ONE.replace("one", "two")


@pytest.fixture
def cell(shell, monkeypatch):
    """Run a cell of CUDA, by its id where the frontend tells it."""

    def run(text, id=None):
        header = {"metadata": {"cellId": id} if id else {}}
        monkeypatch.setattr(type(shell), "parent_header", header, raising=False)
        try:
            shell.run_cell_magic("kernel", "", text)
        except (UsageError, kernels.CompileError) as error:
            return error
        return shell.user_ns

    monkeypatch.setattr(magic, "_cells", magic._Cells())
    return run


def test_a_cell_says_what_it_defines(cell, capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("PYCUDA_CACHE_DIR", str(tmp_path))  # it says nothing of what it has done
    cell(ONE + TWO.partition("\n")[2])
    cell(ONE.replace("*out = 1", "int i; i; *out = 1"))
    out = capsys.readouterr().out
    both, one, warning, *_ = out.splitlines()
    assert not missing(both, "one, two") and not missing(one, "one") and "two" not in one
    assert warning.startswith("kernel.cu(3): warning #174-D: ")
    assert "Remark" not in out


@pytest.mark.parametrize("id", ["a", None])
def test_a_cell_that_fails_leaves_no_kernel(cell, shell, id):
    old = cell(ONE, id)["one"]
    assert "kernel.cu(3): error" in str(cell(ONE.replace("1;", "1"), id))
    none = shell.user_ns["one"]
    assert not missing(repr(none), "one", 3)
    for launch in (none, lambda: xray.profile(none, grid=1, block=1)):
        with refused(kernels.CompileError, "one", 3):
            launch()
    assert cell(ONE, id)["one"] is old and old.instead is None


def test_a_cell_that_defines_another_kernel_takes_the_old_one_away(cell, shell):
    cell(ONE, "a")
    assert repr(cell(TWO, "b")["one"]) == "<kernel one(T *out)>"
    assert not missing(repr(cell(TWO, "a")["one"]), "one", "two")
    cell(ONE, "a")
    assert isinstance(cell(ONE.replace("__global__", "__globl__"), "a"), UsageError)
    assert not missing(repr(shell.user_ns["one"]), "one", "__global__ void name(...) { ... }")


def test_where_cells_are_not_told_apart_a_likely_one_is_noted(cell):
    one = cell(ONE)["one"]
    names = cell("__global__ void quite(int a, float b, char *c)\n{\n    c[a] = b * b;\n}\n")
    assert names["one"] is one and one.instead is None
    assert cell(TWO)["one"] is one and not missing(one.instead.why, "two")
    assert cell(ONE)["one"] is one and one.instead is None


def test_a_kernel_of_the_course_is_fetched(shell):
    shell.run_line_magic("kernel", "reduce/shared.cu T=double")
    first, _, text = shell.rl_next_input.partition("\n")
    assert first == "%%kernel" and "using T = double;" in text
    shell.run_cell_magic("kernel", "", text)
    assert shell.user_ns["shared"].name == "shared"


@pytest.mark.parametrize(
    "line, cell, facts",
    [
        ("", "int x;", ["__global__ void name(...) { ... }"]),
        ("two", ONE, ["'two'", "one"]),
        ("U=1", ONE, ["U", "T=float"]),
        ("reduce/shard.cu", None, ["'reduce/shard.cu'", "reduce/shared.cu"]),
        ("", None, ["%kernel reduce/shared.cu"]),
    ],
)
def test_mistakes_take_a_line(shell, line, cell, facts):
    with refused(UsageError, *facts):
        magic.kernel(line, cell)


def test_importing_the_helpers_registers_it(monkeypatch):
    shell = InteractiveShell()
    monkeypatch.setattr("IPython.get_ipython", lambda: shell)
    monkeypatch.delitem(sys.modules, "helpers")
    import helpers as again

    monkeypatch.setitem(sys.modules, "helpers", helpers)
    assert again is not helpers and "kernel" in shell.magics_manager.magics["cell"]
    assert sources.ROOT.is_dir()
