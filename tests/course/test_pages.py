"""The programs of docs/ run as they are printed, and its tables hold what was recorded."""

import ast
import re

import pytest

from helpers import autoinit
from softgpu.tests import python
from softgpu.tests.clients import test_doors as doors
from softgpu.tests.facts import missing
from softgpu.tests.xray.nsight.cases import CASES
from softgpu.tests.xray.nsight.record import golden
from tests import ROOT

PAGES = "streams", "elsewhere", "appendix/tiles"
NEEDS = {
    "numba": "numba", "cuda.core": "cuda_core", "triton": "triton", "streams": "pycuda",
}  # fmt: skip
TILES = {"softmax in tiles": "triton", "a product in tiles": "triton", "cuTile": "cuda.tile"}
PROGRAM = re.compile(r"^<!-- (program|not run): ([^\n]*) -->\n```python\n(.*?)^```", re.M | re.S)
ALL = [m for page in PAGES for m in PROGRAM.findall((ROOT / f"docs/{page}.md").read_text())]
PROGRAMS = {name: text for kind, name, text in ALL if kind == "program"}


def test_each_program_says_whether_it_is_run():
    text = "".join((ROOT / f"docs/{page}.md").read_text() for page in PAGES)
    assert text.count("```python") == len(ALL) == 8 and set(PROGRAMS) == {*NEEDS, *TILES}
    for _, _, program in ALL:
        assert isinstance(ast.parse(program).body[-1], ast.Assert)


@pytest.mark.parametrize(
    "page",
    [
        *("README.md", "CONTRIBUTING.md", "docs/debugging.md", "docs/clock.md"),
        *("tests/README.md", "softgpu/tests/README.md"),
    ],
)
def test_files_that_a_page_names_exist(page):
    text = (ROOT / page).read_text()
    rooms = "bench|cuda_src|docs|exercises|helpers|notebooks|publish|scripts|softgpu|tests"
    paths = re.findall(rf"`((?:{rooms})/[\w/.]+)`", text)
    modules = re.findall(rf"python -m ((?:{rooms})(?:\.\w+)+)", text)
    named = [path for path in paths if not re.search("[A-Z]{2}", path)]
    named += [f"{name.replace('.', '/')}.py" for name in modules]
    gone = [p for p in named if not ((ROOT / p).exists() or (ROOT / p[:-3]).is_dir())]
    assert not gone and (named or page.endswith("README.md"))


@pytest.mark.slow
@pytest.mark.parametrize("watched", ["0", "1"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_program_runs(name, watched, tmp_path):
    if name in TILES:
        pytest.importorskip(TILES[name])
    else:
        doors.need(NEEDS[name])
    path = tmp_path / "program.py"  # Triton reads its kernels from there
    path.write_text(f"import softgpu\nsoftgpu.install()\n{PROGRAMS[name]}")
    done = python(path, SOFTGPU_SANITIZE=watched)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    "does, guard, facts",
    [
        ("run", "if (i < n)", []),
        ("profile", "if (i < n)", ["twice", 4, 256]),
        ("sanitize", "if (i < n)", ["twice"]),
        ("sanitize", "", ["out of bounds", "twice.cu:17", "(232,0,0)"]),
    ],
)
def test_the_program_of_the_host_runs(does, guard, facts, tmp_path):
    page = (ROOT / "docs/host.md").read_text()
    (program,) = re.findall(r"^<!-- program: twice.cu -->\n```cuda\n(.*?)^```", page, re.M | re.S)
    (tmp_path / "twice.cu").write_text(program.replace("if (i < n)", guard))
    done = python("-m", "softgpu", does, "twice.cu", cwd=tmp_path)
    assert done.returncode == 0 and re.fullmatch(r"right, in \S+ ms\n", done.stdout), done
    assert not missing(done.stderr, *facts)
    assert ("out of bounds" in done.stderr) == (not guard) and bool(done.stderr) == (does != "run")


@pytest.mark.skipif(not autoinit.is_software, reason="about the software GPU")
def test_ncu_and_xray_stand_side_by_side():
    (case,) = (c for c in CASES if c.name == "reduce/shared_strided.cu 4 of 256")
    page = (ROOT / "docs/ncu.md").read_text()
    rows = re.findall(r"^\| `(.*)` \| (\d+) \| (\d+) \|", page, re.M)
    assert {name: int(value) for name, value, _ in rows} == golden()[case.name][1]
    assert {name: int(value) for name, _, value in rows} == case.profiled().counted()
