"""What is recorded: CSV files of records, a row each, and tables of what they say."""

import csv
from collections.abc import Iterable
from dataclasses import astuple, fields
from html import escape
from pathlib import Path
from typing import TypeVar, get_type_hints

__all__ = ["load", "rows", "save", "table"]

Record = TypeVar("Record")  # a dataclass


def rows(path: Path) -> list[dict[str, str]]:
    """The rows of a file, {column: text} each, in its order."""
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def load(path: Path, kind: type[Record]) -> list[Record]:
    """The records of a file, a dataclass each, in its order; none if there is no file."""
    if not path.exists():
        return []
    types = get_type_hints(kind)
    return [kind(**{k: types[k](v) for k, v in row.items()}) for row in rows(path)]


def save(path: Path, kind: type, records: Iterable, digits: str) -> None:
    """Writes records; digits: of numbers with a fraction, as format() takes them."""
    path.parent.mkdir(exist_ok=True)
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(field.name for field in fields(kind))
        for record in records:
            values = astuple(record)
            writer.writerow(format(v, digits) if isinstance(v, float) else v for v in values)


def table(caption: str, cells: Iterable[Iterable[str]]) -> str:
    """Rows of text as HTML, the first of them as its head."""
    head, *rest = ("".join(f"<td>{escape(cell)}</td>" for cell in row) for row in cells)
    body = "".join(f"<tr>{row}</tr>" for row in rest)
    head, caption = head.replace("td>", "th>"), f"<caption>{escape(caption)}</caption>"
    return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
