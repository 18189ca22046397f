"""Hand kernels in to nbgrader and otter-grader: do they give points as exercises.check says? And do
workers of Dask judge as this machine does?

They are installed into .cache/graders, an environment of their own that sees the lab's packages."""

import csv
import json
import os
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

import nbformat
import setup
from nbformat import v4

from helpers import exercises

ENVIRONMENT = setup.CACHE / "graders"
PACKAGES = "nbgrader==0.9.6", "otter-grader==7.0.0", "distributed==2026.8.0"
EXERCISE, KERNEL, POINTS = "00.double", "twice", 2
CHECK = f'exercises.check("{EXERCISE}", {KERNEL})'
KERNELSPEC = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}


def install(environment, packages):
    """Packages in an environment of their own that sees the lab's, once."""
    key = setup.digest(*packages)
    if setup.stamp_is(environment.name, key):
        return
    subprocess.run([sys.executable, "-m", "venv", "--clear", environment], check=True)
    lab = Path(sysconfig.get_path("purelib"))
    theirs = environment / lab.relative_to(setup.VENV)
    (theirs / "lab.pth").write_text(f"import site; site.addsitedir({str(lab)!r})\n")
    pip = [environment / "bin/python", "-m", "pip", "install", "-q", *packages]
    subprocess.run(pip, check=True)
    setup.write_stamp(environment.name, key)


def handed_in():
    """Learner -> (CUDA text, the points that it is worth)."""
    solution = exercises.solution(EXERCISE)
    return {
        "ada": (solution, POINTS),
        "bob": (solution.replace("i < n", "i <= n"), 0),
        "cy": ("rubbish", 0),
        "di": (exercises.stub(EXERCISE), 0),
    }


def run(folder, *command):
    """A command of the graders, run in a folder."""
    path = f"{ENVIRONMENT / 'bin'}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, "PATH": path}, capture_output=True, text=True
    )
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{done.stdout}{done.stderr}")


def write(path, cells):
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(v4.new_notebook(cells=cells, metadata=KERNELSPEC), path)


def cells_of(text):
    """The cells that both graders' notebooks begin with: the kernel's needs no mark of theirs."""
    imports = v4.new_code_cell("from helpers import autoinit, exercises")
    return [imports, v4.new_code_cell(f"%%kernel\n{text.strip()}", id="kernel")]


def by_nbgrader(folder):
    """Learner -> points. The cell with the check is marked "Autograder tests"."""
    check = v4.new_code_cell(CHECK)
    check.metadata["nbgrader"] = {
        "grade": True, "grade_id": "check", "points": POINTS, "solution": False, "task": False,
        "locked": True, "schema_version": 3,
    }  # fmt: skip
    write(folder / "source/week1/kernels.ipynb", [*cells_of(exercises.stub(EXERCISE)), check])
    for learner, (text, _) in handed_in().items():
        write(folder / f"submitted/{learner}/week1/kernels.ipynb", [*cells_of(text), check])
    run(folder, "nbgrader", "generate_assignment", "week1")
    run(folder, "nbgrader", "autograde", "week1")
    run(folder, "nbgrader", "export")
    with open(folder / "grades.csv") as file:
        return {row["student_id"]: float(row["score"]) for row in csv.DictReader(file)}


def by_otter(folder):
    """Learner -> points. The check stands between "# BEGIN TESTS" and "# END TESTS"."""
    begin, end = "# ASSIGNMENT CONFIG\nrun_tests: false", "# END TESTS"
    imports, kernel = cells_of(exercises.stub(EXERCISE))
    question = f"# BEGIN QUESTION\nname: {KERNEL}\npoints: {POINTS}"
    marked = [begin, imports, question, "# BEGIN SOLUTION", kernel, "# END SOLUTION"]
    marked += ["# BEGIN TESTS", v4.new_code_cell(CHECK), end, "# END QUESTION"]
    cells = [v4.new_raw_cell(cell) if isinstance(cell, str) else cell for cell in marked]
    write(folder / "kernels.ipynb", cells)
    run(folder, "otter", "assign", "kernels.ipynb", "dist")
    (archive,) = folder.glob("dist/autograder/*.zip")
    points = {}
    for learner, (text, _) in handed_in().items():
        notebook = nbformat.read(folder / "dist/student/kernels.ipynb", as_version=4)
        (cell,) = [cell for cell in notebook.cells if cell.source.startswith("%%kernel")]
        cell.source = cells_of(text)[1].source
        nbformat.write(notebook, folder / f"{learner}.ipynb")
        run(folder, "otter", "run", "-a", archive, "-o", folder, f"{learner}.ipynb")
        results = json.loads((folder / "results.json").read_text())["tests"]
        points[learner] = sum(test.get("score", 0) for test in results)
    return points


GRADE = [ENVIRONMENT / "bin/python", "-m", "helpers.exercises", "grade", "--seed", "1"]
CLUSTER = """\
from distributed import LocalCluster
if __name__ == "__main__":
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        print(cluster.scheduler_address, flush=True)
        input()"""


def by_dask(folder):
    """Learner -> points: by two workers of a cluster on this machine, which say what it says."""
    for learner, (text, _) in handed_in().items():
        path = folder / f"handed_in/{learner}/{EXERCISE}.cu"
        path.parent.mkdir(parents=True)
        path.write_text(text)
    (folder / "cluster.py").write_text(CLUSTER)
    cluster = subprocess.Popen(
        [GRADE[0], folder / "cluster.py"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with cluster:
        address = cluster.stdout.readline().strip()
        run(
            setup.ROOT,
            *GRADE,
            folder / "handed_in",
            "--output",
            folder / "there.csv",
            "--dask",
            address,
        )
        cluster.communicate("\n")
    run(setup.ROOT, *GRADE, folder / "handed_in", "--output", folder / "here.csv")
    there, here = ((folder / name).read_text() for name in ("there.csv", "here.csv"))
    if there != here:
        sys.exit(f"Dask's workers say\n{there}and this machine\n{here}")
    rows = csv.DictReader(there.splitlines())
    return {row["learner"]: POINTS * (row["verdict"] == "done") for row in rows}


def main():
    install(ENVIRONMENT, PACKAGES)
    right = {learner: points for learner, (_, points) in handed_in().items()}
    for grade in by_nbgrader, by_otter, by_dask:
        with tempfile.TemporaryDirectory() as folder:
            given = grade(Path(folder))
        if given != right:
            sys.exit(f"{grade.__name__}: points {given}, expected {right}")
        print(f"{grade.__name__}: {given}")


if __name__ == "__main__":
    main()
