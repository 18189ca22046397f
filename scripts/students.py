"""The students' edition, where COURSE_SOLUTIONS is 0: notebooks and pages in which no solution
stands. A notebook goes on with ours where an exercise is not done, and does not show it.

`make lab SOLUTIONS=0` and `make book SOLUTIONS=0` ask for it. It takes nothing but Python: the
book is made in an environment of its own."""

import os
import re
from functools import cache
from pathlib import Path

EXERCISES = Path(__file__).resolve().parent.parent / "exercises"
OURS = re.compile(r'^    ours="(.+)"', re.MULTILINE)
LISTING = "<summary>ours:"  # what helpers.exercises.use shows of ours


def is_asked_for():
    return os.environ.get("COURSE_SOLUTIONS") == "0"


@cache
def steps():
    """{file of cuda_src: the exercise that it solves}"""
    found = {}
    for path in sorted(EXERCISES.glob("*/judge.py")):
        if ours := OURS.search(path.read_text(encoding="utf-8")):
            found[ours[1]] = path.parent.name
    return found


def without_solutions(cells):
    """A notebook's cells in this edition."""
    return [_without_listings(cell) for cell in cells if not _is_solution(cell)]


def _is_solution(cell):
    """Whether it is the folded text after an exercise; what is asked begins with a heading."""
    tags = cell["metadata"].get("tags", [])
    is_of_exercise = any(tag.startswith("exercise:") for tag in tags)
    text = "".join(cell["source"])
    return cell["cell_type"] == "markdown" and is_of_exercise and text.startswith("<details>")


def _without_listings(cell):
    for output in cell.get("outputs", []):
        data = output.get("data", {})
        if LISTING in "".join(data.get("text/html", "")):
            del data["text/html"]  # its plain text says whose kernel it is
    return cell
