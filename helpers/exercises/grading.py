"""Judge what learners handed in: a row of a CSV for each exercise of each learner.

A folder holds notebooks, or kernels named after their exercise ("03.padding.cu"). The folder of a
file names the learner, or the file itself where it lies at the top. Nothing of a notebook is run
but its cells of CUDA. Each kernel is judged in a process of its own, with limits of time and
memory: crashes, endless loops and rubbish cost a row. It is no protection from somebody who means
harm: nvcc reads what `#include` names, its messages are in the CSV, and memory that the software
GPU maps for a kernel is not counted."""

import csv
import json
import os
import resource
import signal
import subprocess
import sys

from . import texts

__all__ = ["grade", "handed_in"]

FIELDS = "learner", "exercise", "verdict", "counters", "reasons"


def grade(folder, file, seconds, megabytes):
    """Write the CSV of all that was handed in in a folder."""
    writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
    writer.writeheader()
    for learner, exercise, text in handed_in(folder):
        row = judged(exercise, text, seconds, megabytes)
        writer.writerow({"learner": learner, "exercise": exercise, **row})
        file.flush()


def handed_in(folder):
    """(learner, exercise, CUDA text) of each kernel in a folder; None for what cannot be read."""
    for path in sorted(folder.rglob("*")):
        learner = path.parent.name if path.parent != folder else path.stem
        if path.suffix == ".cu" and path.stem in texts.names():
            yield learner, path.stem, _text(path)
        elif path.suffix == ".ipynb" and ".ipynb_checkpoints" not in path.parts:
            yield from ((learner, *found) for found in in_notebook(path))


def _text(path):
    try:
        return path.read_text(errors="replace")
    except OSError:
        return None


def in_notebook(path):
    """(exercise, CUDA text) of the exercises in a notebook, which are told by their cells' tags."""
    try:
        cells = json.loads(path.read_text())["cells"]
        for cell in cells:
            source = "".join(cell["source"])
            tags = [tag.partition(":") for tag in cell["metadata"].get("tags", [])]
            for kind, _, name in tags:
                if kind == "exercise" and name in texts.names() and source.startswith("%%kernel"):
                    yield name, source.partition("\n")[2]
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        yield path.name, None


def judged(exercise, text, seconds, megabytes):
    """The verdict, counters and reasons of one kernel, by a process of its own."""
    if text is None:
        return {"verdict": "unreadable", "reasons": "no kernel, no notebook"}

    def limit():
        resource.setrlimit(resource.RLIMIT_DATA, (megabytes << 20, megabytes << 20))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    process = subprocess.Popen(
        [sys.executable, "-m", "helpers.exercises.grading", exercise],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        errors="replace", preexec_fn=limit, start_new_session=True,
    )  # fmt: skip
    try:
        out, error = process.communicate(text, timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return {"verdict": "stopped", "reasons": f"took more than {seconds:g} s"}
    try:
        return json.loads(out.splitlines()[-1])
    except (IndexError, ValueError):
        last = (error.strip().splitlines() or ["no word"])[-1]
        return {"verdict": "crashed", "reasons": f"ended with {process.returncode}: {last}"}


def _judge_here(name):
    """The other process: a CUDA text from stdin, a line of JSON to stdout."""
    from .judging import judge

    verdict = judge(texts.find(name), sys.stdin.read())
    counters = "; ".join(f"{c.key} {c.value} (best {c.best})" for c in verdict.counts)
    reasons = "; ".join(map(str, verdict.reasons))
    print(json.dumps({"verdict": verdict.state, "counters": counters, "reasons": reasons}))


if __name__ == "__main__":
    _judge_here(sys.argv[1])
