"""Judge what learners handed in, who may mean harm: a row of a table for each, whatever it does.

A folder holds notebooks, or kernels named after their exercise ("03.padding.cu"). The first folder
below it names the learner, or the file itself where it lies at the top. Nothing of a notebook is
run but its cells of CUDA. Each kernel is judged on the software GPU, in a process of its own, with
limits of time, memory, processes and files, in a sandbox where the machine has one."""

import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import closing

from .. import texts
from ..progress import seed_of
from . import reports
from .collected import OR, Unreadable, collected
from .machines import Machines
from .rooms import RoomError, Rooms
from .table import File, Stream, TableError, plain, rows, summed

__all__ = ["RoomError", "TableError", "grade"]


def grade(
    folder, file=None, seconds=60, megabytes=2048, jobs=None, seed=None, output=None, resume=False,
    by_learner=None, reports_to=None, alike=None, dask=None,
):  # fmt: skip
    """Write the CSV of all that was handed in in a folder: to a file, or to the path `output`.

    seed: of the numbers that kernels run on; by default each learner has others in each exercise,
    the same every time. resume: keep the rows that `output` has.
    by_learner: the path of a second table, a row for each learner. reports_to: a folder for a
    report to each. alike: the path of a table of kernels that are the same. dask: the address of a
    scheduler whose workers judge. Progress is told on stderr."""
    table = File(output, resume) if output else Stream(file)
    begun = time.monotonic()
    states: Counter[str] = Counter()
    found = collected(folder, lambda place, why: _say(f"passed over: {place}: {why}"))
    if not found:
        _say(f"nothing handed in below {folder}")
    heads = [_head(submission, seed) for submission in found]
    to_do = [n for n, row in enumerate(heads) if not table.keeps(n, row)]

    def open_rooms():
        return Machines(dask, seconds, megabytes) if dask else Rooms(seconds, megabytes, [folder])

    judged = _judged(found, heads, to_do, open_rooms, jobs)
    try:
        with closing(judged):
            for n, row in judged:
                table.add(n, row)
                states[row["verdict"]] += 1
                count = f"{states.total() + len(heads) - len(to_do)} of {len(heads)}"
                _say(f"{count}  {row['learner']} {row['exercise']}: {row['verdict']}")
    finally:
        table.close()
        if by_learner:
            by_learner.write_text(summed(table.all), encoding="utf-8", newline="")
        if reports_to:
            reports.write(rows(table.all), reports_to)
        kept = {"there already": len(heads) - len(to_do)} if len(to_do) < len(heads) else {}
        counts = [f", {count} {state}" for state, count in [*states.most_common(), *kept.items()]]
        took = f"{time.monotonic() - begun:.0f} s"
        _say(f"{states.total()} of {len(to_do)} kernels judged in {took}{''.join(counts)}")
    if alike:
        written = rows(table.all)
        ours = _solutions({row["exercise"] for row in written if row["ptx"]}, open_rooms)
        alike.write_text(reports.alike(written, ours), encoding="utf-8", newline="")


def _solutions(exercises, open_rooms):
    """{exercise: what its solution's row says of its PTX}"""
    if not exercises:
        return {}
    with open_rooms() as rooms:
        solved = {name: texts.find(name).solution for name in exercises}
        return {name: rooms.judged(name, text, {}, 0).get("ptx") for name, text in solved.items()}


def _say(words):
    print(plain(words), file=sys.stderr, flush=True)


def _head(submission, seed):
    """What is known of a row before it is judged."""
    learner, exercise = submission.learner, submission.exercise
    seed = seed_of(exercise, learner) if seed is None else seed
    return {"learner": learner, "exercise": exercise, "seed": seed, "file": submission.place}


def _judged(found, heads, to_do, open_rooms, jobs):
    """(number, row) of those that are to do, as they are ready."""
    if not to_do:
        return
    with open_rooms() as rooms, ThreadPoolExecutor(jobs or rooms.jobs) as pool:
        _say(f"{len(to_do)} kernels to judge, {jobs or rooms.jobs} at a time, {rooms.said}")
        try:
            waiting = {pool.submit(_verdict, rooms, found[n], heads[n]["seed"]): n for n in to_do}
            for ready in as_completed(waiting):
                n = waiting.pop(ready)
                yield n, heads[n] | ready.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            rooms.close()


def _verdict(rooms, submission, seed):
    """The rest of a row, whatever happens."""
    note = submission.note
    try:
        text, choices = submission.kernel()
        if note and OR in submission.exercise:
            return {"verdict": "untagged", "reasons": note}
        rest = rooms.judged(submission.exercise, text, choices, seed)
        reasons = "; ".join(filter(None, (note, rest.get("reasons"))))
        return rest | {"reasons": reasons}
    except Unreadable as why:
        return {"verdict": "unreadable", "reasons": str(why)}
    except Exception as error:
        return {"verdict": "crashed", "reasons": f"{type(error).__name__}: {error}"}
