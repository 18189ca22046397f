"""Ways in without a set-up of one's own: the container, Codespaces, Binder, Colab."""

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

from tests import ROOT
from tests.course.test_setup import PINS, PYTHONS

DOCKERFILE = (ROOT / "Dockerfile").read_text()
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


def stages():
    """{name of the stage, the last one's "": its lines}"""
    parts = re.split(r"^FROM \S+(?: AS (\w+))?$", DOCKERFILE, flags=re.M)[1:]
    return {name or "": lines for name, lines in zip(parts[::2], parts[1::2])}


def test_the_image_has_a_python_of_the_lab_and_what_readme_names():
    (version,) = re.findall(r"^FROM python:([\d.]+)-slim", DOCKERFILE, re.M)
    assert version in PYTHONS
    packages = re.search(r"sudo apt install ([^`]+)`", (ROOT / "README.md").read_text())[1]
    for package in packages.split():  # the image's Python has its headers and venv
        assert package.startswith("python3-") or f" {package} " in DOCKERFILE.replace("\n", " ")


def test_the_image_is_nobodys_root_and_binder_can_start_it():
    machine, last = stages()["machine"], stages()[""]
    assert "--uid 1000" in machine and re.search(r"^USER 1000$", machine, re.M)
    assert "USER" not in last
    folder = re.search(r"^WORKDIR (\S+)$", machine, re.M)[1]
    assert f"PATH={folder}/.venv/bin:" in last  # Binder calls `jupyter`
    assert "EXPOSE 8888" in last and f":{folder}/work " in DOCKERFILE


def test_codespaces_set_up_the_lab_on_the_image_s_first_stage():
    folder = ROOT / ".devcontainer"
    container = json.loads((folder / "devcontainer.json").read_text())
    assert (folder / container["build"]["dockerfile"]).resolve() == ROOT / "Dockerfile"
    assert "RUN" in stages()[container["build"]["target"]]
    assert f" {container['remoteUser']} " in stages()["machine"]
    for command in "make setup", ".venv/bin/python scripts/work.py":
        assert command in container["onCreateCommand"] and command in stages()["made"]


def test_an_image_takes_nothing_along_that_git_ignores():
    ignored, dockerignored = (
        {line for line in (ROOT / name).read_text().splitlines() if line and line[0] != "#"}
        for name in (".gitignore", ".dockerignore")
    )
    assert dockerignored - {".git"} == {
        line.strip("/") if line.startswith("/") else f"**/{line.strip('/')}" for line in ignored
    }


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
    lab = subprocess.Popen(
        command, cwd=ROOT, env=environment, text=True, start_new_session=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    try:
        said = lab.stdout.readline()
        where = re.fullmatch(
            r"JupyterLab: (http://\S+/lab\?token=\w+)  \(Ctrl-C ends it; .*\n", said
        )
        assert where, said
        with urllib.request.urlopen(where[1]) as page:
            assert page.status == 200 and b"JupyterLab" in page.read()
        assert "ServerApp" in (ROOT / ".cache/lab.log").read_text()
    finally:
        os.killpg(lab.pid, signal.SIGTERM)
    assert lab.stdout.read() == ""


def test_a_lab_that_does_not_start_says_why():
    failed = subprocess.run(
        [sys.executable, ROOT / "scripts/lab.py", "--ServerApp.port=none"],
        capture_output=True,
        text=True,
    )
    assert failed.returncode and "port" in failed.stdout
