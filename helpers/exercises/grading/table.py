"""The CSV: a line for each row, valid UTF-8, in which no cell is a formula."""

import csv
import io
import os
from pathlib import Path

from .. import texts

__all__ = ["File", "TableError", "name", "plain", "rows", "summed"]

FIELDS = (
    "learner exercise verdict predicted counters reasons advice line case seed ptx file".split()
)
MOST_LETTERS = 2000
FORMULAS = tuple("=+-@\t\r\n＝＋－＠")


class TableError(RuntimeError):
    """A file that is no table of ours."""


def plain(text):
    """A line of text that files and terminals can take: anything odd as an escape of Python's."""
    line = " / ".join(part.strip() for part in text.splitlines() if part.strip())
    line = line if len(line) <= MOST_LETTERS else f"{line[:MOST_LETTERS]} ..."
    return "".join(c if c.isprintable() else _escape(c) for c in line)


def name(text):
    """The name of a file as one line: no two are the same, whatever they are made of."""
    line = "".join(c if c.isprintable() and c != "\\" else _escape(c) for c in text)
    return f"\\x27{line[1:]}" if line.startswith("'") else line  # which says: no formula


def _escape(letter):
    return letter.encode("unicode_escape").decode()


def _cell(value):
    text = plain(str(value))
    return f"'{text}" if text.startswith(FORMULAS) else text


def _line(row):
    """The bytes of a row."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(_cell(row.get(name, "")) for name in FIELDS)
    return text.getvalue()


HEAD = ",".join(FIELDS) + "\n"


class File:
    """Rows in a file: each as soon as it is ready, all in order at the end.

    With is_resumed those that are in it already stay; a line that is not whole goes."""

    def __init__(self, path, is_resumed):
        self.path, self.lines, self.old = Path(path), {}, {}
        if is_resumed and self.path.exists():
            self.old = {_key(line): line for line in _lines(self.path)}
        self._write(self.old.values())

    def keeps(self, number, row):
        """Whether a row is there already."""
        if line := self.old.pop(_key(_line(row)), None):
            self.lines[number] = line
        return line is not None

    def add(self, number, row):
        """Take a row, and write it."""
        self.lines[number] = _line(row)
        with open(self.path, "a", encoding="utf-8", newline="") as file:
            file.write(self.lines[number])

    def close(self):
        """Put the rows in order; rows of what is no longer handed in come last."""
        self._write(self.all)

    @property
    def all(self):
        """The lines, in order."""
        return [*(self.lines[n] for n in sorted(self.lines)), *self.old.values()]

    def _write(self, lines):
        new = self.path.with_name(f"{self.path.name}.new")
        new.write_text(HEAD + "".join(lines), encoding="utf-8", newline="")
        os.replace(new, self.path)


def _lines(path):
    """The whole lines of a table that was begun."""
    head, *lines = path.read_text(encoding="utf-8", errors="replace").splitlines(keepends=True)
    if head != HEAD:
        raise TableError(f"{path} is no table of this program: its columns are others")
    return [line for line in lines if line.endswith("\n") and len(_cells(line)) == len(FIELDS)]


def _cells(line):
    return next(csv.reader([line]), [])


def rows(lines):
    """Lines of the table as {column: text}."""
    return [dict(zip(FIELDS, _cells(line))) for line in lines]


def summed(lines):
    """A table of rows by learner: the best verdict on each exercise, and how many are done."""
    best: dict[str, dict[str, str]] = {}
    for learner, exercise, verdict, *_ in map(_cells, lines):
        verdicts = best.setdefault(learner, {})
        verdicts[exercise] = min(verdict, verdicts.get(exercise, verdict), key=_rank)
    columns = [
        name for name in texts.names() if any(name in verdicts for verdicts in best.values())
    ]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["learner", *columns, "total"])
    for learner, verdicts in sorted(best.items()):
        row = [verdicts.get(name, "") for name in columns]
        writer.writerow([learner, *row, row.count("done")])
    return text.getvalue()


def _rank(verdict):
    """How near a verdict is to "done"."""
    return {"done": 0, "tried": 1, "open": 3}.get(verdict, 2)


def _key(line):
    """What tells a row from others."""
    cells = dict(zip(FIELDS, _cells(line)))
    return cells["learner"], cells["exercise"], cells["file"]
