"""Judge what learners handed in, who may mean harm: a row of a table for each, whatever it does.

A folder holds notebooks, or kernels named after their exercise ("03.padding.cu"). The first folder
below it names the learner, or the file itself where it lies at the top. Nothing of a notebook is
run but its cells of CUDA. Each kernel is judged on the software GPU, in a process of its own, with
limits of time, memory, processes and files, in a sandbox where the machine has one.

Sizes and values come from a seed of the class, drawn for each run: nobody who hands in can know
them. It is reported, and kept next to the table."""

import secrets
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import closing
from hashlib import sha256
from pathlib import Path

from .. import texts
from . import league, reports
from .collected import OR, Unreadable, collected
from .rooms import RoomError, Rooms
from .table import File, TableError, name, plain, rows, summed

__all__ = ["MOST_SEED", "RoomError", "TableError", "grade"]

MOST_SEED = 1 << 48


def grade(
    folder, output, seconds=60, megabytes=2048, jobs=None, seed=None, resume=False,
    by_learner=None, reports_to=None, alike=None, league_to=None, named=(),
):  # fmt: skip
    """Write the CSV of all that was handed in in a folder to the path `output`.

    seed: of the class, for the numbers that kernels run on: each learner has others in each
    exercise. By default it is drawn. resume: keep the rows that `output` has, and its seed.
    by_learner: the path of a second table, a row for each learner. reports_to: a folder for a
    report to each. alike: the path of a table of kernels that are the same. league_to: the path of
    a page that ranks what is done; named: the learners who are named there. Progress goes to
    stderr."""
    table = File(output, resume)
    seed = _seed_of_class(seed, output, resume)
    _say(f"the class's seed is {seed}: --seed {seed} draws the same sizes and values again")
    begun = time.monotonic()
    states: Counter[str] = Counter()
    found = collected(folder, lambda place, why: _say(f"passed over: {place}: {why}"))
    if not found:
        _say(f"nothing handed in below {folder}")
    heads = [_head(submission, seed) for submission in found]
    to_do = [n for n, row in enumerate(heads) if not table.keeps(n, row)]

    def open_rooms():
        return Rooms(seconds, megabytes, [folder], bool(league_to))

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
        names = league.nicknames({row["learner"] for row in rows(table.all)}, seed, named)
        if reports_to:
            reports.write(rows(table.all), reports_to, names if league_to else {}, _say)
        kept = {"there already": len(heads) - len(to_do)} if len(to_do) < len(heads) else {}
        counts = [f", {count} {state}" for state, count in [*states.most_common(), *kept.items()]]
        took = f"{time.monotonic() - begun:.0f} s"
        _say(f"{states.total()} of {len(to_do)} kernels judged in {took}{''.join(counts)}")
    if alike or league_to:
        written = rows(table.all)
        ours = _solutions({row["exercise"] for row in written if row["ptx"]}, open_rooms)
        if alike:
            alike.write_text(reports.alike(written, ours), encoding="utf-8", newline="")
        if league_to:
            league_to.write_text(league.page(written, names, ours), encoding="utf-8")


def _seed_of_class(seed, output, resume):
    """The seed that is asked for, the one beside a table that is gone on with, or a new one; it is
    kept beside the table."""
    beside = Path(f"{output}.seed")
    if seed is None and resume and beside.exists():
        try:
            seed = int(beside.read_text())
        except ValueError:
            raise TableError(f"{beside} holds no seed: remove it, or give --seed") from None
    seed = secrets.randbelow(MOST_SEED) if seed is None else seed
    beside.write_text(f"{seed}\n")
    return seed


def _solutions(exercises, open_rooms):
    """{exercise: the row of its solution}"""
    if not exercises:
        return {}
    with open_rooms() as rooms:
        solved = {name: texts.find(name).solution for name in exercises}
        return {name: rooms.judged(name, text, {}, 0) for name, text in solved.items()}


def _say(words):
    print(plain(words), file=sys.stderr, flush=True)


def _head(submission, seed):
    """What is known of a row before it is judged."""
    learner, exercise = name(submission.learner), name(submission.exercise)
    drawn = sha256(f"{seed} {learner} {exercise}".encode()).hexdigest()
    row = {"learner": learner, "exercise": exercise, "seed": int(drawn, 16) % 1_000_000}
    return row | {"file": name(submission.place)}


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
