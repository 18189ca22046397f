"""Cells of CUDA in IPython."""

import sys

import pytest
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell

import helpers
from helpers import kernels, magic, sources

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
    with pytest.raises(kernels.CompileError, match=r"kernel.cu\(3\): error"):
        shell.run_cell_magic("kernel", "", ONE.replace("1;", "1"))


def test_a_kernel_of_the_course_is_fetched(shell):
    shell.run_line_magic("kernel", "reduce/shared.cu T=double")
    first, _, text = shell.rl_next_input.partition("\n")
    assert first == "%%kernel" and "using T = double;" in text
    shell.run_cell_magic("kernel", "", text)
    assert shell.user_ns["shared"].name == "shared"


@pytest.mark.parametrize(
    "line, cell, says",
    [
        ("", "int x;", "defines no kernel"),
        ("two", ONE, "no kernel named 'two'; it has one"),
        ("U=1", ONE, "has no choice U; it has T=float"),
        ("reduce/shard.cu", None, "there is .*reduce/shared.cu"),
        ("", None, "name a file of cuda_src"),
    ],
)
def test_mistakes_take_a_line(shell, line, cell, says):
    with pytest.raises(UsageError, match=says):
        magic.kernel(line, cell)


def test_importing_the_helpers_registers_it(monkeypatch):
    shell = InteractiveShell()
    monkeypatch.setattr("IPython.get_ipython", lambda: shell)
    monkeypatch.delitem(sys.modules, "helpers")
    import helpers as again

    monkeypatch.setitem(sys.modules, "helpers", helpers)
    assert again is not helpers and "kernel" in shell.magics_manager.magics["cell"]
    assert sources.ROOT.is_dir()
