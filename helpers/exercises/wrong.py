"""Kernels that a judge must refuse: `wrong.toml` of an exercise, a line for each.

    "what is wrong" = ["reason", ["old", "new"], ...]

reason: a pattern that the code of one of the verdict's reasons must match (Reason.code), mostly the
name of the check that is to refuse it ("values", "inputs", "out of bounds", "race", "counters",
"conflicts", "path_skips"), or what the judge calls the launch that is to fail ("65,700 rows").
Each pair replaces a piece of the solution. A text before the pairs is another body of the kernel;
if it ends in .cu, a file of the exercise's folder that stands in for the solution."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["Wrong", "kernels_of"]


@dataclass(frozen=True)
class Wrong:
    """One of them: the solution, or another body of it, with pieces replaced."""

    refused: str
    changes: Mapping[str, str] = field(default_factory=dict)
    body: str = ""
    instead: Path | None = None

    def text(self, solution: str, kernel: str) -> str:
        """The kernel's text, made of the solution's."""
        text = self.instead.read_text() if self.instead else solution
        if self.body:
            before, head, _ = re.split(rf"(\b{kernel}\s*\([^)]*\)\s*\{{)", text, maxsplit=1)
            text = f"{before}{head}\n{self.body}\n}}\n"
        for old, new in self.changes.items():
            if old not in text:
                raise LookupError(f"the solution has no {old!r} to be replaced")
            text = text.replace(old, new)
        return text


def kernels_of(folder: Path) -> dict[str, Wrong]:
    """{what is wrong: Wrong} of an exercise's folder."""
    path = folder / "wrong.toml"
    entries = tomllib.loads(path.read_text())
    return {what: _read(path, what, *given) for what, given in entries.items()}


def _read(path: Path, what: str, refused: object = "", *given: object) -> Wrong:
    body = given[0] if given and isinstance(given[0], str) else ""
    pairs = [pair for pair in given[bool(body) :] if isinstance(pair, list) and len(pair) == 2]
    if not isinstance(refused, str) or not given or len(pairs) < len(given) - bool(body):
        form = '["reason", ["old", "new"], ...] or ["reason", "another body"]'
        raise ValueError(f"{path.parent.name}/{path.name}: write {what!r} as {form}")
    changes = dict(pairs)
    if body.endswith(".cu"):
        return Wrong(refused, changes, instead=path.parent / body)
    return Wrong(refused, changes, body)
