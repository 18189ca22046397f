"""Colab's notebooks, and how the lab starts."""

import importlib.util
import json
import os
import re
import signal
import subprocess
import sys
import urllib.request

import pytest
import yaml

from softgpu.tests import python
from tests import ROOT
from tests.course.test_setup import PINS, PYTHONS

HERE = "https://github.com/OWNER/NAME"


@pytest.fixture
def colab(monkeypatch):
    """The script that makes the branch for Colab."""
    monkeypatch.syspath_prepend(ROOT / "scripts")
    spec = importlib.util.spec_from_file_location("colab", ROOT / "scripts/colab.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    yield script
    for name in "setup", "work":  # too common as names to stay
        sys.modules.pop(name, None)


def test_colab_installs_what_the_lab_runs(colab):
    source = "".join(colab.first_cell(HERE)["source"])
    assert f"pycuda{PINS['pycuda']}" in source and f"--branch colab {HERE} " in source
    assert len(source.splitlines()) <= 15
    (job,) = yaml.safe_load((ROOT / ".github/workflows/colab.yml").read_text())["jobs"].values()
    assert {"run": "make colab REPOSITORY=$GITHUB_SERVER_URL/$GITHUB_REPOSITORY"} in job["steps"]
    assert job["steps"][1]["with"]["python-version"] in PYTHONS


def test_notebooks_for_colab_begin_with_the_cell_and_link_out_of_it(colab):
    for notebook in sorted((ROOT / "notebooks").glob("*.ipynb")):
        cells = json.loads(colab.for_colab(notebook, HERE))["cells"]
        own = json.loads(notebook.read_text())["cells"]
        assert cells[0] == colab.first_cell(HERE) and len(cells) == len(own) + 1
        assert not any(cell.get("outputs") for cell in cells)
        text = "".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")
        prose = re.sub(r"```.*?```|`[^`]*`", "", text, flags=re.S)
        assert not re.search(r'(\]\(|src=")(?!https?:|attachment:|#)', prose), notebook
        for path in re.findall(rf"{HERE}/(?:blob|raw)/main/([^)#\"]+)", text):
            assert (ROOT / path).exists(), path
        for name in re.findall(r"github/OWNER/NAME/blob/colab/([^)#]+)", text):
            assert (ROOT / name).exists(), name


def test_the_lab_says_where_it_is_in_one_line(monkeypatch, tmp_path):
    places = "HOME", "JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR"
    environment = os.environ | {name: str(tmp_path / name) for name in places}
    command = [sys.executable, ROOT / "scripts/lab.py", "--no-browser", "--port=0", "--allow-root"]
    command.append("--LabApp.default_url=/lab/tree/README.md")
    lab = subprocess.Popen(
        command, cwd=ROOT, env=environment, text=True, start_new_session=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    try:
        said = lab.stdout.readline()
        where = re.fullmatch(r"JupyterLab: (http://\S+/\?token=\w+)  \(Ctrl-C .*\n", said)
        assert where, said
        with urllib.request.urlopen(where[1]) as page:
            assert b"JupyterLab" in page.read() and "/lab/tree/README.md" in page.url
        assert "ServerApp" in (ROOT / ".cache/lab.log").read_text()
    finally:
        os.killpg(lab.pid, signal.SIGTERM)
    assert lab.stdout.read() == ""


def test_a_lab_that_does_not_start_says_why():
    failed = python("scripts/lab.py", "--ServerApp.port=none")
    assert failed.returncode and "port" in failed.stdout
