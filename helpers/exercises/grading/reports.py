"""What is made of a finished table: a report for each learner, and whose kernels are the same.

The same PTX, apart from names, is no proof: a compiler makes one program of many texts, and few
lines leave little choice. The more instructions, and the fewer learners, the more it says."""

import csv
import hashlib
import io
import re
from collections import defaultdict

from .. import texts

__all__ = ["alike", "fingerprint", "write"]

LEFT_OUT = re.compile(
    r"^\s*(?:\.(?:loc|file|reg|section|version|target|address_size|visible)\b.*|//.*|)$"
)
NAME = re.compile(r"[%$]\w+|\b[A-Za-z_]\w*_param_\d+\b")

PTX = re.compile(r"\d{1,9} [0-9a-f]{12}")  # instructions, and a digest of them
LINE = "\n    "  # in a report, where the table has one line
MOST_NAME_BYTES = 200  # of a file's name: systems take 255
MARKUP = re.compile(r"[!-/:-@\[-`{-~]")


def fingerprint(ptx):
    """What tells a kernel's instructions from others', whatever its text calls things: how many
    there are, and a digest of them."""
    kept = [line.strip() for line in ptx.splitlines() if not LEFT_OUT.match(line)]
    names: dict[str, str] = {}
    lines = [NAME.sub(lambda m: names.setdefault(m[0], f"%{len(names)}"), line) for line in kept]
    lines = [re.sub(r"\b\w*\(\s*$|^\.(?:entry|func)\b.*", "", line) for line in lines]
    count = sum(line.endswith(";") and not line.startswith(".") for line in lines)
    return f"{count} {hashlib.sha256(chr(10).join(lines).encode()).hexdigest()[:12]}"


def alike(rows, solutions):
    """A CSV of the learners whose kernels for an exercise are the same instructions.

    solutions: {exercise: row} of the course's own. The most telling come first: of many
    instructions, and not the course's."""
    groups = defaultdict(set)
    for row in rows:
        if PTX.fullmatch(row["ptx"]):  # a kernel's own process has said it
            groups[row["exercise"], row["ptx"]].add(row["learner"])
    theirs = {exercise: row.get("ptx") for exercise, row in solutions.items()}
    several = [(*key, sorted(who)) for key, who in groups.items() if len(who) > 1]

    def telling(group):
        exercise, ptx, who = group
        return ptx == theirs.get(exercise), len(who), -int(ptx.split()[0]), exercise

    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(["exercise", "instructions", "ours", "learners", "who"])
    for exercise, ptx, who in sorted(several, key=telling):
        ours = "yes" if ptx == theirs.get(exercise) else "no"
        table.writerow([exercise, ptx.split()[0], ours, len(who), "; ".join(who)])
    return text.getvalue()


def write(rows, folder, nicknames, say):
    """A report for each learner, LEARNER.md, to be given back. say(words) gets what fails.

    nicknames: {learner: what the class's page calls them}"""
    folder.mkdir(parents=True, exist_ok=True)
    by_learner = defaultdict(list)
    for row in rows:
        by_learner[row["learner"]].append(row)
    for learner, own in by_learner.items():
        report = "\n".join(_report(own, nicknames.get(learner)))
        try:
            (folder / f"{_file_name(learner)}.md").write_text(report, encoding="utf-8")
        except OSError as error:
            say(f"no report for {learner}: {error.strerror}")


def _file_name(learner):
    """The learner's name where it can be a file's, else a part of it and a digest."""
    name = re.sub(r"[/\0]", "_", learner)
    short = name.encode()[:MOST_NAME_BYTES].decode(errors="ignore")
    if short == learner:
        return learner
    return f"{short} {hashlib.sha256(learner.encode()).hexdigest()[:12]}"


def _report(rows, nickname):
    """The lines of a report; what a learner may have written is indented, and so no Markdown, or
    has its punctuation escaped."""
    done = sum(row["verdict"] == "done" for row in rows)
    yield f"# {done} of {len(rows)} kernels are done\n"
    if nickname:
        yield f"The class's page calls you {nickname}.\n"
    for row in rows:
        known = row["exercise"] in texts.names()
        title = f" {texts.find(row['exercise']).title}" if known else ""
        exercise = row["exercise"] if known else MARKUP.sub(r"\\\g<0>", row["exercise"])
        yield f"## {exercise}{title}: {row['verdict']}\n"
        line = f"line {row['line']}" if row["line"] else ""
        speed = f"predicted: {row['predicted']}" if row["predicted"] else ""
        for words in row["reasons"], line, row["advice"], row["case"], speed, row["counters"]:
            if words:
                yield f"    {words.replace(' / ', LINE)}\n"
