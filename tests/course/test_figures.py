"""Figures that pages quote are those that were recorded, or that can be counted."""

import json
import re
import sys

import pytest

from helpers import exercises
from softgpu.tests import python
from tests import ROOT

from . import figures

sys.path.insert(0, str(ROOT / "bench"))
import bench_kernels

CLIENTS = {
    "PyCUDA": "pycuda", "numba-cuda": "numba", "numba-cuda-mlir": "numba_mlir", "reikna": "reikna",
    "Taichi": "taichi", "tinygrad": "tinygrad",
}  # fmt: skip


def test_pages_have_the_figures_that_were_recorded():
    pages = figures.pages()
    stale = [page.name for page, text in pages.items() if page.read_text() != text]
    assert not stale, "run `make figures`"
    used = {place[2] for page in pages for place in figures.PLACE.finditer(page.read_text())}
    assert used == {*figures.FIGURES}


@pytest.mark.parametrize("path", sorted((ROOT / "softgpu/xray/chips").glob("*.csv")))
def test_a_chips_constants_are_made_of_what_was_measured(path):
    made = python("bench/chip/constants.py", path)
    assert json.loads(made.stdout) == json.loads(path.with_suffix(".json").read_text())


def test_mutants_are_kept_of_each_exercise():
    kept = json.loads((ROOT / "exercises/mutants.json").read_text())
    assert sorted(kept["mutants"]) == sorted(kept["refused"]) == sorted(exercises.names())


def test_each_notebook_has_a_row():
    readme = (ROOT / "README.md").read_text()
    listed = re.findall(r"^\| \[(\w+)\]\(notebooks/(\w+)\.ipynb\) \|", readme, re.M)
    names = sorted(path.stem for path in (ROOT / "notebooks").glob("*.ipynb"))
    assert listed == [(name, name) for name in names]


SUITES = {row["suite"]: row for row in figures.rows_of("softgpu/tests/clients/suites.csv")}


def test_results_of_clients_are_of_the_versions_that_are_pinned():
    pages = "pyproject.toml", "scripts/client_tests.py"
    pins = "".join((ROOT / name).read_text() for name in pages)
    pinned = dict(re.findall(r'"([\w-]+)==([\w.]+)"', pins))
    names = (ROOT / "softgpu/tests/clients/tinygrad_expected.txt").read_text()
    pinned["tinygrad"] = re.search(r" commit (\w+)", names)[1]
    assert len(SUITES) == 8
    for client, row in SUITES.items():
        assert pinned[client.lower().replace(".", "-")] == row["version"]


@pytest.mark.parametrize("client", CLIENTS)
def test_what_clients_do_not_pass_is_what_is_expected(client):
    path = ROOT / f"softgpu/tests/clients/{CLIENTS[client]}_expected.txt"
    failing, reason = 0, ""
    for line in path.read_text().splitlines():
        own = ("skips itself", "not run", "a timing", f"{client} itself expects")
        failing += line.startswith("    ") and not reason.startswith(own)
        reason = reason if line.startswith("    ") else line
    tests, passed, skipped = (int(SUITES[client][what]) for what in ("tests", "passed", "skipped"))
    assert tests - passed - skipped == failing


def test_the_table_of_speeds_is_of_the_kernels_that_are_measured():
    page = (ROOT / "softgpu/docs/results.md").read_text()
    table = re.search(r"<!-- speed -->(.*?)<!-- end -->", page, re.DOTALL)[1]
    rows = re.findall(r"^\| `([\w/]+\.cu)` \|", table, re.MULTILINE)
    assert rows == [case.file for case in bench_kernels.cases()], "run `make bench`"
