"""Judge what learners handed in, who may mean harm: a row of a table for each, whatever it does.

A folder holds notebooks, or kernels named after their exercise ("03.padding.cu"). The first folder
below it names the learner, or the file itself where it lies at the top. Nothing of a notebook is
run but its cells of CUDA. Each kernel is judged on the software GPU, in a process of its own, with
limits of time, memory, processes and files, in a sandbox where the machine has one."""

import os
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import closing

from ..progress import seed_of
from . import sandbox
from .collected import OR, Unreadable, collected
from .rooms import RoomError, Rooms
from .table import File, Stream, TableError, plain, summed

__all__ = ["RoomError", "TableError", "grade"]


def grade(
    folder, file=None, seconds=60, megabytes=2048, jobs=None, seed=None, output=None, resume=False,
    by_learner=None,
):  # fmt: skip
    """Write the CSV of all that was handed in in a folder: to a file, or to the path `output`.

    seed: of the numbers that kernels run on; by default each learner has others in each exercise,
    the same every time. resume: keep the rows that `output` has.
    by_learner: the path of a second table, a row for each learner. Progress is told on stderr."""
    table = File(output, resume) if output else Stream(file)
    begun = time.monotonic()
    states: Counter[str] = Counter()
    found = collected(folder, lambda place, why: _say(f"passed over: {place}: {why}"))
    if not found:
        _say(f"nothing handed in below {folder}")
    rows = [_head(submission, seed) for submission in found]
    to_do = [n for n, row in enumerate(rows) if not table.keeps(n, row)]
    judged = _judged(found, rows, to_do, seconds, megabytes, jobs or _cores(), folder)
    try:
        with closing(judged):
            for n, row in judged:
                table.add(n, row)
                states[row["verdict"]] += 1
                count = f"{states.total() + len(rows) - len(to_do)} of {len(rows)}"
                _say(f"{count}  {row['learner']} {row['exercise']}: {row['verdict']}")
    finally:
        table.close()
        if by_learner:
            by_learner.write_text(summed(table.all), encoding="utf-8", newline="")
        kept = {"there already": len(rows) - len(to_do)} if len(to_do) < len(rows) else {}
        counts = [f", {count} {state}" for state, count in [*states.most_common(), *kept.items()]]
        took = f"{time.monotonic() - begun:.0f} s"
        _say(f"{states.total()} of {len(to_do)} kernels judged in {took}{''.join(counts)}")


def _say(words):
    print(plain(words), file=sys.stderr, flush=True)


def _cores():
    return len(os.sched_getaffinity(0))


def _head(submission, seed):
    """What is known of a row before it is judged."""
    learner, exercise = submission.learner, submission.exercise
    seed = seed_of(exercise, learner) if seed is None else seed
    return {"learner": learner, "exercise": exercise, "seed": seed, "file": submission.place}


def _judged(found, rows, to_do, seconds, megabytes, jobs, folder):
    """(number, row) of those that are to do, as they are ready."""
    if not to_do:
        return
    with Rooms(seconds, megabytes, [folder]) as rooms, ThreadPoolExecutor(jobs) as pool:
        _say(f"{len(to_do)} kernels to judge, {jobs} at a time, {sandbox.KINDS[rooms.kind]}")
        try:
            waiting = {pool.submit(_verdict, rooms, found[n], rows[n]["seed"]): n for n in to_do}
            for ready in as_completed(waiting):
                n = waiting.pop(ready)
                yield n, rows[n] | ready.result()
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
