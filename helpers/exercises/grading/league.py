"""A page that ranks a class by what the clock predicts of its kernels, exercise by exercise.

Only kernels that are done are ranked. A learner is a nickname there, which the class's seed and a
report tell, unless they have agreed to be named."""

import re
from collections import defaultdict
from hashlib import sha256
from html import escape
from itertools import count

from .. import texts

__all__ = ["nicknames", "page", "predicted"]

PREDICTED = re.compile(r"(\d{1,12}\.\d) (µs|TFLOP/s)")
OURS = "the course's"
ANIMALS = """badger beaver bison camel crane dolphin eagle falcon ferret gecko heron ibex jackal
    koala lemur lynx marten newt otter panda quail raven seal tapir walrus yak zebra""".split()
STYLE = """body { font: 1.1rem/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto;
  padding: 0 1rem; }
table { border-collapse: collapse; margin-bottom: 2rem; min-width: 30rem; }
td, th { padding: .2rem .8rem; text-align: right; border-bottom: 1px solid #ccc; }
td:nth-child(2), th:nth-child(2) { text-align: left; }
tr.ours { color: #666; }
h2 { break-after: avoid; } tr { break-inside: avoid; }"""


def predicted(times):
    """real.Times as a cell of the table: TFLOP/s where an exercise asks for these, else µs."""
    if not times:
        return ""
    if times.speeds:
        return f"{times.speeds.yours:.1f} TFLOP/s"
    return f"{times.yours.us:.1f} µs"


def nicknames(learners, seed, named=()):
    """{learner: nickname}, each another; of those who are named, their own name."""
    found = {learner: learner for learner in learners if learner in named}
    for learner in sorted({*learners} - {*found}):
        drawn = (_nickname(seed, learner, number) for number in count())
        found[learner] = next(name for name in drawn if name not in found.values())
    return found


def _nickname(seed, learner, number):
    drawn = int(sha256(f"nickname {seed} {learner} {number}".encode()).hexdigest(), 16)
    return f"{ANIMALS[drawn % len(ANIMALS)]} {drawn // len(ANIMALS) % 9000 + 1000}"


def page(rows, names, ours):
    """The page as HTML. names: {learner: what to call them}; ours: {exercise: the row of the
    course's own kernel}."""
    best: dict[str, dict] = defaultdict(dict)
    for row in rows:
        if row["verdict"] == "done" and (speed := _speed(row["predicted"])):
            before = best[row["exercise"]].get(row["learner"], speed)
            best[row["exercise"]][row["learner"]] = min(speed, before)
    tables = [
        _table(name, best[name], names, ours.get(name, {}))
        for name in texts.names()
        if name in best
    ]
    note = "On an H200, predicted by the course's clock, not measured. Only kernels that are done."
    return (
        f"<!doctype html>\n<html lang=en><meta charset=utf-8><title>The class</title>"
        f"<style>{STYLE}</style>\n<h1>The class</h1>\n<p>{note}</p>\n{''.join(tables)}</html>\n"
    )


def _speed(words):
    """(what ranks it, the lowest first; the words), or None."""
    found = PREDICTED.fullmatch(words or "")
    return found and ((-1 if found[2] == "TFLOP/s" else 1) * float(found[1]), words)


def _table(exercise, best, names, ours):
    entries = [(speed, escape(names[learner])) for learner, speed in best.items()]
    lines = [(*speed, who, "") for speed, who in entries]
    if speed := _speed(ours.get("predicted")):
        lines.append((*speed, OURS, " class=ours"))
    rows = ""
    for value, words, who, kind in sorted(lines, key=lambda line: (line[0], line[2])):
        rank = "" if kind else 1 + sum(other < value for (other, _), _ in entries)
        rows += f"<tr{kind}><td>{rank}<td>{who}<td>{words}\n"
    title = escape(f"{exercise} {texts.find(exercise).title}")
    return f"<h2>{title}</h2>\n<table>\n<tr><th>rank<th>who<th>predicted\n{rows}</table>\n"
