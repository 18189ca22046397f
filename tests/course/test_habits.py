"""The files around the code say what they must: version, changes, CI, reports, updates."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

import softgpu
from tests import ROOT

WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
FORMS = {path.stem: path for path in (ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml")}
MAKEFILE = (ROOT / "Makefile").read_text()
EXPECTED = ROOT / "softgpu/tests/clients"


def read(path):
    return yaml.safe_load((ROOT / path).read_text())


def triggers(workflow):
    return workflow[True]  # YAML's `on`


def test_the_version_stands_in_one_place():
    version = softgpu.__version__
    pages = "README.md", "softgpu/README.md", "CONTRIBUTING.md", "environment.yml", "Makefile"
    for name in (*pages, "pyproject.toml", "scripts/setup.py", "softgpu/__main__.py"):
        assert version not in (ROOT / name).read_text(), name
    assert 'version = { attr = "softgpu.__version__" }' in (ROOT / "pyproject.toml").read_text()


def test_the_changelog_begins_with_it():
    sections = re.findall(r"^## (\S+) \((.*)\)$", (ROOT / "CHANGELOG.md").read_text(), re.M)
    assert sections[0][0] == softgpu.__version__
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\d", date) for _, date in sections[1:])


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_may_only_read_run_fixed_actions_and_give_way(path):
    text, workflow = path.read_text(), read(path)
    assert workflow["permissions"] == {"contents": "read"}
    assert workflow["concurrency"]["cancel-in-progress"] is True
    used = re.findall(r"uses: (.*)", text)
    for action in used:
        assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", action), action
    assert used and all("timeout-minutes" in job for job in workflow["jobs"].values())


def test_each_week_runs_what_takes_long():
    workflow = read(".github/workflows/weekly.yml")
    assert {"schedule", "workflow_dispatch"} == set(triggers(workflow))
    (job,) = workflow["jobs"].values()
    matrix = job["strategy"]["matrix"]
    runs = " ".join(matrix["run"] + [more["run"] for more in matrix["include"]])
    targets = re.findall(r"[\w-]+(?=[ $]|$)", runs.replace("make ", " "))
    for what in ("mutants", "fuzz", "coverage"):
        assert what in targets and re.search(rf"^{what}: setup$", MAKEFILE, re.M)
    assert {"run": "make test SEED=$GITHUB_RUN_NUMBER", "machine": "ubuntu-24.04-arm"} in matrix[
        "include"
    ]
    clients = re.search(r"^pycuda-tests .*(\n.*)?: setup$", MAKEFILE, re.M)
    suites = re.findall(r"([\w-]+)-tests", clients[0])
    assert {f"{client}-tests" for client in suites} <= set(targets)
    lists = {path.stem.removesuffix("_expected"): path for path in EXPECTED.glob("*_expected.txt")}
    assert set(lists) == {client.replace("-", "_") for client in suites}
    for more in matrix["include"]:
        if "repository" in more:  # whose commit the list tells
            assert re.search(r" commit [0-9a-f]{9}", lists[more["list"]].read_text())
    assert job["steps"][-1] == {"run": "${{ matrix.run }}"}


def test_coverage_has_floors():
    assert "--fail-under=$(PYTHON_FLOOR)" in MAKEFILE and "--fail-under-line=$(C_FLOOR)" in MAKEFILE
    floors = dict(re.findall(r"^(\w+)_FLOOR := (\d+)$", MAKEFILE, re.M))
    assert set(floors) == {"PYTHON", "C"} and min(map(int, floors.values())) >= 80


def test_forms_ask_for_what_a_report_needs():
    needed = {"wrong_result": ("softgpu show", "SOFTGPU_DUMP"), "refused": ("softgpu show", "PTX")}
    assert set(FORMS) >= set(needed)
    for name, path in FORMS.items():
        form = read(path)
        assert form["name"] and form["description"]
        fields = [field for field in form["body"] if field["type"] != "markdown"]
        assert len({field["id"] for field in fields}) == len(fields)
        asked = [f for f in fields if f.get("validations", {}).get("required")]
        text = yaml.safe_dump(asked)
        assert asked and all(word in text for word in needed.get(name, ()))


def test_updates_are_proposed_for_actions_and_packages():
    updates = read(".github/dependabot.yml")["updates"]
    watched = {(update["package-ecosystem"], update["directory"]) for update in updates}
    assert watched == {("github-actions", "/"), ("pip", "/"), ("pip", "/book")}


def test_security_says_what_is_no_boundary():
    text = (ROOT / "SECURITY.md").read_text()
    for word in ("Report a vulnerability", "your rights", "grade", "bubblewrap", "nbgrader"):
        assert word in text


def test_tests_leave_the_learner_s_work_alone():
    assert Path(os.environ["HELPERS_WORK"]).resolve() not in (ROOT, ROOT / "work")


def test_size_counts_lines_of_code_by_room(tmp_path):
    def run(*command):
        done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=True)
        return done.stdout

    def commit(**files):
        for path, text in files.items():
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text(text)
        run("git", "add", "-A")
        run("git", "-c", "user.name=a", "-c", "user.email=b", "commit", "-qm", "files")

    run("git", "init", "-q")
    commit(**{"softgpu/run.py": "1\n2\n", "softgpu/tests/a b.c": "3\n", "README.md": "4\n"})
    run("git", "tag", "before")
    commit(**{"softgpu/jit/emit.py": "5\n6\n7\n", "softgpu/run.py": "1\n", "tests/a.cu": "8\n"})
    told = run(sys.executable, ROOT / "scripts/size.py")
    rows = [line.rsplit(maxsplit=2) for line in told.splitlines()[1:]]
    assert "since before" in told and rows == [
        ["softgpu/*.py", "1", "-1"],
        ["softgpu/jit", "3", "+3"],
        ["= product", "4", "+2"],
        ["softgpu/tests", "1", "+0"],
        ["tests", "1", "+1"],
        ["= tests", "2", "+1"],
    ]
